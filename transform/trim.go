package transform

import (
	"strings"
	"unicode"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "trim",
	Title: "take blanks off both ends of a text",
	Doc: `
Takes the blanks off the beginning and the end of each text of a column: spaces, tabs, newlines and all else that Python's strip takes
for a blank. Nulls stay. The path may lead into lists: choices[]. To keep the old text, copy it first.
`,
	Short: "path",
	Args:  []Arg{{Name: "path", Type: "path", Doc: "the texts: question, choices[]", Required: true}},
	New:   newTrim,
	Examples: []Example{
		{
			Title: "blanks around a question",
			Args:  `{"path":"q"}`,
			In:    `{"q":" \n1 + 1?\t"}` + "\n" + `{"q":"\u00a0\u001f"}` + "\n" + `{"q":null}`,
			Out:   `{"q":"1 + 1?"}` + "\n" + `{"q":""}` + "\n" + `{"q":null}`,
		},
		{
			Title: "in a list",
			Args:  `{"path":"choices[]"}`,
			In:    `{"choices":[" a","b "]}`,
			Out:   `{"choices":["a","b"]}`,
		},
	},
})

// Trim takes blanks off both ends of the texts at Path.
type Trim struct{ Path schema.Path }

// Plan returns a Put that maps the texts in place.
func (s Trim) Plan(in *schema.Schema) (*Plan, error) {
	return mapTexts(in, s.Path, func(dst []byte, text string) []byte { return append(dst, Strip(text)...) })
}

// Strip returns text without what Python's str.strip takes off both ends: Unicode's white space, and U+001C to U+001F
// (CPython Objects/unicodetype_db.h, _PyUnicode_IsWhitespace).
func Strip(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f })
}

func newTrim(args Args) (RowStep, error) {
	r := newArgs("trim", args)
	return r.done(Trim{Path: r.path("path", "")})
}
