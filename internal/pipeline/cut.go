package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema"
)

// groupBytes is the size, uncompressed, up to which ranges are joined into one row group where it is encoded.
const groupBytes = 64 << 20

const (
	// near is how far a border may be from where it would be best, as a fraction of a shard, to lie between two row groups.
	near = 0.05
	// maxShards bounds what a typing mistake can ask for.
	maxShards = 100000
	// trialRows and trialBytes bound what is encoded once more to learn how large rows will be.
	trialRows  = 16384
	trialBytes = 32 << 20
)

// cut makes the tasks of a split.
func (p *Plan) cut(s Split) error {
	ranges, rows, err := p.ranges(s)
	if err != nil || rows == 0 {
		return err
	}
	sizes, err := p.sizes(s, ranges, rows)
	if err != nil {
		return err
	}
	o := p.Job.Output
	for i, want := range sizes {
		t := &Task{Index: len(p.Tasks), Split: s.Name, Shard: i, Of: len(sizes), SplitRow: ranges[0].number, Rows: want}
		if o != nil && o.ShardName != nil {
			t.Name = o.ShardName(s.Name, i, len(sizes))
		}
		var mine []ReadRange
		if mine, ranges, err = p.splitAfter(s, ranges, want); err != nil {
			return err
		}
		if i == len(sizes)-1 { // ranges of which nothing is kept
			mine = append(mine, ranges...)
		}
		if mine, err = p.cutHuge(s, mine); err != nil {
			return err
		}
		for _, r := range mine {
			p.Rows += r.Rows
		}
		t.RowGroups = p.rowGroups(s, mine)
		p.Tasks = append(p.Tasks, t)
	}
	return nil
}

// size is what the shards of a split are to be: one shard, where nothing is written.
func (p *Plan) size() Size {
	if p.Job.Output == nil {
		return Size{}
	}
	return p.Job.Output.Size
}

// sizes returns the number of rows of each shard.
func (p *Plan) sizes(s Split, ranges []ReadRange, rows int64) ([]int64, error) {
	size := p.size()
	switch {
	case size.Rows > 0:
		return p.chop(s, rows, (rows+size.Rows-1)/size.Rows, func(i int64) int64 { return min(rows, i*size.Rows) })
	case size.Bytes > 0 && size.SnapToRowGroups:
		return p.fit(s, ranges, size.Bytes)
	case size.Bytes > 0:
		one, err := p.bytesPerRow(s, ranges)
		if err != nil {
			return nil, err
		}
		n := int64(math.Ceil(one * float64(rows) / float64(size.Bytes)))
		return p.even(s, ranges, rows, max(1, min(n, rows)))
	}
	n := int64(max(1, size.Shards))
	if out := p.Job.Output; out != nil && out.Shards[s.Name] > 0 {
		n = int64(out.Shards[s.Name])
	}
	if n > rows {
		return nil, misuse.Errorf("split %s: %d shards of %d rows: a shard needs a row", s.Name, n, rows)
	}
	return p.even(s, ranges, rows, n)
}

// even returns n sizes of nearly the same number of rows. With SnapToRowGroups a border that is near one between two ranges moves there.
func (p *Plan) even(s Split, ranges []ReadRange, rows, n int64) ([]int64, error) {
	var ends []int64 // of the ranges
	if p.size().SnapToRowGroups {
		end := int64(0)
		for _, r := range ranges {
			end += r.passing
			ends = append(ends, end)
		}
	}
	slack := int64(near * float64(rows) / float64(n))
	return p.chop(s, rows, n, func(i int64) int64 {
		at := rows/n*i + min(i, rows%n)
		k, _ := slices.BinarySearch(ends, at)
		best, far := at, slack+1
		for _, j := range []int{k - 1, k} {
			if j >= 0 && j < len(ends) && max(ends[j]-at, at-ends[j]) < far {
				best, far = ends[j], max(ends[j]-at, at-ends[j])
			}
		}
		return best
	})
}

// chop returns the sizes of n shards of which the i-th, from 1, ends after border(i) rows.
func (p *Plan) chop(s Split, rows, n int64, border func(i int64) int64) ([]int64, error) {
	if n > maxShards {
		return nil, misuse.Errorf("split %s: that would be %d shards of %d rows: ask for larger ones", s.Name, n, rows)
	}
	out := make([]int64, 0, n)
	last := int64(0)
	for i := int64(1); i <= n; i++ {
		at := rows
		if i < n {
			at = border(i)
		}
		if at > last {
			out = append(out, at-last)
			last = at
		}
	}
	return out, nil
}

// fit fills shards with row groups as long as their bytes allow. A row group that is larger than a shard is cut.
func (p *Plan) fit(s Split, ranges []ReadRange, size int64) ([]int64, error) {
	var ends []int64
	var bytes, end int64
	for _, r := range ranges {
		if bytes > 0 && bytes+r.packed() > size {
			ends = append(ends, end)
			bytes = 0
		}
		pieces := min((r.packed()+size-1)/size, r.passing)
		for k := int64(1); k < pieces; k++ {
			ends = append(ends, end+r.passing*k/pieces)
		}
		bytes += r.packed() / max(1, pieces)
		end += r.passing
	}
	ends = append(ends, end)
	return p.chop(s, end, int64(len(ends)), func(i int64) int64 { return ends[i-1] })
}

// bytesPerRow is how large a row of the output is, by the first rows of the input.
func (p *Plan) bytesPerRow(s Split, ranges []ReadRange) (float64, error) {
	rows, bytes := int64(0), int64(0)
	for _, r := range ranges {
		rows, bytes = rows+r.passing, bytes+r.bytes()
	}
	if bytes > trialBytes {
		rows = max(1, int64(float64(rows)*trialBytes/float64(bytes)))
	}
	mine, _, err := p.splitAfter(s, slices.Clone(ranges), min(rows, trialRows))
	if err != nil {
		return 0, err
	}
	job, output := *p.Job, *p.Job.Output
	output.KeepRejects = false
	job.Rules.List, job.Output = nil, &output
	trial := *p
	trial.Job = &job
	w := newWorker(&trial, &job.Rules)
	var in, out int64
	for _, u := range trial.rowGroups(s, mine) {
		r := w.rowGroup(context.Background(), &Task{Split: s.Name}, u)
		if r.err != nil {
			return 0, r.err
		}
		in += r.rowsIn
		if r.group != nil {
			out += r.group.Size()
			r.group.Release()
		}
	}
	return float64(out) / float64(in), nil
}

// A Decoded range is one of which some columns are decoded and encoded although no step changes them. One that is not Whole is,
// in pieces, on both sides of a border between shards.
type Decoded struct {
	ReadRange
	Columns []schema.Path // nil: all
}

// Decoded lists the ranges of a plan without steps that are not copied whole.
func (p *Plan) Decoded() []Decoded {
	var out []Decoded
	for _, t := range p.Tasks {
		leaves := p.Schemas[t.Split].Leaves()
		for _, u := range t.RowGroups {
			for _, r := range u.Ranges {
				d := Decoded{ReadRange: r}
				raw := p.rawOf(t.Split, r)
				for i, c := range raw {
					if c == nil {
						d.Columns = append(d.Columns, leaves[i].Path)
					}
				}
				if len(d.Columns) == 0 {
					continue
				}
				if len(d.Columns) == len(raw) {
					d.Columns = nil
				}
				if n := len(out) - 1; n >= 0 && out[n].File == r.File && out[n].RowGroup == r.RowGroup {
					out[n].Rows += r.Rows
					continue
				}
				out = append(out, d)
			}
		}
	}
	return out
}

// ranges lists the ranges of a split, up to the job's limit, and how many of their rows are kept.
func (p *Plan) ranges(s Split) (out []ReadRange, kept int64, err error) {
	number := int64(0)
	for _, f := range s.Files {
		ranges, err := p.input.Ranges(f)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range ranges {
			if r.Rows > 0 {
				r.number, r.passing = number, r.Rows
				out = append(out, r)
				number += r.Rows
			}
		}
	}
	if s.places != nil {
		from, to := s.places(number)
		if _, out, err = p.splitAfter(s, out, from); err == nil {
			out, _, err = p.splitAfter(s, out, to-from)
		}
		if err != nil {
			return nil, 0, err
		}
		number = to - from
	}
	for _, limit := range []int64{p.Job.Limit, s.Limit} {
		if limit > 0 && number > limit {
			if out, _, err = p.splitAfter(s, out, limit); err != nil {
				return nil, 0, err
			}
			number = limit
		}
	}
	selection := p.lastSelection(s.Name)
	if selection == nil {
		return out, number, nil
	}
	for i := range out {
		r := &out[i]
		if r.passing, err = selection.passing(r.number, r.Rows); err != nil {
			return nil, 0, err
		}
		kept += r.passing
	}
	return out, kept, nil
}

// splitAfter splits ranges after so many rows that are kept.
func (p *Plan) splitAfter(s Split, ranges []ReadRange, rows int64) (mine, rest []ReadRange, err error) {
	for i, r := range ranges {
		if rows == 0 {
			return mine, ranges[i:], nil
		}
		if r.passing <= rows {
			mine = append(mine, r)
			rows -= r.passing
			continue
		}
		a, b, err := p.cutRange(s, r, rows)
		if err != nil {
			return nil, nil, err
		}
		return append(mine, a), append([]ReadRange{b}, ranges[i+1:]...), nil
	}
	return mine, nil, nil
}

// cutRange cuts a range after so many rows that are kept, at least one and not all.
func (p *Plan) cutRange(s Split, r ReadRange, kept int64) (a, b ReadRange, err error) {
	rows := kept
	if r.passing < r.Rows {
		selection := p.lastSelection(s.Name)
		rows += int64(sort.Search(int(r.Rows-kept), func(more int) bool { // so many are not kept among them
			n, failed := selection.passing(r.number, kept+int64(more))
			err = errors.Join(err, failed)
			return n >= kept
		}))
	}
	if err == nil {
		a, b, err = p.input.Cut(r, rows)
	}
	a.number, a.passing = r.number, kept
	b.number, b.passing = r.number+rows, r.passing-kept
	return a, b, err
}

// rowGroups joins ranges into row groups: one by one where chunks can be copied as they are, else up to groupBytes.
func (p *Plan) rowGroups(s Split, ranges []ReadRange) []RowGroupPlan {
	var out []RowGroupPlan
	var bytes int64
	open := false // the last row group may take more
	for _, r := range ranges {
		alone := p.Job.Output == nil || p.copies(s, r)
		if n := len(out); open && !alone && bytes+r.bytes() <= groupBytes {
			out[n-1].Ranges = append(out[n-1].Ranges, r)
			out[n-1].Rows += r.Rows
			bytes += r.bytes()
		} else {
			out = append(out, RowGroupPlan{Ranges: []ReadRange{r}, Rows: r.Rows})
			bytes = r.bytes()
		}
		open = !alone
	}
	return out
}

// copies reports whether some chunk of r goes out undecoded.
func (p *Plan) copies(s Split, r ReadRange) bool {
	return p.rawOf(s.Name, r).Any()
}

// stays reports whether r is to be a row group as it is, whatever its size.
func (p *Plan) stays(s Split, r ReadRange) bool {
	return r.Whole && (p.Job.PreserveLayout || r.bytes() <= hugeBytes && p.copies(s, r))
}

// hugeBytes is how large a row group may be, uncompressed, of which something is copied: what is encoded of it is held until it is whole.
const hugeBytes = 1 << 30

// cutHuge cuts ranges of row groups that will be decoded where they would make row groups that are too large.
func (p *Plan) cutHuge(s Split, ranges []ReadRange) ([]ReadRange, error) {
	var out []ReadRange
	for _, r := range ranges {
		n := int64(1)
		if p.Job.Output != nil && r.RowGroup >= 0 && !p.stays(s, r) {
			n = min((r.bytes()+2*groupBytes-1)/(2*groupBytes), r.passing)
		}
		for ; n > 1; n-- {
			a, b, err := p.cutRange(s, r, r.passing/n)
			if err != nil {
				return nil, err
			}
			out, r = append(out, a), b
		}
		out = append(out, r)
	}
	return out, nil
}

// bytes and packed are Bytes and Packed of the rows that are kept.
func (r ReadRange) bytes() int64 { return r.share(r.Bytes) }

func (r ReadRange) packed() int64 { return r.share(r.Packed) }

func (r ReadRange) share(n int64) int64 {
	if r.passing == r.Rows {
		return n
	}
	return int64(float64(n) * float64(r.passing) / float64(r.Rows))
}

// lastSelection is that of the last barrier of a split, nil where it has none or that one orders rows.
func (p *Plan) lastSelection(split string) (last *Selection) {
	for _, stage := range p.Stages[split] {
		if b, ok := stage.(*Barrier); ok {
			last = b.selection
		}
		if ordered(stage) {
			last = nil
		}
	}
	return last
}
