package transform

import (
	"crypto/sha256"
	"iter"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "dedup",
	Title: "keep one row of those that have the same value",
	Doc: `
Keeps of all rows of a split with the same values in the columns 'by' the first one, and leaves the others out, counted as duplicate. With
'highest' it keeps the row with the highest number in that column, the first of several; with 'ties: keep' all of these. A null is below
every number. Values are compared as they are, lists and structs too; nulls are equal to each other.

Which rows go on does not depend on the number of workers. Steps before it may leave rows out, but not repeat them.
`,
	Short: "by",
	Args: []Arg{
		{Name: "by", Type: "path or list of paths", Doc: "what rows have in common: prompt", Required: true},
		{Name: "highest", Type: "path", Doc: "a column of numbers: score"},
		{Name: "ties", Type: "string", Values: []string{"drop", "keep"}, Doc: "of highest: what becomes of rows that have the same; drop when not given"},
	},
	New: newDedup,
	Examples: []Example{
		{
			Title: "the first of each prompt",
			Args:  `{"by":"prompt"}`,
			In:    `{"prompt":["a"],"n":1}` + "\n" + `{"prompt":["b"],"n":2}` + "\n" + `{"prompt":["a"],"n":3}`,
			Out:   `{"prompt":["a"],"n":1}` + "\n" + `{"prompt":["b"],"n":2}`,
		},
		{
			Title: "the best answer of each conversation",
			Args:  `{"by":"id","highest":"score"}`,
			In:    `{"id":1,"score":0.5,"a":"x"}` + "\n" + `{"id":1,"score":0.75,"a":"y"}` + "\n" + `{"id":2,"score":null,"a":"z"}` + "\n" + `{"id":1,"score":0.75,"a":"w"}`,
			Out:   `{"id":1,"score":0.75,"a":"y"}` + "\n" + `{"id":2,"score":null,"a":"z"}`,
		},
		{
			Title: "all that are as good",
			Args:  `{"by":"id","highest":"turn","ties":"keep"}`,
			In:    `{"id":1,"turn":2,"a":"x"}` + "\n" + `{"id":1,"turn":1,"a":"y"}` + "\n" + `{"id":1,"turn":2,"a":"z"}`,
			Out:   `{"id":1,"turn":2,"a":"x"}` + "\n" + `{"id":1,"turn":2,"a":"z"}`,
		},
		{
			Title: "highest of a text",
			Args:  `{"by":"id","highest":"a"}`,
			In:    `{"id":1,"a":"x"}`,
			Error: `column "a" is string, expected a number`,
		},
	},
})

// Dedup keeps one row of those that have the same values at By.
type Dedup struct {
	By       []schema.Path
	Highest  schema.Path // "": the first row is kept
	KeepTies bool        // all rows with the highest number
}

// Plan changes no column.
func (Dedup) Plan(*schema.Schema) (*Plan, error) { return &Plan{}, nil }

// Keys returns a hash of the values at By, and the number at Highest. It fails where a column is missing, or Highest no number.
func (d Dedup) Keys(in *schema.Schema) (*Keys, error) {
	for _, p := range d.By {
		if _, err := column(in, p); err != nil {
			return nil, err
		}
	}
	keys := &Keys{Reads: d.By, Reason: "duplicate", Select: d.choose}
	if d.Highest != "" {
		if err := numberColumn(in, d.Highest); err != nil {
			return nil, err
		}
		keys.Reads = append(keys.Reads[:len(d.By):len(d.By)], d.Highest)
	}
	keys.Bind = func() func(schema.Row) (Key, uint64) {
		var buf []byte
		return func(row schema.Row) (Key, uint64) {
			buf = buf[:0]
			for i := range d.By {
				buf = append(row.At(i).AppendJSON(buf), '\n')
			}
			value := uint64(0)
			if d.Highest != "" {
				if v := row.At(len(d.By)); !v.IsNull() && !v.IsMissing() {
					value = sortable(v)
				}
			}
			sum := sha256.Sum256(buf)
			return Key(sum[:16]), value
		}
	}
	return keys, nil
}

// choose drops all rows but the first, or the first of the highest value.
func (d Dedup) choose(_ Key, rows iter.Seq[KeyRow], drop func(number int64)) {
	best := uint64(0)
	for r := range rows {
		best = max(best, r.Value)
	}
	found := false
	for r := range rows {
		if r.Value != best || found && !d.KeepTies {
			drop(r.Number)
			continue
		}
		found = true
	}
}

func newDedup(args Args) (RowStep, error) {
	r := newArgs("dedup", args)
	d := Dedup{By: r.paths("by"), Highest: r.path("highest", "")}
	d.KeepTies = r.word("ties", "drop") == "keep"
	if args["ties"] != nil && d.Highest == "" {
		r.failAt("ties", "argument ties is for highest")
	}
	return r.done(d)
}
