package transform

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
)

func TestParseTemplate(t *testing.T) {
	for _, c := range []struct{ in, parts, err string }{
		{in: "", parts: ""},
		{in: "no column", parts: "'no column'"},
		{in: "{{q}}", parts: "q"},
		{in: "{{ q }} is", parts: "q ' is'"},
		{in: "a {{q}} b {{extra_info.index}}", parts: "'a ' q ' b ' extra_info.index"},
		{in: `{{"a b"}}`, parts: `"a b"`},
		{in: `{{"x}}y"}}`, parts: `x}}y`},
		{in: `\boxed{{{q}}}`, parts: `'\boxed{' q '}'`},
		{in: "{{{{q}}}}", parts: "'{{' q '}}'"},
		{in: "{ {q} }", parts: "'{ {q} }'"},
		{in: "}}", parts: "'}}'"},
		{in: "{{'{{'}}name{{'}}'}}", parts: "'{{name}}'"},
		{in: "{{''}}", parts: ""},
		{in: "{{'it'}}s {{q}}", parts: "'its ' q"},
		{in: "{{q", err: "no }} after {{q"},
		{in: "{{", err: "no }} after {{"},
		{in: `{{"q}}`, err: `no }} after {{"q}}`},
		{in: "{{}}", err: "empty name"},
		{in: "{{a b}}", err: "must be in double quotes"},
		{in: "{{a..b}}", err: "empty name"},
	} {
		tpl, err := parseTemplate(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.in, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		var parts []string
		for _, p := range tpl.parts {
			if p.path != "" {
				parts = append(parts, string(p.path))
			} else {
				parts = append(parts, "'"+p.text+"'")
			}
		}
		if got := strings.Join(parts, " "); got != c.parts {
			t.Errorf("%s: %s, want %s", c.in, got, c.parts)
		}
	}
}

// FuzzParseTemplate: no text panics, and one without braces is itself.
func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"{{q}} a", `\boxed{{{q}}}`, "{{'{{'}}", `{{"a\"b"}}`, "{{{", "}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tpl, err := parseTemplate(s)
		if strings.Contains(s, "{{") {
			if err == nil {
				for _, p := range tpl.parts {
					if p.path != "" && p.path.Steps() == nil {
						t.Errorf("%q: path %q is not canonical", s, p.path)
					}
				}
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if text, ok := tpl.constant(); !ok || text != s {
			t.Errorf("%q became %q", s, text)
		}
	})
}

func TestTemplateValues(t *testing.T) {
	in := &schema.Schema{Fields: []schema.Field{
		schema.NewField("i", schema.Int64Type), schema.NewField("f", schema.FloatType), schema.NewField("b", schema.BoolType),
		schema.NewField("list", schema.ListOf(schema.StringType)), schema.NewField("raw", schema.Type{Kind: schema.Binary}),
		schema.NewField("when", schema.Type{Kind: schema.Time, Name: "timestamp[us]"}),
	}}
	tpl, err := parseTemplate("{{i}} {{f}} {{b}} {{i}}")
	if err != nil {
		t.Fatal(err)
	}
	reads, err := tpl.bind(in, nil)
	if err != nil || len(reads) != 3 {
		t.Fatalf("reads %v, %v", reads, err)
	}
	b, err := tpl.append(nil, row{schema.IntValue(-7), schema.FloatValue(72), schema.BoolValue(true)}, "x")
	if err != nil || string(b) != "-7 72.0 true -7" {
		t.Errorf("%q, %v", b, err)
	}
	for text, want := range map[string]string{
		"{{list}}":   `column "list" is list<element: string>, expected string, number or bool`,
		"{{list[]}}": `column "list[]" is many values a row (string in a list), expected one string, number or bool`,
		"{{raw}}":    `column "raw" is binary, expected string, number or bool`,
		"{{when}}":   `column "when" is timestamp[us], expected string, number or bool`,
		"{{none}}":   `no column "none" (columns: i, f, b, list, raw, when)`,
	} {
		tpl, err := parseTemplate(text)
		if err == nil {
			_, err = tpl.bind(in, nil)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

type row []schema.Value

func (r row) At(i int) schema.Value { return r[i] }
func (r row) Number() int64         { return 0 }
func (r row) Pos() schema.Pos       { return schema.FilePos("in.jsonl") }
