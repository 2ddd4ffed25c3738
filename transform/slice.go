package transform

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "slice",
	Title: "take rows by their places, as HF datasets slices a split",
	Doc: `
Takes the rows of a split from one place to another: ":100" the first hundred, "-100:" the last, "100:200" those between, ":75%" three
quarters. Places are counted over the rows that are read, a percentage is rounded to the nearest row (to the even one of two), and
negative ones count from the end: it is what HF datasets makes of train[:75%]. Rows outside are not read at all, so the step must come
before every step that leaves rows out.

With 'into' the split is cut into several, each with its own slice; they may overlap and need not be the whole. In a pipeline each part is a split of its own,
written into files of its name; the steps after it see that name in ${split}. extra_info.index counts the source rows.
`,
	Short: "rows",
	Args: []Arg{
		{Name: "rows", Type: "string", Doc: "the slice, FROM:TO"},
		{Name: "into", Type: "mapping of names to slices", Doc: "in place of rows: {train: ':75%', test: '-25%:'}"},
	},
	New: newSlice,
	Examples: []Example{
		{
			Title: "the first two",
			Args:  `{"rows":":2"}`,
			In:    `{"q":"a"}` + "\n" + `{"q":"b"}`,
			Out:   `{"q":"a"}` + "\n" + `{"q":"b"}`,
		},
		{
			Title: "a slice that is none",
			Args:  `{"rows":"75%"}`,
			In:    `{"q":"a"}`,
			Error: `argument rows: "75%": expected FROM:TO, as :100, -100: or :75%`,
		},
	},
})

// A Placer is a RowStep that takes the rows of a split from one place to another, counted as they are read. Rows outside are not read at all.
type Placer interface {
	RowStep
	// Places returns the first row and the one behind the last, of so many.
	Places(rows int64) (from, to int64)
}

// A Place is an end of a Slice.
type Place struct {
	N       int64 // negative: from the end
	Percent bool
	Open    bool // the end of the split
}

// Slice takes the rows between two places, or cuts a split into several by such.
type Slice struct {
	From, To Place
	Into     []Part // nil: this slice alone
}

// A Part is one of the splits that a Slice makes.
type Part struct {
	Name string
	Slice
}

// Names implements Divider.
func (s Slice) Names() []string {
	var out []string
	for _, p := range s.Into {
		out = append(out, p.Name)
	}
	return out
}

// Part implements Divider.
func (s Slice) Part(name string) RowStep {
	for _, p := range s.Into {
		if p.Name == name {
			return p.Slice
		}
	}
	return s
}

// Plan changes no column.
func (s Slice) Plan(*schema.Schema) (*Plan, error) { return &Plan{}, nil }

// Places implements Placer as HF datasets does (arrow_reader.py, _rel_to_abs_instr, datasets 5.2).
func (s Slice) Places(rows int64) (from, to int64) {
	at := func(p Place, open int64) int64 {
		n := p.N
		switch {
		case p.Open:
			n = open
		case p.Percent:
			n = int64(math.RoundToEven(float64(p.N*rows) / 100))
		}
		if n < 0 {
			n = max(rows+n, 0)
		}
		return min(n, rows)
	}
	from, to = at(s.From, 0), at(s.To, rows)
	return from, max(from, to)
}

// ParseSlice reads "FROM:TO".
func ParseSlice(text string) (s Slice, err error) {
	from, to, ok := strings.Cut(text, ":")
	if ok {
		if s.From, err = parsePlace(from); err == nil {
			s.To, err = parsePlace(to)
		}
	}
	if !ok || err != nil {
		return s, fmt.Errorf("%q: expected FROM:TO, as :100, -100: or :75%%", text)
	}
	return s, nil
}

func parsePlace(text string) (p Place, err error) {
	if text == "" {
		return Place{Open: true}, nil
	}
	text, p.Percent = strings.CutSuffix(text, "%")
	if p.N, err = strconv.ParseInt(text, 10, 64); err == nil && p.Percent && (p.N < -100 || p.N > 100) {
		err = strconv.ErrRange
	}
	return p, err
}

func newSlice(args Args) (RowStep, error) {
	r := newArgs("slice", args)
	into, given := mapping(args["into"])
	text := r.text("rows", "")
	if given == (text != "") || given && len(into) == 0 {
		r.fail("give rows or into, and not both")
	}
	if !given {
		s, err := ParseSlice(text)
		if err != nil && r.err == nil {
			r.failAt("rows", "argument rows: %w", err)
		}
		return r.done(s)
	}
	var out Slice
	for _, m := range into {
		text, _ := m.Value.(string)
		s, err := ParseSlice(text)
		if err != nil {
			r.failAt("into", "argument into: %s: %w", m.Name, err)
		}
		out.Into = append(out.Into, Part{Name: m.Name, Slice: s})
	}
	return r.done(out)
}
