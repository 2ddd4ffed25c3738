package transform

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "replace",
	Title: "replace what a text has in it",
	Doc: `
Replaces in each text of a column: every match of 'pattern' (Go's RE2 syntax), or every 'text' as it is. What comes in its place is
'with', nothing when not given; with a pattern, $1 or ${name} in it is what a group matched, and $$ is a dollar sign. Nulls stay.
The path may lead into lists: choices[], messages[].content. To keep the old text, copy it first.

Python's re.sub differs in what \s, \w, \d and \b mean outside ASCII (here they are ASCII; write \p{Z}, \p{L}, \p{N}), and writes \1 for $1.
`,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "the texts: question, choices[]", Required: true},
		{Name: "pattern", Type: "regexp", Doc: "what to replace: '\\[.*?\\]'"},
		{Name: "text", Type: "string", Doc: "what to replace, as it is"},
		{Name: "with", Type: "string", Doc: "what comes in its place"},
	},
	New: newReplace,
	Examples: []Example{
		{
			Title: "marks of the source",
			Args:  `{"path":"ctx","pattern":"\\[.*?\\]"}`,
			In:    `{"ctx":"[header] A man [step] sits."}` + "\n" + `{"ctx":null}`,
			Out:   `{"ctx":" A man  sits."}` + "\n" + `{"ctx":null}`,
		},
		{
			Title: "in a list, as it is",
			Args:  `{"path":"choices[]","text":" [title]","with":". "}`,
			In:    `{"choices":["He stops [title] Then","He runs"]}`,
			Out:   `{"choices":["He stops.  Then","He runs"]}`,
		},
		{
			Title: "a group",
			Args:  `{"path":"a","pattern":"([0-9]+) dollars","with":"$$${1}"}`,
			In:    `{"a":"5 dollars or 6 dollars"}`,
			Out:   `{"a":"$5 or $6"}`,
		},
		{
			Title: "nothing to look for",
			Args:  `{"path":"a","with":"x"}`,
			In:    `{"a":"b"}`,
			Error: `argument pattern or text is missing`,
		},
		{
			Title: "no text",
			Args:  `{"path":"a","text":"x"}`,
			In:    `{"a":[1]}`,
			Error: `column "a" is list<element: int64>, expected string: its elements are a[]`,
		},
	},
})

// ReplaceText replaces parts of the texts at Path.
type ReplaceText struct {
	Path    schema.Path
	Pattern *regexp.Regexp // nil: Text
	Text    string         // not empty, where there is no Pattern
	With    string         // with a Pattern, a template as of regexp.Expand
}

// Plan returns a Put that maps the texts in place.
func (s ReplaceText) Plan(in *schema.Schema) (*Plan, error) {
	if s.Pattern != nil {
		return mapTexts(in, s.Path, s.appendPattern)
	}
	return mapTexts(in, s.Path, s.appendText)
}

func (s ReplaceText) appendText(dst []byte, text string) []byte {
	for {
		before, after, found := strings.Cut(text, s.Text)
		dst = append(dst, before...)
		if !found {
			return dst
		}
		dst, text = append(dst, s.With...), after
	}
}

// appendPattern allocates where there is a match alone.
func (s ReplaceText) appendPattern(dst []byte, text string) []byte {
	at := 0
	for _, m := range s.Pattern.FindAllStringSubmatchIndex(text, -1) {
		dst = append(dst, text[at:m[0]]...)
		dst = s.Pattern.ExpandString(dst, s.With, text, m)
		at = m[1]
	}
	return append(dst, text[at:]...)
}

// mapTexts plans that each text at path becomes what each appends for it; nulls stay.
func mapTexts(in *schema.Schema, path schema.Path, each func(dst []byte, text string) []byte) (*Plan, error) {
	f, err := column(in, path)
	switch {
	case err != nil:
		return nil, err
	case f.Type.Kind == schema.List && f.Type.Fields[0].Type.Kind != schema.Struct:
		return nil, fmt.Errorf("column %q is %s, expected string: its elements are %s", path, f.Type, path.Elem())
	case f.Type.Kind == schema.Null: // nothing to map
		return &Plan{}, nil
	case f.Type.Kind != schema.Text:
		return nil, fmt.Errorf("column %q is %s, expected string", path, f.Type)
	}
	return &Plan{Puts: []Put{{Path: path, Copy: path, OnExisting: Replace, MapText: each}}}, nil
}

func newReplace(args Args) (RowStep, error) {
	r := newArgs("replace", args)
	s := ReplaceText{Path: r.path("path", ""), Text: r.text("text", ""), With: r.text("with", "")}
	pattern := r.text("pattern", "")
	switch {
	case pattern == "" && s.Text == "":
		r.failAt("pattern", "argument pattern or text is missing")
	case pattern != "" && s.Text != "":
		r.failAt("pattern", "pattern and text exclude each other")
	case pattern != "":
		var err error
		if s.Pattern, err = regexp.Compile(pattern); err != nil {
			r.failAt("pattern", "argument pattern: %w", err)
		}
	}
	return r.done(s)
}
