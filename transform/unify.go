package transform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "unify",
	Title: "bring files of several schemas to one",
	Doc: `
Brings the files of a split to the same columns, in the same order, of the same types, so that one pipeline takes them all. It stands
first, or behind the steps that each kind of file needs.

The columns are those of all files, in the order in which they first occur; fields of structs likewise, also within lists. What a file
lacks is null there: 'set' with 'if: fill' gives it a value. Of two types it takes the one that holds all values of both: int64
of int32 and int64, double of float and double, double of an integer and a float. string and large_string are one type,
as are list and large_list, and a dictionary and its values. A column that is nothing but null has the type of the others.

An integer that a double cannot hold exactly ends the run, with its file and row. Types that nothing holds (string and int64, uint64 and
int64) are an error that names both files: 'cast' or 'json' before it makes them one. A column that is the same everywhere stays undecoded.
`,
	Args: []Arg{
		{Name: "missing", Type: "string", Values: []string{"null", "refuse"}, Doc: "what becomes of columns and fields that a file lacks: null (the default), or refuse, an error"},
	},
	Short: "missing",
	New:   newUnify,
	Examples: []Example{
		{
			Title: "two files, of which each lacks something (a blank line stands between them)",
			Args:  `{}`,
			In: `{"question":"1+1?","extra_info":{"index":0},"score":1}` + "\n\n" +
				`{"extra_info":{"split":"train","index":1},"question":"2+2?","level":"easy","score":0.5}`,
			Out: `{"question":"1+1?","extra_info":{"index":0,"split":null},"score":1.0,"level":null}` + "\n" +
				`{"question":"2+2?","extra_info":{"index":1,"split":"train"},"score":0.5,"level":"easy"}`,
		},
		{
			Title: "messages of which some have a name",
			Args:  `{}`,
			In: `{"prompt":[{"role":"user","content":"1+1?"}]}` + "\n\n" +
				`{"prompt":[{"role":"user","name":"ann","content":"2+2?"}]}` + "\n\n" + `{"prompt":[]}`,
			Out: `{"prompt":[{"role":"user","content":"1+1?","name":null}]}` + "\n" +
				`{"prompt":[{"role":"user","content":"2+2?","name":"ann"}]}` + "\n" + `{"prompt":[]}`,
		},
		{
			Title: "an answer that is text here and a number there",
			Args:  `{}`,
			In:    `{"answer":"72"}` + "\n\n" + `{"answer":72}`,
			Error: `column "answer" is string in in-0.jsonl and int64 in in-1.jsonl: no type holds both; give it one with cast before`,
		},
		{
			Title: "a column that is not everywhere, where that is a mistake",
			Args:  `{"missing":"refuse"}`,
			In:    `{"question":"1+1?","level":"easy"}` + "\n\n" + `{"question":"2+2?","lvl":"easy"}`,
			Error: `in-1.jsonl has no column "level", which in-0.jsonl has; did you mean "lvl"?`,
		},
	},
})

// Unify brings files to one schema.
type Unify struct {
	Refuse bool           // a column or field that a file lacks is an error
	To     *schema.Schema // set by Gather; nil: the columns stay as they are
}

// Plan returns the Shape that Gather found.
func (u Unify) Plan(*schema.Schema) (*Plan, error) { return &Plan{Conform: u.To}, nil }

// Gather returns Unify with the schema that takes the rows of all files. It fails for types that nothing holds.
func (u Unify) Gather(files []FileSchema) (RowStep, error) {
	if len(files) == 0 {
		return u, nil
	}
	g := &union{refuse: u.Refuse, from: map[schema.Path]string{}}
	fields := g.begin(files[0].Name, "", files[0].Schema.Fields)
	for _, f := range files[1:] {
		var err error
		if fields, err = g.policy(f.Name).Fields("", fields, f.Schema.Fields); err != nil {
			return nil, err
		}
	}
	u.To = &schema.Schema{Fields: fields}
	return u, nil
}

// A union remembers which file a column's type is from, for messages.
type union struct {
	refuse bool
	from   map[schema.Path]string
}

// begin notes where fields are from, and returns them in the form in which they are written.
func (g *union) begin(file string, at schema.Path, fields []schema.Field) []schema.Field {
	out := slices.Clone(fields)
	for i := range out {
		f := &out[i]
		p := at.Field(f.Name)
		g.from[p] = file
		f.SourceElement = nil
		f.Type = parquetType(f.Type)
		f.Type.Fields = g.begin(file, p, f.Type.Fields)
	}
	return out
}

// parquetType is a type as Parquet stores it: without what is said for Arrow alone.
func parquetType(t schema.Type) schema.Type {
	t.Dictionary = false
	if t.Layout != schema.Fixed || t.Kind == schema.List {
		t.Layout, t.Size = schema.Plain, 0
	}
	return t
}

// policy merges the fields of a file into those of the files before it.
func (g *union) policy(file string) *schema.Merge {
	return &schema.Merge{
		Pair: func(at schema.Path, a, b schema.Type) (schema.Type, bool, error) { return g.widest(file, at, a, b) },
		OnlyA: func(at schema.Path, f schema.Field, others []schema.Field) (schema.Field, error) {
			if g.refuse {
				return f, lacking(file, at, g.from[at], others)
			}
			f.Nullable = true
			return f, nil
		},
		OnlyB: func(at schema.Path, f schema.Field, others []schema.Field) (schema.Field, error) {
			if g.refuse {
				return f, lacking(g.owner(at.Parent(), others), at, file, others)
			}
			f.Nullable = true
			return g.begin(file, at.Parent(), []schema.Field{f})[0], nil
		},
	}
}

// owner is the file that the fields at a path are from.
func (g *union) owner(at schema.Path, fields []schema.Field) string {
	if at == "" && len(fields) > 0 {
		at = at.Field(fields[0].Name)
	}
	return g.from[at]
}

func lacking(file string, p schema.Path, other string, fields []schema.Field) error {
	msg := fmt.Sprintf("%s has no column %q, which %s has", file, p, other)
	if near := schema.Nearest(p.Base(), (&schema.Schema{Fields: fields}).Names()); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s", msg)
}

// widest returns the type that holds all values of a, which the files before have, and of b, which this one has; done is false for two
// structs and for two lists, which the policy merges by their parts.
func (g *union) widest(file string, at schema.Path, a, b schema.Type) (t schema.Type, done bool, err error) {
	b = parquetType(b)
	switch {
	case b.Kind == schema.Null:
		return a, true, nil
	case a.Kind == schema.Null:
		b.Fields = g.begin(file, at, b.Fields)
		g.from[at] = file
		return b, true, nil
	case a.Kind == b.Kind && nested(a):
		return a, false, nil
	}
	t, ok := wider(a, b)
	if !ok {
		return t, true, g.conflict(file, at, a, b)
	}
	if !t.Equal(a) {
		g.from[at] = file
	}
	return t, true, nil
}

func (g *union) conflict(file string, at schema.Path, a, b schema.Type) error {
	help := "give it one with cast before"
	switch {
	case strings.HasPrefix(a.Name, "mixed<"), strings.HasPrefix(b.Name, "mixed<"):
		help = "its rows are of several types already: columns: in the pipeline file says which it is to be"
	case nested(a) || nested(b):
		help = "json reads it out of text, or writes it as text, before"
	}
	from, ok := g.from[at]
	if !ok { // the element of a list
		from = g.from[at.Parent()]
	}
	return fmt.Errorf("column %q is %s in %s and %s in %s: no type holds both; %s", at, a, from, b, file, help)
}

func nested(t schema.Type) bool { return t.Kind == schema.Struct || t.Kind == schema.List }

// wider returns the type that holds the values of both plain types; double holds integers as long as each is held exactly.
func wider(a, b schema.Type) (schema.Type, bool) {
	switch {
	case a.Equal(b):
		return a, true
	case a.Kind == schema.Text && b.Kind == schema.Text: // JSON text beside other
		return schema.StringType, true
	case a.Kind == schema.Float && b.Kind == schema.Float:
		return schema.Type{Kind: schema.Float, Bits: max(a.Bits, b.Bits)}, true
	case a.Kind == schema.Int && b.Kind == schema.Float, a.Kind == schema.Float && b.Kind == schema.Int:
		return schema.FloatType, true
	case a.Kind == schema.Int && b.Kind == schema.Int:
		return schema.WiderInt(a, b)
	}
	return a, false
}

func newUnify(args Args) (RowStep, error) {
	r := newArgs("unify", args)
	u := Unify{}
	u.Refuse = r.word("missing", "null") == "refuse"
	return r.done(u)
}
