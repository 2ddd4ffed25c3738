package hf

import (
	"strings"
	"unicode/utf8"
)

// cp1252 maps the characters that Windows-1252 has where Latin-1 has controls to their bytes.
var cp1252 = map[rune]byte{'€': 0x80, '‚': 0x82, 'ƒ': 0x83, '„': 0x84, '…': 0x85, '†': 0x86, '‡': 0x87, 'ˆ': 0x88, '‰': 0x89, 'Š': 0x8a, '‹': 0x8b,
	'Œ': 0x8c, 'Ž': 0x8e, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '•': 0x95, '–': 0x96, '—': 0x97, '˜': 0x98, '™': 0x99, 'š': 0x9a, '›': 0x9b,
	'œ': 0x9c, 'ž': 0x9e, 'Ÿ': 0x9f}

// byteOf returns the byte that r stands for when UTF-8 was read as Latin-1 or Windows-1252; 0 for ASCII and for none.
func byteOf(r rune) byte {
	if r >= 0x80 && r <= 0xff {
		return byte(r)
	}
	return cp1252[r]
}

// mojibake finds text in UTF-8 that was read as Latin-1 or Windows-1252: characters whose bytes are those of one UTF-8 character.
// It returns the text found and what it was. A pair of letters may well be meant ("É»"), so pairs count only where they
// begin with Â or Ã and what they were is a Latin letter or sign, or where two of one script follow each other.
func mojibake(s string) (there, was string) {
	for i := 0; ; {
		skip := strings.IndexByte(s[i:], 0xc3) // all that leads is there: U+00C2 to U+00F4
		if skip < 0 {
			return "", ""
		}
		i += skip
		r, n := utf8.DecodeRuneInString(s[i:])
		if !leads(byteOf(r)) {
			i += n
			continue
		}
		there, was = decodeAt(s[i:])
		if there == "" {
			i += n
			continue
		}
		if w, _ := utf8.DecodeRuneInString(was); convincing(r, w, there, s[i+len(there):]) {
			return there, was
		}
		i += len(there)
	}
}

func leads(b byte) bool { return b >= 0xc2 && b <= 0xf4 }

// decodeAt reads the character of UTF-8 whose bytes the characters at the beginning of s stand for; "" where they are none.
func decodeAt(s string) (there, was string) {
	var b [utf8.UTFMax]byte
	at := 0
	for n := range b {
		r, size := utf8.DecodeRuneInString(s[at:])
		if b[n] = byteOf(r); b[n] < 0x80 {
			return "", ""
		}
		at += size
		if utf8.FullRune(b[:n+1]) {
			if r, size := utf8.DecodeRune(b[:n+1]); r == utf8.RuneError || size != n+1 {
				return "", ""
			}
			return s[:at], string(b[:n+1])
		}
	}
	return "", ""
}

// convincing reports whether what begins with first and was read as w can hardly be meant as it stands.
func convincing(first, w rune, there, rest string) bool {
	if utf8.RuneCountInString(there) > 2 {
		return true // three characters of one UTF-8 sequence do not come about by chance
	}
	if first == 'Â' || first == 'Ã' {
		return w != '»' && w != '«' && w != '®' || again(rest)
	}
	return again(rest)
}

// again reports whether another such character follows at once.
func again(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	if !leads(byteOf(r)) {
		return false
	}
	there, _ := decodeAt(rest)
	return there != ""
}
