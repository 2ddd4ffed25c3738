package mend

import (
	"context"
	"math"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// indexPath is where verl looks for a row's index (rl_dataset.py, __getitem__).
const indexPath schema.Path = "extra_info.index"

// Numbers are the indices of a dataset.
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

// numbers reads the indices of the dataset; why says why they are none that could be added to.
func (p *planner) numbers(ctx context.Context, r *request) (n *numbers, why string, err error) {
	n = &numbers{first: map[int]int64{}, top: -1, empty: map[int]bool{}}
	for _, i := range r.whole {
		n.first[i] = n.rows
		n.rows += p.files[i].Rows
	}
	n.used = make(bits, n.rows/64+1)
	var kinds []schema.Type
	for _, i := range r.whole {
		f, ok := p.files[i].Schema.Lookup(indexPath)
		switch {
		case !ok || f.Type.Kind == schema.Null:
			if in, ok := p.files[i].Schema.Lookup(indexPath.Parent()); ok && in.Type.Kind != schema.Struct && in.Type.Kind != schema.Null {
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
		err := p.scan(ctx, i, []schema.Path{indexPath}, func(row schema.Row) {
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

// fillIndex writes an index where there is none, in all files of the dataset.
func (p *planner) fillIndex(ctx context.Context, r *request) (string, error) {
	n, why, err := p.numbers(ctx, r)
	if err != nil || why != "" {
		return why, err
	}
	for _, i := range r.whole {
		if !n.empty[i] {
			continue
		}
		first := n.first[i]
		p.makeRoom(r, i, n.kind)
		kind := n.kind
		if f, ok := p.files[i].Schema.Lookup(indexPath); ok && f.Type.Kind == schema.Int {
			kind = f.Type
		}
		p.add(r, i, indexPath, computed{put: transform.Put{Path: indexPath, Type: kind, If: transform.Fill},
			value: func(row schema.Row) (schema.Value, string) { return schema.IntValue(n.free(first + row.Number())), "" }})
	}
	return "", nil
}

// makeRoom gives what is of null type on the way to the index a type.
func (p *planner) makeRoom(r *request, file int, kind schema.Type) {
	s := p.files[file].Schema
	parent := indexPath.Parent()
	if f, ok := s.Lookup(indexPath); ok && f.Type.Kind == schema.Null {
		p.add(r, file, indexPath, transform.Cast{Path: indexPath, To: kind})
	}
	if f, ok := s.Lookup(parent); ok && f.Type.Kind == schema.Null {
		p.add(r, file, indexPath, transform.Cast{Path: parent, To: schema.StructOf(schema.NewField(indexPath.Base(), kind))})
	}
}

// renumberIndex gives rows whose index a row before them has another one. The first row keeps its own.
func (p *planner) renumberIndex(ctx context.Context, r *request) (string, error) {
	n, why, err := p.numbers(ctx, r)
	if err != nil || why != "" {
		return why, err
	}
	seen, far := make(bits, n.rows/64+1), map[int64]bool{}
	again := make(bits, n.rows/64+1)
	for _, i := range r.whole {
		first, found := n.first[i], false
		err := p.scan(ctx, i, []schema.Path{indexPath}, func(row schema.Row) {
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
		kind, _ := p.files[i].Schema.Lookup(indexPath)
		p.add(r, i, indexPath, computed{transform.Put{Path: indexPath, Type: kind.Type, If: transform.Replace}, []schema.Path{indexPath},
			func(row schema.Row) (schema.Value, string) {
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
