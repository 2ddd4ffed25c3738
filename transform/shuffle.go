package transform

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform/draw"
)

var _ = Add(Verb{
	Name:  "shuffle",
	Title: "put the rows into an order that is drawn",
	Doc: `
Puts the rows of a split into a random order, the same one in every run and with any number of workers, and with 'rows' goes on with the
first of them only; the others are counted as left out (not-drawn). The steps after it number rows by their new order.

The order is numpy's, number for number. 'generator: default' is default_rng(seed).permutation, which Dataset.shuffle(seed) of HF datasets
takes; 'generator: legacy' is numpy.random.seed(seed) with shuffle, permutation or choice(replace=False). With 'by' the rows are first put
into the order of a column of numbers, nulls last, as pandas' sort_values does. numpy draws among at most 4,294,967,295 rows, and 4 bytes of
memory are needed for each.

Steps before it may leave rows out, but not reject or repeat them.
`,
	Short: "seed",
	Args: []Arg{
		{Name: "seed", Type: "int", Doc: "of the generator", Required: true},
		{Name: "rows", Type: "int", Doc: "how many go on; all when not given, and an error where there are fewer"},
		{Name: "generator", Type: "string", Values: []string{"default", "legacy"}, Doc: "numpy's default_rng (when not given), or its numpy.random"},
		{Name: "by", Type: "path", Doc: "a column of numbers that orders the rows first"},
	},
	New: newShuffle,
	Examples: []Example{
		{
			Title: "as Dataset.shuffle(seed=42)",
			Args:  `{"seed":42}`,
			In:    rows10,
			Out:   `{"q":"d"}` + "\n" + `{"q":"e"}` + "\n" + `{"q":"c"}` + "\n" + `{"q":"h"}` + "\n" + `{"q":"g"}` + "\n" + `{"q":"b"}` + "\n" + `{"q":"f"}` + "\n" + `{"q":"a"}`,
		},
		{
			Title: "as numpy.random.choice(8, 3, replace=False)",
			Args:  `{"seed":7,"rows":3,"generator":"legacy"}`,
			In:    rows10,
			Out:   `{"q":"c"}` + "\n" + `{"q":"f"}` + "\n" + `{"q":"a"}`,
		},
		{
			Title: "more rows than there are",
			Args:  `{"seed":7,"rows":9}`,
			In:    rows10,
			Error: `argument rows: 9, and there are 8 rows`,
		},
		{
			Title: "by a column of text",
			Args:  `{"seed":7,"by":"q"}`,
			In:    rows10,
			Error: `column "q" is string, expected a number`,
		},
	},
})

// Shuffle puts rows into a random order.
type Shuffle struct {
	Seed   int64
	Rows   int64 // that go on; 0: all
	Legacy bool  // numpy.random, else default_rng
	By     schema.Path
}

// Plan changes no column.
func (Shuffle) Plan(*schema.Schema) (*Plan, error) { return &Plan{}, nil }

// Keys returns an order that is drawn. It fails where By is missing or no number.
func (s Shuffle) Keys(in *schema.Schema) (*Keys, error) {
	keys := &Keys{Order: true, Reason: "not-drawn"}
	keys.Arrange = func(rows int64) ([]uint32, error) {
		if s.Rows > rows {
			return nil, fmt.Errorf("argument rows: %d, and there are %d rows", s.Rows, rows)
		}
		out := s.permutation(uint32(rows))
		if s.Rows > 0 {
			out = out[:s.Rows]
		}
		return out, nil
	}
	return keys, orderBy(keys, in, s.By)
}

func (s Shuffle) permutation(n uint32) []uint32 {
	if s.Legacy {
		return draw.NewRandomState(uint32(s.Seed)).Permutation(n)
	}
	return draw.NewGenerator(uint64(s.Seed)).Permutation(n)
}

// orderBy makes a column of numbers the key of rows, so that their order is its; "": none.
func orderBy(keys *Keys, in *schema.Schema, by schema.Path) error {
	if by == "" {
		return nil
	}
	if err := numberColumn(in, by); err != nil {
		return err
	}
	keys.Reads = []schema.Path{by}
	keys.Bind = func() func(schema.Row) (Key, uint64) {
		return func(row schema.Row) (key Key, _ uint64) {
			v := row.At(0)
			if v.IsNull() || v.Kind() == schema.Float && math.IsNaN(v.Float()) {
				key[0] = 1 // behind all others
				return key, 0
			}
			binary.BigEndian.PutUint64(key[1:], sortable(v))
			return key, 0
		}
	}
	return nil
}

// sortable maps numbers of one type to others of the same order; 0 is below all.
func sortable(v schema.Value) uint64 {
	if v.Kind() == schema.Int {
		if v.Big() {
			return uint64(v.Int()) // unsigned, above all that are not
		}
		return uint64(v.Int()) ^ 1<<63
	}
	bits := math.Float64bits(v.Float() + 0) // no negative zero
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func newShuffle(args Args) (RowStep, error) {
	r := newArgs("shuffle", args)
	s := Shuffle{Seed: r.int("seed", 0), Rows: r.int("rows", 0), By: r.path("by", "")}
	if s.Rows < 0 || args["rows"] != nil && s.Rows == 0 {
		r.failAt("rows", "argument rows: %d, expected at least 1", s.Rows)
	}
	switch generator := r.text("generator", "default"); generator {
	case "default":
		if s.Seed < 0 {
			r.failAt("seed", "argument seed: %d, expected at least 0", s.Seed)
		}
	case "legacy":
		s.Legacy = true
		if s.Seed < 0 || s.Seed > math.MaxUint32 {
			r.failAt("seed", "argument seed: %d, expected 0 to 4294967295", s.Seed)
		}
	default:
		r.failAt("generator", "unknown generator %q (default, legacy)", generator)
	}
	return r.done(s)
}
