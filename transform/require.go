package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "require",
	Title: "reject rows in which a column is null",
	Doc: `
Rejects a row in which one of the columns is null (null-COLUMN). The path may be a struct, a list or a field, and may lead into a list:
endings[] rejects a row whose list has a null element. What is read for it is not changed, so it goes on undecoded. A column that a
file does not have is an error, unless 'absent' is ok.
`,
	Short: "path",
	Args: []Arg{
		{Name: "path", Type: "path or list of paths", Doc: "what may not be null: reward_model, endings[]", Required: true},
		{Name: "absent", Type: "string", Values: []string{"error", "ok"}, Doc: "if a file lacks the column; error when not given"},
	},
	New: newRequire,
	Examples: []Example{
		{
			Title: "a struct",
			Args:  `{"path":"reward_model"}`,
			In:    `{"reward_model":{"ground_truth":"1"}}` + "\n" + `{"reward_model":null}`,
			Error: `null-reward_model: reward_model is null`,
		},
		{
			Title: "the elements of a list",
			Args:  `{"path":["endings","endings[]"]}`,
			In:    `{"endings":["a","b"]}` + "\n" + `{"endings":["a",null]}`,
			Error: `null-endings: element 1 of endings is null`,
		},
		{
			Title: "a column that may be absent",
			Args:  `{"path":"reward_model","absent":"ok"}`,
			In:    `{"q":"a"}`,
			Out:   `{"q":"a"}`,
		},
	},
})

// Require rejects rows in which one of the Paths is null. A path that ends in [] stands for the elements of a list.
type Require struct {
	Paths    []schema.Path
	AbsentOK bool // a file may lack them
}

// Plan returns a Func that reads the paths. It fails for a path that does not exist.
func (q Require) Plan(in *schema.Schema) (*Plan, error) {
	plan := &Plan{}
	var elements []bool
	for _, p := range q.Paths {
		if _, ok := in.Lookup(p); !ok && q.AbsentOK {
			continue
		}
		if _, err := column(in, p); err != nil {
			return nil, err
		}
		elem := p.Base() == schema.Elem
		if elem {
			p = p.Parent()
		}
		if inList(p) {
			return nil, fmt.Errorf("path %q lies inside a list of lists", p)
		}
		plan.Reads, elements = append(plan.Reads, p), append(elements, elem)
	}
	if len(plan.Reads) == 0 {
		return plan, nil
	}
	reads := plan.Reads
	plan.Bind = func() Func {
		return func(in schema.Row, out *Emitter) error {
			for i, p := range reads {
				if err := notNull(p, in.At(i), elements[i]); err != nil {
					return err
				}
			}
			out.Emit()
			return nil
		}
	}
	return plan, nil
}

// notNull rejects a row whose value is null, or with elements one of its elements.
func notNull(path schema.Path, v schema.Value, elements bool) error {
	if !elements {
		if v.IsNull() {
			return Rejectf("null-"+string(path), path, v, "%s is null", path)
		}
		return nil
	}
	for i := range v.Len() {
		if v.Elem(i).IsNull() {
			return Rejectf("null-"+string(path), path, v, "element %d of %s is null", i, path)
		}
	}
	return nil
}

func newRequire(args Args) (RowStep, error) {
	r := newArgs("require", args)
	return r.done(Require{Paths: r.paths("path"), AbsentOK: r.word("absent", "error") == "ok"})
}
