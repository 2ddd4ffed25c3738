package transform

import "github.com/rlprep/rlprep/schema"

var _ = Add(Verb{
	Name:  "format",
	Title: "make text of other columns",
	Doc: `
Writes text made from a template.
` + templateDoc,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "where to: extra_info.interaction_kwargs.query", Required: true},
		{Name: "template", Type: "template", Doc: "the text: '{{question}} Think step by step.'", Required: true},
		afterArg, ifArg,
	},
	New: newFormat,
	Examples: []Example{
		{
			Title: "an id made of two columns",
			Args:  `{"path":"extra_info.id","template":"{{extra_info.split}}/{{extra_info.index}}"}`,
			In:    `{"extra_info":{"split":"train","index":7}}`,
			Out:   `{"extra_info":{"split":"train","index":7,"id":"train/7"}}`,
		},
		{
			Title: "braces",
			Args:  `{"path":"a","template":"\\boxed{{{gt}}} {{'{{x}}'}}","if":"replace"}`,
			In:    `{"gt":"72","a":"old"}`,
			Out:   `{"gt":"72","a":"\\boxed{72} {{x}}"}`,
		},
		{
			Title: "a null",
			Args:  `{"path":"q","template":"Question: {{question}}"}`,
			In:    `{"question":"1+1?"}` + "\n" + `{"question":null}`,
			Error: `null-question: question is null: q cannot be made of it`,
		},
		{
			Title: "a column that is no text",
			Args:  `{"path":"q","template":"{{prompt}}"}`,
			In:    `{"prompt":[{"role":"user","content":"1+1?"}]}`,
			Error: `column "prompt" is list<element: struct<role: string, content: string>>, expected string, number or bool`,
		},
	},
})

// Format writes text made from a template of columns.
type Format struct {
	Path     schema.Path
	Template string // with {{column}}
	After    schema.Path
	If       ConflictPolicy
}

// Plan returns one computed Put of text, or a constant one where the template has no column. It fails for a column that is
// missing or is no text, number or bool, and for a template that cannot be read.
func (f Format) Plan(in *schema.Schema) (*Plan, error) {
	if err := checkPut(in, f.Path); err != nil {
		return nil, err
	}
	t, err := parseTemplate(f.Template)
	if err != nil {
		return nil, err
	}
	put := Put{Path: f.Path, After: f.After, Type: schema.StringType, OnExisting: f.If}
	if text, ok := t.constant(); ok {
		v := schema.TextValue(text)
		put.Const = &v
		return &Plan{Puts: []Put{put}}, nil
	}
	plan := &Plan{Puts: []Put{put}}
	if plan.Reads, err = t.bind(in, nil); err != nil {
		return nil, err
	}
	plan.Bind = func() Func { return formatFunc(t, f.Path) }
	return plan, nil
}

func formatFunc(t *template, to schema.Path) Func {
	var buf []byte
	return func(in schema.Row, out *Emitter) error {
		var err error
		if buf, err = t.append(buf[:0], in, to); err != nil {
			return err
		}
		out.Set(0, schema.TextValue(view(buf)))
		out.Emit()
		return nil
	}
}

func newFormat(args Args) (RowStep, error) {
	r := newArgs("format", args)
	f := Format{Path: r.path("path", ""), Template: r.text("template", ""), After: r.path("after", ""), If: r.present(Refuse)}
	if _, err := parseTemplate(f.Template); err != nil {
		r.fail("%w", err)
	}
	return r.done(f)
}
