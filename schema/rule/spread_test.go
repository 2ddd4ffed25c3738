package rule

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A Spread holds every row and value, whatever pieces they come in, as long as its limits allow it.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.Int64Range(0, 200)).Draw(t, "rows")
		var whole Spread
		parts := make([]Spread, 3)
		for i, row := range rows {
			value := fmt.Sprint(row % rapid.Int64Range(1, 20).Draw(t, "values"))
			whole.Add(row, value)
			parts[i*3/len(rows)].Add(row, value)
		}
		var merged Spread
		for _, p := range parts {
			merged.Merge(p)
		}
		if whole.ManyValues != merged.ManyValues || !slices.Equal(whole.Values, merged.Values) {
			t.Fatalf("values %v %v, in parts %v %v", whole.Values, whole.ManyValues, merged.Values, merged.ManyValues)
		}
		for _, s := range []Spread{whole, merged} {
			checkSpans(t, s, rows)
		}
	})
}

func checkSpans(t *rapid.T, s Spread, rows []int64) {
	var got []int64
	for i, span := range s.Spans {
		if i > 0 && span.From <= s.Spans[i-1].To+1 {
			t.Fatalf("spans %v touch or are out of order", s.Spans)
		}
		for row := span.From; row <= span.To; row++ {
			got = append(got, row)
		}
	}
	want := slices.Compact(slices.Sorted(slices.Values(rows)))
	if len(s.Spans) > MaxSpans || !s.Cut && !slices.Equal(got, want) {
		t.Fatalf("rows %v as %v, cut %t", want, s.Spans, s.Cut)
	}
	for _, row := range got {
		if !slices.Contains(want, row) {
			t.Fatalf("row %d of %v is not among %v", row, s.Spans, want)
		}
	}
}
