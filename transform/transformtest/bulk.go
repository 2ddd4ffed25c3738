package transformtest

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A bulk holds the Bulk of a plan to its Func: both must compute the same for the rows whose reads are all text. Other rows the engine never
// gives to a Bulk.
type bulk struct {
	of     transform.Bulk
	reads  []*schema.TextColumn
	rows   int
	puts   []transform.Put
	want   [][]string // by leaf of the puts: the texts that the Func gave
	single bool       // the Func gave one row for each
}

// newBulk returns nil for a plan without Bulk.
func newBulk(plan *transform.Plan) *bulk {
	if plan.Bulk == nil {
		return nil
	}
	b := &bulk{of: plan.Bulk(), puts: plan.Puts, single: true}
	for range plan.Reads {
		b.reads = append(b.reads, &schema.TextColumn{})
	}
	b.want = make([][]string, len(b.leaves()))
	return b
}

// leaves are those of the puts.
func (b *bulk) leaves() []schema.Leaf {
	s := &schema.Schema{}
	for _, p := range b.puts {
		s.Fields = append(s.Fields, schema.NewField(p.Path.Base(), p.Type))
	}
	return s.Leaves()
}

// add takes a row, and what the Func gave for it.
func (b *bulk) add(in *Row, computed [][]schema.Value, reject *transform.Reject) {
	if b == nil || slices.ContainsFunc(in.Values, func(v schema.Value) bool { return v.Kind() != schema.Text }) {
		return
	}
	b.rows++
	for i, v := range in.Values {
		b.reads[i].Bytes = append(b.reads[i].Bytes, v.Text()...)
		b.reads[i].End()
	}
	if b.single = b.single && reject == nil && len(computed) == 1; !b.single {
		return
	}
	rest := b.want
	for i, v := range computed[0] {
		n := len((&schema.Schema{Fields: []schema.Field{{Type: b.puts[i].Type}}}).Leaves())
		flatten(v, rest[:n])
		rest = rest[n:]
	}
}

// flatten appends the texts of a value to those of its leaves.
func flatten(v schema.Value, leaves [][]string) {
	switch v.Kind() {
	case schema.List:
		for i := range v.Len() {
			flatten(v.Elem(i), leaves)
		}
	case schema.Struct: // of texts: Bulk makes no deeper ones
		for i := range v.Len() {
			flatten(v.Elem(i), leaves[i:i+1])
		}
	default:
		leaves[0] = append(leaves[0], v.Text())
	}
}

// compare runs the Bulk over all rows that were added.
func (b *bulk) compare() error {
	if b == nil || b.rows == 0 {
		return nil
	}
	reads, out := make([]schema.Texts, len(b.reads)), make([]*schema.TextColumn, len(b.want))
	for i, c := range b.reads {
		reads[i] = schema.NewTexts(c.Bytes, c.Offsets())
	}
	for i := range out {
		out[i] = &schema.TextColumn{}
	}
	if done := b.of(reads, b.rows, out); done != b.single {
		return fmt.Errorf("bulk takes the rows: %v; each of them gives one row: %v", done, b.single)
	}
	for i := 0; b.single && i < len(out); i++ {
		var got []string
		for k, texts := 0, schema.NewTexts(out[i].Bytes, out[i].Offsets()); k < texts.Len(); k++ {
			got = append(got, texts.At(k))
		}
		if !slices.Equal(got, b.want[i]) {
			return fmt.Errorf("leaf %d: bulk gives %q, the Func %q", i, got, b.want[i])
		}
	}
	return nil
}
