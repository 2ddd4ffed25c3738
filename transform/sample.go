package transform

import "github.com/rlprep/rlprep/schema"

var _ = Add(Verb{
	Name:  "sample",
	Title: "take a fraction of the rows, chosen by hash",
	Doc: `
Takes about the 'fraction' of the rows. Which ones is a hash of 'seed' and the row's number within its split, or with 'key' of that
column's value, so rows of one value stay together. The same rows are taken in every run, with any number of workers. With the
same seed a smaller fraction is a part of a larger one. The others are counted as left out (not-sampled).
`,
	Short: "fraction",
	Args: []Arg{
		{Name: "fraction", Type: "number", Doc: "0.1 is a tenth", Required: true},
		{Name: "seed", Type: "int", Doc: "another one takes other rows; 0 when not given"},
		{Name: "key", Type: "path", Doc: "rows with the same value here go together"},
	},
	New: newSample,
	Examples: []Example{
		{
			Title: "half of the rows",
			Args:  `{"fraction":0.5}`,
			In:    rows10,
			Out:   `{"q":"b"}` + "\n" + `{"q":"e"}` + "\n" + `{"q":"f"}` + "\n" + `{"q":"g"}` + "\n" + `{"q":"h"}`,
		},
		{
			Title: "rows of one source stay together",
			Args:  `{"fraction":0.5,"key":"src"}`,
			In:    `{"src":"x","q":"a"}` + "\n" + `{"src":"y","q":"b"}` + "\n" + `{"src":"x","q":"c"}`,
			Out:   `{"src":"y","q":"b"}`,
		},
		{
			Title: "more than all",
			Args:  `{"fraction":10}`,
			In:    `{"q":"a"}`,
			Error: `argument fraction: 10, expected more than 0 and at most 1`,
		},
	},
})

const rows10 = `{"q":"a"}` + "\n" + `{"q":"b"}` + "\n" + `{"q":"c"}` + "\n" + `{"q":"d"}` + "\n" + `{"q":"e"}` + "\n" + `{"q":"f"}` + "\n" + `{"q":"g"}` + "\n" + `{"q":"h"}`

// Sample takes a fraction of the rows, by hash.
type Sample struct {
	Fraction float64
	Seed     int64
	Key      schema.Path // "": the row's number
}

// Plan returns a Func that reads the key, or nothing.
func (s Sample) Plan(in *schema.Schema) (*Plan, error) {
	return choose(in, s.Seed, s.Key, func(at float64) string {
		if at < s.Fraction {
			return ""
		}
		return "not-sampled"
	})
}

// choose plans a step that keeps the rows for whose place in [0, 1) verdict gives no reason to leave them out.
func choose(in *schema.Schema, seed int64, key schema.Path, verdict func(at float64) string) (*Plan, error) {
	plan := &Plan{}
	if key != "" {
		if _, err := column(in, key); err != nil {
			return nil, err
		}
		plan.Reads = []schema.Path{key}
	}
	plan.Bind = func() Func {
		var buf []byte
		return func(in schema.Row, out *Emitter) error {
			h := uint64(in.Number())
			if key != "" {
				buf = in.At(0).AppendJSON(buf[:0])
				h = fnv(buf)
			}
			if reason := verdict(unit(mix(mix(uint64(seed)) ^ h))); reason != "" {
				out.Drop(reason)
			} else {
				out.Emit()
			}
			return nil
		}
	}
	return plan, nil
}

// fnv is FNV-1a of 64 bits.
func fnv(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// mix spreads the bits of x: SplitMix64's finalizer, after its increment, so that 0 is mixed too.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

func newSample(args Args) (RowStep, error) {
	r := newArgs("sample", args)
	s := Sample{Fraction: r.float("fraction", 1), Seed: r.int("seed", 0), Key: r.path("key", "")}
	if !(s.Fraction > 0 && s.Fraction <= 1) {
		r.failAt("fraction", "argument fraction: %v, expected more than 0 and at most 1", s.Fraction)
	}
	return r.done(s)
}
