package rule

import "slices"

// Limits of a Spread, so that its memory is bounded.
const (
	MaxSpans  = 64 // ranges of rows
	MaxValues = 16 // different values
)

// A Span is a range of rows of one file, both ends included. Rows count from 0.
type Span struct{ From, To int64 }

// Rows is how many rows s has.
func (s Span) Rows() int64 { return s.To - s.From + 1 }

// A ValueCount is a value as findings show it, and how many findings have it.
type ValueCount struct {
	Value string
	Count int64
}

// A Spread says in which rows the findings of one kind are, and which values they have. The zero Spread is of no findings.
type Spread struct {
	Spans []Span // ascending; at most MaxSpans
	Cut   bool   // there are rows that Spans does not hold
	// Values are the different values, in the order of their first findings. It is nil where ManyValues is true.
	Values     []ValueCount
	ManyValues bool // there are more than MaxValues different values
}

// Add adds a finding. row is negative where it is about no row, and value is "" where it has none.
func (s *Spread) Add(row int64, value string) {
	if row >= 0 {
		s.addSpan(Span{row, row})
	}
	if value != "" {
		s.addValue(ValueCount{value, 1})
	}
}

// Merge adds the findings of t to those of s. s shares no memory with t afterwards.
func (s *Spread) Merge(t Spread) {
	for _, span := range t.Spans {
		s.addSpan(span)
	}
	s.Cut = s.Cut || t.Cut
	if t.ManyValues {
		s.ManyValues, s.Values = true, nil
	}
	for _, v := range t.Values {
		s.addValue(v)
	}
}

func (s *Spread) addSpan(n Span) {
	if last := len(s.Spans) - 1; last >= 0 && n.From >= s.Spans[last].From && n.From <= s.Spans[last].To+1 {
		s.Spans[last].To = max(s.Spans[last].To, n.To)
		return
	}
	at, _ := slices.BinarySearchFunc(s.Spans, n, func(a, b Span) int { return int(min(max(a.From-b.From, -1), 1)) })
	if at == MaxSpans {
		s.Cut = true
		return
	}
	s.Spans = slices.Insert(s.Spans, at, n)
	if at > 0 && s.Spans[at-1].To+1 >= n.From {
		at--
	}
	for at+1 < len(s.Spans) && s.Spans[at].To+1 >= s.Spans[at+1].From {
		s.Spans[at].To = max(s.Spans[at].To, s.Spans[at+1].To)
		s.Spans = slices.Delete(s.Spans, at+1, at+2)
	}
	if len(s.Spans) > MaxSpans {
		s.Spans, s.Cut = s.Spans[:MaxSpans], true
	}
}

func (s *Spread) addValue(n ValueCount) {
	if s.ManyValues {
		return
	}
	for i := range s.Values {
		if s.Values[i].Value == n.Value {
			s.Values[i].Count += n.Count
			return
		}
	}
	if len(s.Values) == MaxValues {
		s.ManyValues, s.Values = true, nil
		return
	}
	s.Values = append(s.Values, n)
}
