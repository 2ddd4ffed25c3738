package transform

import (
	"fmt"
	"strconv"
	"unicode"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "cast",
	Title: "give a column another type",
	Doc: `
Writes a column with another type: a number out of text and text out of a number, integers of another width, doubles, lists
and structs part by part, where fields that were missing become null. Text must be exactly a number, without blanks, commas or
units, and a bool as true or false; with 'numbers: python' integers are read as Python's int reads them: blanks around them, _ between
digits, and the digits of all scripts. A whole column that becomes large_string is written as such, as pandas 3 does. A column of JSON Lines with values of several types (1, "2", 2.5) becomes one type. A row whose value does not become the type is rejected (bad-cast); nothing is rounded and
nothing is cut off.
`,
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "the column: extra_info.index", Required: true},
		{Name: "to", Type: "type", Doc: "int64, string, double, list<element: string>, struct<a: int64, b: string>", Required: true},
		{Name: "numbers", Type: "string", Values: []string{"exact", "python"}, Doc: "how a text becomes an integer; exact when not given"},
	},
	New: newCast,
	Examples: []Example{
		{
			Title: "an index that was read as text",
			Args:  `{"path":"extra_info.index","to":"int64"}`,
			In:    `{"extra_info":{"index":"17","split":"train"}}`,
			Out:   `{"extra_info":{"index":17,"split":"train"}}`,
		},
		{
			Title: "an answer that is a number",
			Args:  `{"path":"answer","to":"string"}`,
			In:    `{"answer":72}` + "\n" + `{"answer":null}`,
			Out:   `{"answer":"72"}` + "\n" + `{"answer":null}`,
		},
		{
			Title: "a field that some files lack",
			Args:  `{"path":"reward_model","to":"struct<style: string, ground_truth: string>"}`,
			In:    `{"reward_model":{"ground_truth":"72"}}`,
			Out:   `{"reward_model":{"style":null,"ground_truth":"72"}}`,
		},
		{
			Title: "no number",
			Args:  `{"path":"n","to":"int64"}`,
			In:    `{"n":"1,200"}`,
			Error: `bad-cast: n cannot become int64: it is no such number`,
		},
		{
			Title: "what Python's int takes",
			Args:  `{"path":"label","to":"int64","numbers":"python"}`,
			In:    `{"label":" 2 "}` + "\n" + `{"label":"1_0"}` + "\n" + `{"label":"３"}` + "\n" + `{"label":"-٤"}`,
			Out:   `{"label":2}` + "\n" + `{"label":10}` + "\n" + `{"label":3}` + "\n" + `{"label":-4}`,
		},
		{
			Title: "a struct is no text",
			Args:  `{"path":"extra_info","to":"string"}`,
			In:    `{"extra_info":{"a":1}}`,
			Error: `column "extra_info" is struct<a: int64>: step json writes it as text`,
		},
	},
})

// Cast writes the column at Path as type To, in place.
type Cast struct {
	Path   schema.Path
	To     schema.Type
	Python bool // integers are read out of text as Python's int reads them
}

// Plan returns one computed Put, or none where the type is the same. It fails where the types do not allow it.
func (c Cast) Plan(in *schema.Schema) (*Plan, error) {
	f, err := column(in, c.Path)
	if err != nil {
		return nil, err
	}
	if inList(c.Path) {
		return nil, fmt.Errorf("path %q lies inside a list: cast the list as a whole", c.Path)
	}
	if f.Type.Equal(c.To) {
		return &Plan{}, nil
	}
	if err := castable(c.Path, f.Type, c.To); err != nil {
		return nil, err
	}
	if c.Python && (f.Type.Kind != schema.Text || c.To.Kind != schema.Int) {
		return nil, fmt.Errorf("column %q is %s: numbers: python reads integers out of text", c.Path, f.Type)
	}
	return &Plan{
		Reads: []schema.Path{c.Path},
		Puts:  []Put{{Path: c.Path, Type: c.To, OnExisting: Replace, KeepLayout: c.To.Layout == schema.Large}},
		Bind: func() Func {
			mixed := mixedScalars(f.Type)
			return func(in schema.Row, out *Emitter) error {
				v := in.At(0)
				var err error
				if mixed && !v.IsNull() && !v.IsMissing() {
					v, err = fromMixed(v, &c.To)
				}
				if c.Python && v.Kind() == schema.Text {
					v, err = pythonInt(v.Text())
				}
				if err == nil {
					v, err = convert(v, &c.To)
				}
				if err != nil {
					return Rejectf("bad-cast", c.Path, in.At(0), "%s cannot become %s: it %s", c.Path, c.To, err)
				}
				out.Set(0, v)
				out.Emit()
				return nil
			}
		},
	}, nil
}

// pythonInt reads what int(text) of Python 3 takes: an integer of 64 bits.
func pythonInt(text string) (schema.Value, error) {
	var digits []byte
	last := '_' // an underscore stands between digits
	for i, r := range Strip(text) {
		d := digitValue(r)
		switch {
		case i == 0 && (r == '+' || r == '-'):
			digits = append(digits, byte(r))
			continue
		case r == '_' && last != '_':
		case d < 0:
			return schema.NullValue, errNoNumber
		default:
			digits = append(digits, byte('0'+d))
		}
		last = r
	}
	if last == '_' {
		return schema.NullValue, errNoNumber
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return schema.NullValue, errRange
	}
	return schema.IntValue(n), nil
}

// digitValue is the value of a decimal digit of any script, -1 for another character. The digits of a script follow each other, 0 first.
func digitValue(r rune) int {
	for _, x := range unicode.Nd.R16 {
		if rune(x.Lo) <= r && r <= rune(x.Hi) {
			return int(r-rune(x.Lo)) % 10
		}
	}
	for _, x := range unicode.Nd.R32 {
		if rune(x.Lo) <= r && r <= rune(x.Hi) {
			return int(r-rune(x.Lo)) % 10
		}
	}
	return -1
}

func newCast(args Args) (RowStep, error) {
	r := newArgs("cast", args)
	c := Cast{Path: r.path("path", ""), To: r.typ("to")}
	c.Python = r.word("numbers", "exact") == "python"
	return r.done(c)
}
