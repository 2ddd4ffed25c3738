package transform

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "case",
	Title: "change the case of a text's letters",
	Doc: `
Writes each text of a column in lower case, in upper case, or capitalized: the first letter large and all others small. It is what
Python's lower, upper and capitalize do, for all of Unicode: ß becomes SS, or Ss at the beginning, and Σ at the end of a word becomes ς.
Nulls stay. The path may lead into lists: choices[]. To keep the old text, copy it first.
`,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "the texts: agent_name, choices[]", Required: true},
		{Name: "to", Type: "string", Values: []string{"lower", "upper", "capitalize"}, Doc: "lower, upper or capitalize", Required: true},
	},
	New: newCase,
	Examples: []Example{
		{
			Title: "as a sentence begins",
			Args:  `{"path":"ctx_b","to":"capitalize"}`,
			In:    `{"ctx_b":"then HE runs"}` + "\n" + `{"ctx_b":"ßO ΟΔΟΣ"}` + "\n" + `{"ctx_b":null}`,
			Out:   `{"ctx_b":"Then he runs"}` + "\n" + `{"ctx_b":"Sso οδος"}` + "\n" + `{"ctx_b":null}`,
		},
		{
			Title: "in a list",
			Args:  `{"path":"roles[]","to":"lower"}`,
			In:    `{"roles":["User","ASSISTANT"]}`,
			Out:   `{"roles":["user","assistant"]}`,
		},
		{
			Title: "upper case",
			Args:  `{"path":"a","to":"upper"}`,
			In:    `{"a":"straße ŉ"}`,
			Out:   `{"a":"STRASSE ʼN"}`,
		},
		{
			Title: "an unknown case",
			Args:  `{"path":"a","to":"title"}`,
			In:    `{"a":"b"}`,
			Error: `unknown case "title" (lower, upper, capitalize)`,
		},
	},
})

// Case writes the texts at Path as Change appends them.
type Case struct {
	Path   schema.Path
	Change func(dst []byte, text string) []byte // Lower, Upper or Capitalize
}

// Plan returns a Put that maps the texts in place.
func (c Case) Plan(in *schema.Schema) (*Plan, error) { return mapTexts(in, c.Path, c.Change) }

// Lower appends text as Python's str.lower writes it (CPython Objects/unicodeobject.c, do_lower).
func Lower(dst []byte, text string) []byte { return appendLower(dst, text, 0) }

// Upper appends text as Python's str.upper writes it.
func Upper(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			return append(dst, cases.Upper(language.Und).String(text[i:])...) // no mapping depends on the text before
		}
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// Capitalize appends text as Python's str.capitalize writes it: the first character in title case, the others in lower case
// (CPython Objects/unicodeobject.c, do_capitalize).
func Capitalize(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	first, size := utf8.DecodeRuneInString(text)
	if first < utf8.RuneSelf {
		dst = append(dst, byte(unicode.ToUpper(first)))
	} else {
		dst = append(dst, titled(text[:size])...)
	}
	return appendLower(dst, text, size)
}

// titled is a character in title case. The title case of Georgian letters is themselves.
func titled(char string) string { return cases.Title(language.Und, cases.NoLower).String(char) }

// appendLower appends text from a byte on. The text on both sides of a Σ decides whether it ends a word.
func appendLower(dst []byte, text string, from int) []byte {
	for i := from; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == 'Σ' && endsWord(text[:i], text[i+size:]):
			dst = append(dst, "ς"...)
		case r == 'İ':
			dst = append(dst, "i̇"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += size
	}
	return dst
}

// endsWord reports whether a Σ between before and after ends a word: a letter with case comes before it and none after it, whatever
// marks there are between (Unicode, SpecialCasing.txt, Final_Sigma).
func endsWord(before, after string) bool {
	letter := false
	for len(before) > 0 {
		r, size := utf8.DecodeLastRuneInString(before)
		if !ignoredInCase(r) {
			letter = hasCase(r)
			break
		}
		before = before[:len(before)-size]
	}
	if !letter {
		return false
	}
	for _, r := range after {
		if !ignoredInCase(r) {
			return !hasCase(r)
		}
	}
	return true
}

// hasCase is Unicode's property Cased.
func hasCase(r rune) bool {
	return unicode.In(r, unicode.Ll, unicode.Lu, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignoredInCase is Unicode's property Case_Ignorable.
func ignoredInCase(r rune) bool {
	switch r {
	case '\'', '.', ':', '\u00b7', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027', '\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

func newCase(args Args) (RowStep, error) {
	r := newArgs("case", args)
	c := Case{Path: r.path("path", "")}
	switch to := r.text("to", ""); to {
	case "lower":
		c.Change = Lower
	case "upper":
		c.Change = Upper
	case "capitalize":
		c.Change = Capitalize
	default:
		r.failAt("to", "unknown case %q (lower, upper, capitalize)", to)
	}
	return r.done(c)
}
