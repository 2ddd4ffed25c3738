package transform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/rlprep/rlprep/schema"
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
		put.If = Replace
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
			parsed, err := ParseAs(v.Text(), &j.Type)
			if err != nil {
				return Rejectf("bad-json", j.From, v, "%s does not hold %s: %v", j.From, j.Type, err)
			}
			out.Set(0, parsed)
		}
		out.Emit()
		return nil
	}
}

// ParseAs reads text as one JSON value of type t: no other keys, no other kinds; keys that are missing are null.
func ParseAs(text string, t *schema.Type) (schema.Value, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	v, err := decodeAs(d, t)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the value")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return v, err
}

func decodeAs(d *json.Decoder, t *schema.Type) (schema.Value, error) {
	tok, err := d.Token()
	if err != nil {
		return schema.Value{}, err
	}
	switch x := tok.(type) {
	case nil:
		return schema.NullValue, nil
	case string:
		if t.Kind == schema.Text {
			return schema.TextValue(x), nil
		}
	case bool:
		if t.Kind == schema.Bool {
			return schema.BoolValue(x), nil
		}
	case json.Number:
		if v, ok := numberAs(x.String(), t); ok {
			return v, nil
		}
	case json.Delim:
		switch {
		case x == '[' && t.Kind == schema.List:
			return decodeListAs(d, t)
		case x == '{' && t.Kind == schema.Struct:
			return decodeStructAs(d, t)
		}
	}
	return schema.Value{}, fmt.Errorf("%s is no %s", schema.Cut(fmt.Sprint(tok), 40), t)
}

func numberAs(s string, t *schema.Type) (schema.Value, bool) {
	switch t.Kind {
	case schema.Int:
		i, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return schema.Value{}, false
		}
		v, err := toInt(schema.IntValue(i), t)
		return v, err == nil
	case schema.Float:
		f, err := strconv.ParseFloat(s, 64)
		return schema.FloatValue(f), err == nil
	}
	return schema.Value{}, false
}

func decodeListAs(d *json.Decoder, t *schema.Type) (schema.Value, error) {
	elems := []schema.Value{}
	for d.More() {
		v, err := decodeAs(d, &t.Fields[0].Type)
		if err != nil {
			return v, err
		}
		elems = append(elems, v)
	}
	_, err := d.Token()
	return schema.ListValue(elems), err
}

func decodeStructAs(d *json.Decoder, t *schema.Type) (schema.Value, error) {
	elems := slices.Repeat([]schema.Value{{}}, len(t.Fields))
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return schema.Value{}, err
		}
		name, _ := tok.(string)
		_, i := t.Field(name)
		switch {
		case i < 0:
			return schema.Value{}, fmt.Errorf("key %q is not in the type", name)
		case !elems[i].IsMissing():
			return schema.Value{}, fmt.Errorf("key %q stands twice", name)
		}
		if elems[i], err = decodeAs(d, &t.Fields[i].Type); err != nil {
			return schema.Value{}, err
		}
	}
	for i := range elems {
		if elems[i].IsMissing() {
			elems[i] = schema.NullValue
		}
	}
	_, err := d.Token()
	return schema.StructValue(t, elems), err
}

func newJSON(args Args) (RowStep, error) {
	r := newArgs("json", args)
	return r.done(JSON{From: r.path("from", ""), To: r.path("to", ""), Type: r.typ("parse"), After: r.path("after", "")})
}
