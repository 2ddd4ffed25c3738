package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "rename",
	Title: "give a column another name, or another place",
	Doc: `
Renames a column, or a field of a struct, also of one inside a list. Nothing is decoded. Both names are whole paths. Where
both lie in the same struct the column keeps its place; elsewhere it becomes the last field.
`,
	Args: []Arg{
		{Name: "from", Type: "path", Doc: "the name it has: question", Required: true},
		{Name: "to", Type: "path", Doc: "the name it gets: problem", Required: true},
		ifArg,
	},
	New: newRename,
	Examples: []Example{
		{
			Title: "a column keeps its place",
			Args:  `{"from":"question","to":"problem"}`,
			In:    `{"id":1,"question":"1+1?","answer":"2"}`,
			Out:   `{"id":1,"problem":"1+1?","answer":"2"}`,
		},
		{
			Title: "into a struct",
			Args:  `{"from":"id","to":"extra_info.index"}`,
			In:    `{"id":7,"prompt":"p","extra_info":{"split":"train"}}`,
			Out:   `{"prompt":"p","extra_info":{"split":"train","index":7}}`,
		},
		{
			Title: "a field of a struct",
			Args:  `{"from":"extra_info.idx","to":"extra_info.index"}`,
			In:    `{"extra_info":{"idx":7,"split":"train"}}`,
			Out:   `{"extra_info":{"index":7,"split":"train"}}`,
		},
		{
			Title: "a field of the structs in a list",
			Args:  `{"from":"prompt[].text","to":"prompt[].content"}`,
			In:    `{"prompt":[{"role":"user","text":"1+1?"}]}`,
			Out:   `{"prompt":[{"role":"user","content":"1+1?"}]}`,
		},
	},
})

// Rename moves the column at From to To, undecoded.
type Rename struct {
	From, To schema.Path
	If       ConflictPolicy
}

// Plan returns a copy of From beside it and its drop, so the column keeps its place. It fails where there is no From, or
// where nothing would be left of the struct that it is taken from.
func (r Rename) Plan(in *schema.Schema) (*Plan, error) {
	if r.From == r.To {
		return nil, fmt.Errorf("column %q has this name already", r.From)
	}
	if r.From.Under(r.To) {
		return nil, fmt.Errorf("column %q cannot take the place of %q, which it is a part of", r.From, r.To)
	}
	c := Copy{From: r.From, To: r.To, If: r.If}
	if r.From.Parent() == r.To.Parent() {
		c.After = r.From
	}
	plan, err := c.Plan(in)
	if err != nil {
		return nil, err
	}
	if parent := r.From.Parent(); parent != "" && !r.To.Under(parent) {
		if err := leftOver("", in.Fields, []schema.Path{r.From}); err != nil {
			return nil, err
		}
	}
	plan.Drops = []schema.Path{r.From}
	return plan, nil
}

func newRename(args Args) (RowStep, error) {
	r := newArgs("rename", args)
	return r.done(Rename{From: r.path("from", ""), To: r.path("to", ""), If: r.present(Refuse)})
}
