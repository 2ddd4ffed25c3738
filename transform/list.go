package transform

import "github.com/rlprep/rlprep/schema"

var _ = Add(Verb{
	Name:  "list",
	Title: "make a list of several columns",
	Doc: `
Writes a list whose elements are the values of other columns, in the order of 'from'; a null becomes a null element. The columns are of one
type, and stay where they are. A step explode makes a row of each element.
`,
	Args: []Arg{
		{Name: "from", Type: "path or list of paths", Doc: "the columns: [chosen, rejected]", Required: true},
		{Name: "to", Type: "path", Doc: "where to: response", Required: true},
		afterArg, ifArg,
	},
	New: newList,
	Examples: []Example{
		{
			Title: "both answers of a pair",
			Args:  `{"from":["chosen","rejected"],"to":"response"}`,
			In:    `{"chosen":"a","rejected":"b"}` + "\n" + `{"chosen":"c","rejected":null}`,
			Out:   `{"chosen":"a","rejected":"b","response":["a","b"]}` + "\n" + `{"chosen":"c","rejected":null,"response":["c",null]}`,
		},
		{
			Title: "columns of different types",
			Args:  `{"from":["a","b"],"to":"c"}`,
			In:    `{"a":1,"b":"x"}`,
			Error: `column "b" is string, and "a" int64: cast one of them`,
		},
	},
})

// List writes a list of the values of columns.
type List struct {
	From  []schema.Path
	To    schema.Path
	After schema.Path
	If    ConflictPolicy
}

// Plan returns one computed Put. It fails for a column that is missing, lies in a list, or has another type than the first.
func (l List) Plan(in *schema.Schema) (*Plan, error) {
	if err := checkPut(in, l.To); err != nil {
		return nil, err
	}
	typ, err := oneType(in, l.From, false)
	if err != nil {
		return nil, err
	}
	return &Plan{Reads: l.From, Puts: []Put{{Path: l.To, After: l.After, Type: schema.ListOf(typ), OnExisting: l.If}}, Bind: func() Func {
		elems := make([]schema.Value, len(l.From))
		return func(in schema.Row, out *Emitter) error {
			for i := range elems {
				elems[i] = in.At(i)
			}
			out.Set(0, schema.ListValue(elems))
			out.Emit()
			return nil
		}
	}}, nil
}

func newList(args Args) (RowStep, error) {
	r := newArgs("list", args)
	return r.done(List{From: r.paths("from"), To: r.path("to", ""), After: r.path("after", ""), If: r.present(Refuse)})
}
