package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// A Size says how large the shards of a split are to be: one of its fields; none: one shard.
type Size struct {
	Shards int   // so many, of nearly the same number of rows
	Rows   int64 // so many rows each
	Bytes  int64 // at most about so many bytes each, of the file
	// Along cuts along row groups where that is near to what is asked for, so that they are copied undecoded.
	Along bool
}

const (
	// near is how far a border may be from where it would be best, as a part of a shard, to lie between two row groups.
	near = 0.05
	// maxShards bounds what a slip of the finger can ask for.
	maxShards = 100000
	// trialRows and trialBytes bound what is encoded once more to learn how large rows will be.
	trialRows  = 16384
	trialBytes = 32 << 20
)

// cut makes the tasks of a split.
func (p *Plan) cut(s Split) error {
	parts, rows, err := p.parts(s)
	if err != nil || rows == 0 {
		return err
	}
	sizes, err := p.sizes(s, parts, rows)
	if err != nil {
		return err
	}
	var number int64
	for i, want := range sizes {
		t := &Task{Index: len(p.Tasks), Split: s.Name, Shard: i, Of: len(sizes), First: number, Rows: want}
		if p.Job.ShardName != nil {
			t.Name = p.Job.ShardName(s.Name, i, len(sizes))
		}
		var mine []Part
		if mine, parts, err = p.take(parts, want); err != nil {
			return err
		}
		if mine, err = p.cutHuge(s, mine); err != nil {
			return err
		}
		t.Units = p.units(s, mine, number)
		number += want
		p.Tasks = append(p.Tasks, t)
	}
	p.Rows += rows
	return nil
}

// sizes returns the number of rows of each shard.
func (p *Plan) sizes(s Split, parts []Part, rows int64) ([]int64, error) {
	size := p.Job.Size
	switch {
	case size.Rows > 0:
		return p.chop(s, rows, (rows+size.Rows-1)/size.Rows, func(i int64) int64 { return min(rows, i*size.Rows) })
	case size.Bytes > 0 && size.Along:
		return p.fit(s, parts, size.Bytes)
	case size.Bytes > 0:
		one, err := p.bytesPerRow(s, parts)
		if err != nil {
			return nil, err
		}
		n := int64(math.Ceil(one * float64(rows) / float64(size.Bytes)))
		return p.even(s, parts, rows, max(1, min(n, rows)))
	}
	n := int64(max(1, size.Shards))
	if n > rows {
		return nil, &UsageError{fmt.Errorf("split %s: %d shards of %d rows: a shard needs a row", s.Name, n, rows)}
	}
	return p.even(s, parts, rows, n)
}

// even returns n sizes of nearly the same number of rows. With Along a border that is near one between two parts moves there.
func (p *Plan) even(s Split, parts []Part, rows, n int64) ([]int64, error) {
	var ends []int64 // of the parts
	if p.Job.Size.Along {
		end := int64(0)
		for _, part := range parts {
			end += part.Rows
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
		return nil, &UsageError{fmt.Errorf("split %s: that would be %d shards of %d rows: ask for larger ones", s.Name, n, rows)}
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
func (p *Plan) fit(s Split, parts []Part, size int64) ([]int64, error) {
	var ends []int64
	var bytes, end int64
	for _, part := range parts {
		if bytes > 0 && bytes+part.Packed > size {
			ends = append(ends, end)
			bytes = 0
		}
		pieces := min((part.Packed+size-1)/size, part.Rows)
		for k := int64(1); k < pieces; k++ {
			ends = append(ends, end+part.Rows*k/pieces)
		}
		bytes += part.Packed / max(1, pieces)
		end += part.Rows
	}
	ends = append(ends, end)
	return p.chop(s, end, int64(len(ends)), func(i int64) int64 { return ends[i-1] })
}

// bytesPerRow is how large a row of the output is, by the first rows of the input.
func (p *Plan) bytesPerRow(s Split, parts []Part) (float64, error) {
	rows, bytes := int64(0), int64(0)
	for _, part := range parts {
		rows, bytes = rows+part.Rows, bytes+part.Bytes
	}
	if bytes > trialBytes {
		rows = max(1, int64(float64(rows)*trialBytes/float64(bytes)))
	}
	mine, _, err := p.take(slices.Clone(parts), min(rows, trialRows))
	if err != nil {
		return 0, err
	}
	job := *p.Job
	job.Rules, job.KeepRejects = nil, false
	trial := &Plan{Job: &job, Schemas: p.Schemas, programs: p.programs}
	w := newWorker(trial)
	var in, out int64
	for _, u := range trial.units(s, mine, 0) {
		r := w.unit(context.Background(), &Task{Split: s.Name}, u)
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

// A Decoded part is one of which some columns are decoded and encoded anew although nothing was asked of them. One that is
// not Whole lies, in pieces, on both sides of a border between shards.
type Decoded struct {
	Part
	Columns []schema.Path // nil: all
}

// Decoded lists the parts of a plan without steps that do not go out as they came.
func (p *Plan) Decoded() []Decoded {
	var out []Decoded
	for _, t := range p.Tasks {
		leaves := p.Schemas[t.Split].Leaves()
		for _, u := range t.Units {
			for _, part := range u.Parts {
				d := Decoded{Part: part}
				raw := p.rawOf(Split{Name: t.Split}, part)
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
				if n := len(out) - 1; n >= 0 && out[n].File == part.File && out[n].RowGroup == part.RowGroup {
					out[n].Rows += part.Rows
					continue
				}
				out = append(out, d)
			}
		}
	}
	return out
}

// parts lists the parts of a split, up to the job's limit.
func (p *Plan) parts(s Split) (out []Part, rows int64, err error) {
	for _, f := range s.Files {
		parts, err := p.Job.Source.Parts(f)
		if err != nil {
			return nil, 0, err
		}
		for _, part := range parts {
			if part.Rows > 0 {
				out = append(out, part)
				rows += part.Rows
			}
		}
	}
	for _, limit := range []int64{p.Job.Limit, s.Limit} {
		if limit > 0 && rows > limit {
			if out, _, err = p.take(out, limit); err != nil {
				return nil, 0, err
			}
			rows = limit
		}
	}
	return out, rows, nil
}

// take splits parts after so many rows.
func (p *Plan) take(parts []Part, rows int64) (mine, rest []Part, err error) {
	for i, part := range parts {
		if rows == 0 {
			return mine, parts[i:], nil
		}
		if part.Rows <= rows {
			mine = append(mine, part)
			rows -= part.Rows
			continue
		}
		a, b, err := p.Job.Source.Cut(part, rows)
		if err != nil {
			return nil, nil, err
		}
		return append(mine, a), append([]Part{b}, parts[i+1:]...), nil
	}
	return mine, nil, nil
}

// units joins parts into row groups: one by one where chunks can be copied as they are, else up to groupBytes.
func (p *Plan) units(s Split, parts []Part, number int64) []Unit {
	var out []Unit
	var bytes int64
	open := false // the last unit may take more
	for _, part := range parts {
		alone := p.Job.Sink == nil || p.copies(s, part)
		if n := len(out); open && !alone && bytes+part.Bytes <= groupBytes {
			out[n-1].Parts = append(out[n-1].Parts, part)
			out[n-1].Rows += part.Rows
			bytes += part.Bytes
		} else {
			out = append(out, Unit{Parts: []Part{part}, Number: number, Rows: part.Rows})
			bytes = part.Bytes
		}
		open = !alone
		number += part.Rows
	}
	return out
}

// copies reports whether some chunk of part goes out undecoded.
func (p *Plan) copies(s Split, part Part) bool {
	return slices.ContainsFunc(p.rawOf(s, part), notNil)
}

// rawOf returns what goes out undecoded of a part that is a unit by itself, by leaf of the output.
func (p *Plan) rawOf(s Split, part Part) []*record.Raw {
	m := &machine{job: p.Job, part: part, prog: p.programs[s.Name][part.File]}
	m.raw = newRaw(m.prog)
	if part.Whole {
		m.resolve()
		m.takeRaw()
	}
	return m.raw
}

// stays reports whether a part is to be a row group as it is, whatever its size.
func (p *Plan) stays(s Split, part Part) bool {
	return part.Whole && (p.Job.Keep || part.Bytes <= hugeBytes && p.copies(s, part))
}

// hugeBytes is how large a row group may be, uncompressed, of which something is copied: what is encoded of it is held until it is whole.
const hugeBytes = 1 << 30

// cutHuge cuts parts of row groups that will be decoded where they would make row groups that are too large.
func (p *Plan) cutHuge(s Split, parts []Part) ([]Part, error) {
	var out []Part
	for _, part := range parts {
		n := int64(1)
		if p.Job.Sink != nil && part.RowGroup >= 0 && !p.stays(s, part) {
			n = min((part.Bytes+2*groupBytes-1)/(2*groupBytes), part.Rows)
		}
		for ; n > 1; n-- {
			a, b, err := p.Job.Source.Cut(part, part.Rows/n)
			if err != nil {
				return nil, err
			}
			out, part = append(out, a), b
		}
		out = append(out, part)
	}
	return out, nil
}
