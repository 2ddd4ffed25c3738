package jsonl

import "sort"

// A Range is a run of rows that is read at once. Where it begins and ends depends on sizes alone.
type Range struct {
	FirstRow int64 // number in the text of its first row
	Rows     int64
	Bytes    int64 // about

	// Reading begins at From and passes over Skip rows.
	From Spot
	Skip int64
}

// Ranges cuts the text into ranges of about target bytes.
func (l *Layout) Ranges(target int64) []Range {
	var out []Range
	for i := 0; i < len(l.Spots); {
		j := i + 1
		for j < len(l.Spots) && l.Spots[j].Offset-l.Spots[i].Offset < target {
			j++
		}
		r := Range{FirstRow: l.Spots[i].Row, From: l.Spots[i]}
		r.Rows, r.Bytes = l.Rows-r.FirstRow, l.End-r.From.Offset
		if j < len(l.Spots) {
			r.Rows, r.Bytes = l.Spots[j].Row-r.FirstRow, l.Spots[j].Offset-r.From.Offset
		}
		out = append(out, r)
		i = j
	}
	return out
}

// At returns where reading begins for a row, and how many rows are passed over from there.
func (l *Layout) At(row int64) (from Spot, skip int64) {
	i := sort.Search(len(l.Spots), func(i int) bool { return l.Spots[i].Row > row }) - 1
	return l.Spots[i], row - l.Spots[i].Row
}
