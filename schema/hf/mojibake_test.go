package hf

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// asCP1252 is what a script sees that reads s as Windows-1252 (Latin-1 where that has no character).
func asCP1252(s string) string {
	var b strings.Builder
	for i := range len(s) {
		r := rune(s[i])
		for c, n := range cp1252 {
			if n == s[i] {
				r = c
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestMojibakeFound reads real words in the wrong encoding.
func TestMojibakeFound(t *testing.T) {
	for _, s := range []string{"é", "naïve", "’", "“quoted”", "–", "…", "£", "°", "×", "½", "Привет", "数学", "日本", "한국", "😀", "ελληνικά", "√2", "≤", "π r²"} {
		if utf8.RuneCountInString(s) == 1 && s == "π" {
			continue
		}
		if there, was := mojibake("x " + asCP1252(s) + " y"); there == "" || !strings.Contains(s, was) {
			t.Errorf("mojibake(%q) = %q, %q: not found", asCP1252(s), there, was)
		}
	}
}

// TestMojibakeMeant holds texts that are right as they are.
func TestMojibakeMeant(t *testing.T) {
	for _, s := range []string{"plain", "café", "«É»", "CAFÉ»", "ÄÖÜ", "Ærøskøbing", "Ñandú", "© 2024 ®", "5 € – 7 €", "l’été", "Ça va?", "PÃO", "À la carte…", "Ð°", "x½y", "±3 °C", "“É”", "ÂGÉ", "ÊTRE", "8×9÷3", "Š™"} {
		if there, was := mojibake(s); there != "" {
			t.Errorf("mojibake(%q) = %q, %q", s, there, was)
		}
	}
}

// TestScan compares the fast scan with one that looks at every byte.
func TestScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(0x1e, 0x22), rapid.ByteRange(0x7d, 0x82), rapid.ByteRange('a', 'z'), rapid.Byte()), 0, 40).Draw(t, "bytes")
		s := string(b)
		if got, want := scan(s), scanBytes(b); got != want {
			t.Fatalf("scan(%q) = %b, want %b", s, got, want)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	s := strings.Repeat("Natalia sold 48/2 = <<48/2=24>>24 clips in May.\nNatalia sold 48+24 = <<48+24=72>>72 clips altogether\n", 3)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if scan(s) != 0 {
			b.Fatal("found something")
		}
	}
}
