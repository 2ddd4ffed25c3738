package verl

import (
	"context"
	"math"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
	"github.com/rlprep/rlprep/transform"
)

// numbers are the indices of a dataset.
type numbers struct {
	rows  int64
	first map[int]int64 // number, within the dataset, of a file's first row
	used  bits          // those below rows
	top   int64         // the highest
	kind  schema.Type   // of the column in the first file that has one; else int64
	empty map[int]bool  // files with rows that have none
}

// A bits is a set of small numbers.
type bits []uint64

func (b bits) add(i int64)      { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int64) bool { return b[i>>6]>>(i&63)&1 != 0 }

// readNumbers reads the indices of the dataset; why says why they are none that could be added to.
func readNumbers(ctx context.Context, r rule.FixRequest) (n *numbers, why string, err error) {
	n = &numbers{first: map[int]int64{}, top: -1, empty: map[int]bool{}}
	for _, i := range r.Dataset() {
		n.first[i] = n.rows
		n.rows += r.Facts(i).Rows
	}
	n.used = make(bits, n.rows/64+1)
	var kinds []schema.Type
	for _, i := range r.Dataset() {
		f, ok := r.Facts(i).Schema.Lookup(extraIndex)
		switch {
		case !ok || f.Type.Kind == schema.Null:
			if in, ok := r.Facts(i).Schema.Lookup(extraIndex.Parent()); ok && in.Type.Kind != schema.Struct && in.Type.Kind != schema.Null {
				return nil, "extra_info is " + in.Type.String() + ", which holds no field", nil
			}
			n.empty[i] = true
			continue
		case f.Type.Kind != schema.Int:
			return nil, "the index is " + f.Type.String() + ", which has no next number", nil
		}
		if kinds = append(kinds, f.Type); n.kind.Kind == schema.Missing {
			n.kind = f.Type
		}
		err := r.Scan(ctx, i, []schema.Path{extraIndex}, func(row schema.Row) {
			v := row.At(0)
			if v.IsNull() {
				n.empty[i] = true
				return
			}
			n.top = max(n.top, v.Int())
			if v.Int() >= 0 && v.Int() < n.rows {
				n.used.add(v.Int())
			}
		})
		if err != nil {
			return nil, "", err
		}
	}
	if n.kind.Kind == schema.Missing {
		n.kind = schema.Int64Type
	}
	for _, kind := range append(kinds, n.kind) {
		if last := max(n.top, n.rows-1); last > math.MaxInt64-n.rows-1 || !fits(last+n.rows+1, kind) {
			return nil, "the indices leave no room for others in " + kind.String(), nil
		}
	}
	return n, "", nil
}

func fits(i int64, t schema.Type) bool {
	if t.Bits >= 64 {
		return true
	}
	width := t.Bits
	if !t.Unsigned {
		width--
	}
	return i < 1<<width
}

// free is a number that no row of the dataset has: that of row, which counts from 0 in the dataset, where it is free.
func (n *numbers) free(row int64) int64 {
	if !n.used.has(row) {
		return row
	}
	return max(n.top, n.rows-1) + 1 + row
}

// fillIndex writes an index where it is null or missing, in all files of the dataset, with numbers that no row has.
func fillIndex(title string) rule.Fix {
	return rule.Fix{Title: title, Dataset: true, Plan: planIndices}
}

func planIndices(ctx context.Context, r rule.FixRequest) (string, error) {
	n, why, err := readNumbers(ctx, r)
	if err != nil || why != "" {
		return why, err
	}
	for _, i := range r.Dataset() {
		if !n.empty[i] {
			continue
		}
		first := n.first[i]
		makeRoom(r, i, n.kind)
		kind := n.kind
		if f, ok := r.Facts(i).Schema.Lookup(extraIndex); ok && f.Type.Kind == schema.Int {
			kind = f.Type
		}
		r.Add(i, extraIndex, fixes.Computed{Put: transform.Put{Path: extraIndex, Type: kind, OnExisting: transform.Fill},
			Value: func(row schema.Row) (schema.Value, string) { return schema.IntValue(n.free(first + row.Number())), "" }})
	}
	return "", nil
}

// makeRoom gives what is of null type on the way to the index a type.
func makeRoom(r rule.FixRequest, file int, kind schema.Type) {
	s := r.Facts(file).Schema
	parent := extraIndex.Parent()
	if f, ok := s.Lookup(extraIndex); ok && f.Type.Kind == schema.Null {
		r.Add(file, extraIndex, transform.Cast{Path: extraIndex, To: kind})
	}
	if f, ok := s.Lookup(parent); ok && f.Type.Kind == schema.Null {
		r.Add(file, extraIndex, transform.Cast{Path: parent, To: schema.StructOf(schema.NewField(extraIndex.Base(), kind))})
	}
}

// renumberIndex gives every row whose index a row before it has a number that no row has. The first row keeps its own.
func renumberIndex(title string) rule.Fix {
	return rule.Fix{Title: title, Dataset: true, Plan: planNumbers}
}

func planNumbers(ctx context.Context, r rule.FixRequest) (string, error) {
	n, why, err := readNumbers(ctx, r)
	if err != nil || why != "" {
		return why, err
	}
	seen, far := make(bits, n.rows/64+1), map[int64]bool{}
	again := make(bits, n.rows/64+1)
	for _, i := range r.Dataset() {
		first, found := n.first[i], false
		err := r.Scan(ctx, i, []schema.Path{extraIndex}, func(row schema.Row) {
			v := row.At(0)
			if v.Kind() != schema.Int {
				return
			}
			if n.repeats(v.Int(), seen, far) {
				again.add(first + row.Number())
				found = true
			}
		})
		if err != nil {
			return "", err
		}
		if !found {
			continue
		}
		kind, _ := r.Facts(i).Schema.Lookup(extraIndex)
		r.Add(i, extraIndex, fixes.Computed{Put: transform.Put{Path: extraIndex, Type: kind.Type, OnExisting: transform.Replace}, Reads: []schema.Path{extraIndex},
			Value: func(row schema.Row) (schema.Value, string) {
				if at := first + row.Number(); again.has(at) {
					return schema.IntValue(n.free(at)), ""
				}
				return row.At(0), ""
			}})
	}
	return "", nil
}

// repeats notes an index and reports whether it was there before. Those of a dataset are nearly always below the number of its
// rows; the others are kept one by one.
func (n *numbers) repeats(i int64, seen bits, far map[int64]bool) bool {
	if i < 0 || i >= n.rows {
		was := far[i]
		far[i] = true
		return was
	}
	was := seen.has(i)
	seen.add(i)
	return was
}

// moveIndex moves the column index to where verl looks for it.
func moveIndex(title string) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		const from schema.Path = "index"
		t := transform.Copy{From: from, To: extraIndex, If: transform.Fill}
		if why := r.Misfit(r.File(), t); why != "" {
			return why, nil
		}
		r.Add(r.File(), extraIndex, t)
		r.Add(r.File(), from, transform.Drop{Paths: []schema.Path{from}})
		return "", nil
	}}
}

// castIndex makes an index of floats one of integers, in all files of the dataset.
func castIndex(title string) rule.Fix {
	return rule.Fix{Title: title, Dataset: true, Plan: planIntegers}
}

func planIntegers(_ context.Context, r rule.FixRequest) (string, error) {
	var floats []int
	for _, i := range r.Dataset() {
		switch f, _ := r.Facts(i).Schema.Lookup(extraIndex); f.Type.Kind {
		case schema.Missing, schema.Null, schema.Int:
		case schema.Float:
			floats = append(floats, i)
		default:
			return "in " + r.Facts(i).Name + " it is " + f.Type.String(), nil
		}
	}
	for _, i := range floats {
		r.Add(i, extraIndex, fixes.Computed{Put: transform.Put{Path: extraIndex, Type: schema.Int64Type, OnExisting: transform.Replace}, Reads: []schema.Path{extraIndex}, Value: wholeNumber})
	}
	return "", nil
}

// wholeNumber makes a float the integer that it is; NaN is what pandas has for none.
func wholeNumber(row schema.Row) (schema.Value, string) {
	switch v := row.At(0); {
	case v.Kind() != schema.Float || math.IsNaN(v.Float()):
		return schema.NullValue, ""
	case v.Float() != math.Trunc(v.Float()) || math.Abs(v.Float()) >= 1<<53:
		return schema.NullValue, v.Excerpt(40) + " is no integer"
	default:
		return schema.IntValue(int64(v.Float())), ""
	}
}
