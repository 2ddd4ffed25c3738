package transform

import (
	"errors"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "coalesce",
	Title: "take the first of several columns that is not null",
	Doc: `
Writes to another path the first of the columns of 'from' that is not null in a row, null where all are. With 'skip: empty' a text
without characters counts as null, as in Python's 'a or b'. The columns are of one type; one of them may be the path itself, with
'if: replace'. A step 'set' with 'if: fill' writes a constant where all are null.
`,
	Args: []Arg{
		{Name: "from", Type: "path or list of paths", Doc: "the columns: [solution, answer]", Required: true},
		{Name: "to", Type: "path", Doc: "where to: reward_model.ground_truth", Required: true},
		{Name: "skip", Type: "string", Values: []string{"null", "empty"}, Doc: "what is passed over: null (when not given), or empty texts too"},
		afterArg, ifArg,
	},
	New: newCoalesce,
	Examples: []Example{
		{
			Title: "the solution, or else the answer",
			Args:  `{"from":["solution","answer"],"to":"gt"}`,
			In:    `{"solution":"1","answer":"2"}` + "\n" + `{"solution":null,"answer":"2"}` + "\n" + `{"solution":null,"answer":null}`,
			Out:   `{"solution":"1","answer":"2","gt":"1"}` + "\n" + `{"solution":null,"answer":"2","gt":"2"}` + "\n" + `{"solution":null,"answer":null,"gt":null}`,
		},
		{
			Title: "an empty text counts as null",
			Args:  `{"from":["a","b"],"to":"a","skip":"empty","if":"replace"}`,
			In:    `{"a":"","b":"2"}` + "\n" + `{"a":"1","b":"2"}` + "\n" + `{"a":null,"b":""}`,
			Out:   `{"a":"2","b":"2"}` + "\n" + `{"a":"1","b":"2"}` + "\n" + `{"a":"","b":""}`,
		},
		{
			Title: "columns of two types",
			Args:  `{"from":["a","b"],"to":"c"}`,
			In:    `{"a":"1","b":2}`,
			Error: `column "b" is int64, and "a" string: cast one of them`,
		},
	},
})

// Coalesce writes the first of some columns that is not null.
type Coalesce struct {
	From  []schema.Path
	To    schema.Path
	Empty bool // an empty text is passed over too, unless the last column has it
	After schema.Path
	If    ConflictPolicy
}

// Plan returns one computed Put. It fails where a column is missing, lies in a list or is of another type than the first.
func (c Coalesce) Plan(in *schema.Schema) (*Plan, error) {
	if len(c.From) == 0 {
		return nil, errors.New("no column to take")
	}
	if err := checkPut(in, c.To); err != nil {
		return nil, err
	}
	typ, err := oneType(in, c.From, true)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Reads: c.From, Puts: []Put{{Path: c.To, After: c.After, Type: typ, OnExisting: c.If}}, Bind: func() Func { return c.row }}
	if typ.Kind == schema.Text {
		plan.Bulk = func() Bulk { return c.bulk }
	}
	return plan, nil
}

func (c Coalesce) row(in schema.Row, out *Emitter) error {
	found := schema.NullValue
	for i := range c.From {
		v := in.At(i)
		if v.IsNull() || v.IsMissing() {
			continue
		}
		if found = v; !c.Empty || v.Kind() != schema.Text || v.Text() != "" {
			break
		}
	}
	out.Set(0, found)
	out.Emit()
	return nil
}

// bulk takes rows without nulls.
func (c Coalesce) bulk(reads []schema.Texts, rows int, out []*schema.TextColumn) bool {
	for row := range rows {
		text := reads[0].At(row)
		for i := 1; c.Empty && text == "" && i < len(reads); i++ {
			text = reads[i].At(row)
		}
		out[0].Bytes = append(out[0].Bytes, text...)
		out[0].End()
	}
	return true
}

func newCoalesce(args Args) (RowStep, error) {
	r := newArgs("coalesce", args)
	return r.done(Coalesce{From: r.paths("from"), To: r.path("to", ""), After: r.path("after", ""), If: r.present(Refuse), Empty: r.word("skip", "null") == "empty"})
}
