package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "copy",
	Title: "write a column a second time, under another path",
	Doc: `
Copies a column, or a field of a struct, to another path. Nothing is decoded: where the types of the two places allow it,
the compressed pages are moved as they are.
`,
	Args: []Arg{
		{Name: "from", Type: "path or list of paths", Doc: "what to copy: question; of several, the first in the file", Required: true},
		{Name: "to", Type: "path", Doc: "where to: extra_info.question", Required: true},
		afterArg, ifArg,
	},
	New: newCopy,
	Examples: []Example{
		{
			Title: "keep the raw question beside the prompt",
			Args:  `{"from":"question","to":"extra_info.question"}`,
			In:    `{"question":"1+1?","extra_info":{"split":"train"}}` + "\n" + `{"question":null,"extra_info":{"split":"train"}}`,
			Out:   `{"question":"1+1?","extra_info":{"split":"train","question":"1+1?"}}` + "\n" + `{"question":null,"extra_info":{"split":"train","question":null}}`,
		},
		{
			Title: "a whole struct",
			Args:  `{"from":"reward_model","to":"extra_info.reward","after":"extra_info.split"}`,
			In:    `{"reward_model":{"style":"rule","ground_truth":"2"},"extra_info":{"split":"train","index":0}}`,
			Out:   `{"reward_model":{"style":"rule","ground_truth":"2"},"extra_info":{"split":"train","reward":{"style":"rule","ground_truth":"2"},"index":0}}`,
		},
		{
			Title: "the first one that exists",
			Args:  `{"from":["reward_model.ground_truth","golden_answers"],"to":"gt"}`,
			In:    `{"golden_answers":["a","b"]}`,
			Out:   `{"golden_answers":["a","b"],"gt":["a","b"]}`,
		},
		{
			Title: "no such column",
			Args:  `{"from":"quesiton","to":"q"}`,
			In:    `{"question":"1+1?","answer":"2"}`,
			Error: `no column "quesiton" (columns: question, answer); did you mean "question"?`,
		},
	},
})

// Copy writes the column at From to To as well, undecoded.
type Copy struct {
	From, To schema.Path
	Else     []schema.Path // what is copied in its place, the first one that exists, where there is no From
	After    schema.Path
	If       ConflictPolicy
}

// Plan returns one Put that copies. It fails where there is no From, or where To lies in it.
func (c Copy) Plan(in *schema.Schema) (*Plan, error) {
	f, err := column(in, c.From)
	for i := 0; err != nil && i < len(c.Else); i++ {
		if other, ok := in.Lookup(c.Else[i]); ok {
			f, c.From, err = other, c.Else[i], nil
		}
	}
	if err != nil {
		return nil, err
	}
	if inList(c.From) && c.From.Parent() != c.To.Parent() { // a new name beside the old one moves nothing
		return nil, fmt.Errorf("path %q lies inside a list: a step copies whole columns and fields of structs", c.From)
	}
	if c.To.Under(c.From) {
		return nil, fmt.Errorf("column %q cannot be copied into itself (%q)", c.From, c.To)
	}
	if c.From.Parent() != c.To.Parent() {
		if err := checkPut(in, c.To); err != nil {
			return nil, err
		}
	}
	return &Plan{Puts: []Put{{Path: c.To, After: c.After, Type: f.Type, OnExisting: c.If, Copy: c.From}}}, nil
}

func newCopy(args Args) (RowStep, error) {
	r := newArgs("copy", args)
	from := r.paths("from")
	if len(from) == 0 {
		r.failAt("from", "argument from names no column")
		from = []schema.Path{""}
	}
	return r.done(Copy{From: from[0], Else: from[1:], To: r.path("to", ""), After: r.path("after", ""), If: r.present(Refuse)})
}
