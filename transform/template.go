package transform

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/rlprep/rlprep/schema"
)

// A template is text with {{path}} in it, cut into parts once, so that a row only appends.
type template struct{ parts []part }

// A part is literal text, or, where path is not "", the value of a column; read is its place in Plan.Reads.
type part struct {
	text string
	path schema.Path
	read int
}

// templateDoc is what the docs of prompt and format say about templates.
const templateDoc = `
In a template {{question}} stands for the value of a column, {{extra_info.question}} for that of a field; numbers and
booleans are written as JSON has them. The innermost two braces count, so \boxed{{{answer}}} gives \boxed{72}. Two literal
braces are written {{'{{'}}. A row whose column is null is rejected with the reason null-COLUMN: a prompt that says "None"
would be trained on in silence.
`

// parseTemplate cuts text into parts. It fails for braces that are not closed and for a path that cannot be read.
func parseTemplate(text string) (*template, error) {
	t := &template{}
	var literal strings.Builder
	rest := text
	for {
		open := strings.Index(rest, "{{")
		if open < 0 {
			break
		}
		for open+2 < len(rest) && rest[open+2] == '{' {
			open++
		}
		literal.WriteString(rest[:open])
		inner, after, err := placeholder(rest[open+2:])
		if err != nil {
			return nil, fmt.Errorf("template %q: %w", schema.Cut(text, 60), err)
		}
		rest = after
		if quoted, ok := literalBraces(inner); ok {
			literal.WriteString(quoted)
			continue
		}
		path, err := schema.ParsePath(inner)
		if err != nil {
			return nil, fmt.Errorf("template %q: %w", schema.Cut(text, 60), err)
		}
		t.addText(literal.String())
		literal.Reset()
		t.parts = append(t.parts, part{path: path})
	}
	literal.WriteString(rest)
	t.addText(literal.String())
	return t, nil
}

func (t *template) addText(s string) {
	if s != "" {
		t.parts = append(t.parts, part{text: s})
	}
}

// placeholder cuts s, which follows "{{", at its "}}"; braces within quotes do not count.
func placeholder(s string) (inner, rest string, err error) {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(s[i:], "}}"):
			return strings.TrimSpace(s[:i]), s[i+2:], nil
		}
	}
	return "", "", fmt.Errorf("no }} after {{%s", schema.Cut(s, 20))
}

// literalBraces reports whether inner is text in single quotes, and the text.
func literalBraces(inner string) (string, bool) {
	if len(inner) >= 2 && inner[0] == '\'' && inner[len(inner)-1] == '\'' {
		return inner[1 : len(inner)-1], true
	}
	return "", false
}

// bind checks the columns of t against in, adds them to reads where they do not exist yet, and returns reads.
func (t *template) bind(in *schema.Schema, reads []schema.Path) ([]schema.Path, error) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.path == "" {
			continue
		}
		f, err := column(in, p.path)
		if err != nil {
			return nil, err
		}
		switch f.Type.Kind {
		case schema.Text, schema.Int, schema.Float, schema.Bool:
		default:
			return nil, wrongType(p.path, f.Type, "string, number or bool")
		}
		if inList(p.path) {
			return nil, wrongType(p.path, f.Type, "string, number or bool")
		}
		if p.read = slices.Index(reads, p.path); p.read < 0 {
			p.read = len(reads)
			reads = append(reads, p.path)
		}
	}
	return reads, nil
}

// constant reports whether t has no column, and its text.
func (t *template) constant() (string, bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].path == "":
		return t.parts[0].text, true
	}
	return "", false
}

// sole returns the read that is all of t, or -1: its text needs no copy.
func (t *template) sole() int {
	if len(t.parts) == 1 && t.parts[0].path != "" {
		return t.parts[0].read
	}
	return -1
}

// append appends the text of t for a row to b. A null rejects the row; to is the column that is made, for the message.
func (t *template) append(b []byte, in schema.Row, to schema.Path) ([]byte, error) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.path == "" {
			b = append(b, p.text...)
			continue
		}
		v := in.At(p.read)
		switch v.Kind() {
		case schema.Text:
			b = append(b, v.Text()...)
		case schema.Int, schema.Float, schema.Bool:
			b = v.AppendJSON(b)
		default:
			return b, nullColumn(p.path, to)
		}
	}
	return b, nil
}

// appendTexts appends the text of t for a row of columns of text to b.
func (t *template) appendTexts(b []byte, reads []schema.Texts, row int) []byte {
	for i := range t.parts {
		if p := &t.parts[i]; p.path == "" {
			b = append(b, p.text...)
		} else {
			b = append(b, reads[p.read].At(row)...)
		}
	}
	return b
}

// nullColumn rejects a row whose column at path is null, where to is made of it.
func nullColumn(path, to schema.Path) error {
	return Rejectf("null-"+string(path), path, schema.NullValue, "%s is null: %s cannot be made of it", path, to)
}

// view returns b as a string without a copy. Who calls it keeps b unchanged as long as the string is in use: here, until
// the next call of a Func, as Func's contract has it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
