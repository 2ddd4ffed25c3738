package transform

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
)

var _ = Add(Verb{
	Name:  "json",
	Title: "read JSON out of a text column, or write a column as JSON",
	Doc: `
With 'parse', the text of a column is read as JSON of that type, strictly: a key that the type does not have, or a value of another
kind, rejects the row (bad-json), so nothing is lost in silence; a key that is missing is null. Without, the column, of whatever type,
is written as compact JSON text, fields in their order, as json.dumps(x, ensure_ascii=False, separators=(",", ":")) writes it. A
null stays null.

Text is what makes values of many shapes fit one column (tool arguments, metadata): neither Parquet nor HF datasets takes a struct whose
fields differ from row to row.
`,
	Args: []Arg{
		{Name: "from", Type: "path", Doc: "the column: extra_info", Required: true},
		{Name: "to", Type: "path", Doc: "where to; in place when not given"},
		{Name: "parse", Type: "type", Doc: "the type of what the text holds: struct<index: int64, split: string>"},
		afterArg,
	},
	New: newJSON,
	Examples: []Example{
		{
			Title: "extra_info that a tool wrote as text",
			Args:  `{"from":"extra_info","parse":"struct<index: int64, split: string>"}`,
			In:    `{"extra_info":"{\"index\": 3, \"split\": \"train\"}"}`,
			Out:   `{"extra_info":{"index":3,"split":"train"}}`,
		},
		{
			Title: "tool arguments as text",
			Args:  `{"from":"tools_kwargs","to":"extra_info.tools"}`,
			In:    `{"tools_kwargs":{"calc":{"x":1.5,"unit":"€"}}}`,
			Out:   `{"tools_kwargs":{"calc":{"x":1.5,"unit":"€"}},"extra_info":{"tools":"{\"calc\":{\"x\":1.5,\"unit\":\"€\"}}"}}`,
		},
		{
			Title: "a key that the type does not have",
			Args:  `{"from":"e","parse":"struct<index: int64>"}`,
			In:    `{"e":"{\"index\": 3, \"idx\": 4}"}`,
			Error: `bad-json: e does not hold struct<index: int64>: key "idx" is not in the type`,
		},
		{
			Title: "a column that is no text",
			Args:  `{"from":"e","parse":"struct<index: int64>"}`,
			In:    `{"e":3}`,
			Error: `column "e" is int64, expected string`,
		},
	},
})

// JSON reads the text at From as JSON of type Type, or with the zero Type writes the column as JSON text.
type JSON struct {
	From, To schema.Path // To "": in place
	Type     schema.Type
	After    schema.Path
}

// Plan returns one computed Put.
func (j JSON) Plan(in *schema.Schema) (*Plan, error) {
	if j.To == "" {
		j.To = j.From
	}
	parse := j.Type.Kind != schema.Missing
	if parse {
		if err := textColumn(in, j.From); err != nil {
			return nil, err
		}
	} else if _, err := column(in, j.From); err != nil {
		return nil, err
	}
	if inList(j.From) {
		return nil, fmt.Errorf("path %q lies inside a list: take the list as a whole", j.From)
	}
	put := Put{Path: j.To, After: j.After, Type: schema.StringType}
	if parse {
		put.Type = j.Type
	}
	if j.To == j.From {
		put.OnExisting = Replace
	} else if err := checkPut(in, j.To); err != nil {
		return nil, err
	}
	plan := &Plan{Reads: []schema.Path{j.From}, Puts: []Put{put}}
	plan.Bind = j.write
	if parse {
		plan.Bind = j.read
	}
	return plan, nil
}

func (j JSON) write() Func {
	var buf []byte
	return func(in schema.Row, out *Emitter) error {
		if v := in.At(0); !v.IsNull() {
			buf = v.AppendJSON(buf[:0])
			out.Set(0, schema.TextValue(view(buf)))
		}
		out.Emit()
		return nil
	}
}

func (j JSON) read() Func {
	return func(in schema.Row, out *Emitter) error {
		if v := in.At(0); !v.IsNull() {
			parsed, err := jsontext.DecodeAs(v.Text(), &j.Type)
			if err != nil {
				return Rejectf("bad-json", j.From, v, "%s does not hold %s: %v", j.From, j.Type, err)
			}
			out.Set(0, parsed)
		}
		out.Emit()
		return nil
	}
}

func newJSON(args Args) (RowStep, error) {
	r := newArgs("json", args)
	return r.done(JSON{From: r.path("from", ""), To: r.path("to", ""), Type: r.typ("parse"), After: r.path("after", "")})
}
