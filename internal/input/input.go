// Package input makes opened files the input of a pipeline: it numbers them, cuts them into ranges and answers from their footers.
package input

import (
	"context"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Set is opened files as the input of a pipeline, and the facts that their footers give.
type Set struct {
	files    []*rule.File
	open     []*source.File
	overhead []float64 // of a Parquet file: its bytes by those of its row groups
	// Splits are those of the output.
	Splits []pipeline.Split
	// KeepRowGroups never cuts a row group, whatever its size: it is copied, not decoded.
	KeepRowGroups bool
}

// New returns the files of set in their order, each split as it is.
func New(set *source.Set) *Set { return Derive(set, nil) }

// Derive is New where a split of the input may become several of the output: each of them then has the files. derive returns the names of
// those of one split; nil: each split becomes itself.
func Derive(set *source.Set, derive func(from string) []string) *Set {
	s := &Set{}
	for _, sp := range set.Splits {
		into := []string{sp.Name}
		if derive != nil {
			into = derive(sp.Name)
		}
		for _, name := range into {
			p := pipeline.Split{Name: name}
			for _, f := range sp.Files {
				file := f.File
				if name != sp.Name {
					other := *f.File
					other.Split, other.Val = name, name == "validation" || name == "test"
					file = &other
				}
				file.Index = len(s.files)
				p.Files = append(p.Files, file.Index)
				s.files = append(s.files, file)
				s.open = append(s.open, f)
				s.overhead = append(s.overhead, overhead(f))
			}
			s.Splits = append(s.Splits, p)
		}
	}
	return s
}

func overhead(f *source.File) float64 {
	if f.Parquet == nil {
		return 1
	}
	var packed int64
	for _, g := range f.Parquet.RowGroups() {
		packed += g.Compressed
	}
	return float64(f.Bytes) / float64(max(1, packed))
}

// Names returns the names of all files, as the user gave them.
func Names(set *source.Set) []string {
	var out []string
	for _, f := range set.Files() {
		out = append(out, f.Name)
	}
	return out
}

// ByName returns the files in the order of their names, with whole row groups and no splits, for commands that know none.
func ByName(set *source.Set) *Set {
	s := &Set{KeepRowGroups: true, open: set.Files()}
	slices.SortStableFunc(s.open, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range s.open {
		f.File.Index = i
		s.files = append(s.files, f.File)
		s.overhead = append(s.overhead, overhead(f))
	}
	return s
}

// Source returns the opened file behind Files()[i]. The source.Set that it came from closes it.
func (s *Set) Source(i int) *source.File { return s.open[i] }

// Files implements pipeline.Input.
func (s *Set) Files() []*rule.File { return s.files }

// Ranges implements pipeline.Input.
func (s *Set) Ranges(file int) ([]pipeline.ReadRange, error) {
	var out []pipeline.ReadRange
	units := s.open[file].ReadRanges(0)
	if s.KeepRowGroups {
		units = s.open[file].WholeRanges()
	}
	for _, u := range units {
		out = append(out, s.readRange(file, u))
	}
	return out, nil
}

func (s *Set) readRange(file int, u source.ReadRange) pipeline.ReadRange {
	p := pipeline.ReadRange{File: file, RowGroup: u.RowGroup, FileRow: u.FileRow, Rows: u.Rows, Bytes: u.Bytes, Packed: u.Bytes, Whole: u.Whole, Handle: u}
	if f := s.open[file].Parquet; f != nil {
		g := f.RowGroups()[u.RowGroup]
		p.Packed = int64(float64(g.Compressed) * s.overhead[file] * (float64(u.Rows) / float64(g.Rows)))
	}
	return p
}

// Cut implements pipeline.Input.
func (s *Set) Cut(p pipeline.ReadRange, rows int64) (a, b pipeline.ReadRange, err error) {
	x, y := p.Handle.(source.ReadRange).Cut(rows)
	return s.readRange(p.File, x), s.readRange(p.File, y), nil
}

// Chunk implements pipeline.Facts.
func (s *Set) Chunk(p pipeline.ReadRange, leaf int) (rule.ColumnFacts, bool, error) {
	f := s.open[p.File].Parquet
	if f == nil {
		return rule.ColumnFacts{}, false, nil
	}
	c, err := f.Chunk(p.RowGroup, leaf)
	c.Nulls = nullsIn(f, p, leaf, c.Nulls)
	return c, err == nil, err
}

// Nulls implements pipeline.Facts.
func (s *Set) Nulls(p pipeline.ReadRange, leaf int) (int64, error) {
	f := s.open[p.File].Parquet
	if f == nil {
		return -1, nil
	}
	n, err := f.CountNulls(p.RowGroup, leaf)
	return nullsIn(f, p, leaf, n), err
}

// nullsIn returns how many of the nulls that a leaf has in a row group are in p, which may be a part of it; -1: unknown.
func nullsIn(f *parquetio.File, p pipeline.ReadRange, leaf int, nulls int64) int64 {
	rows := f.RowGroups()[p.RowGroup].Rows
	switch {
	case nulls <= 0 || p.Rows == rows:
		return nulls
	case nulls == rows && f.Schema().Leaves()[leaf].MaxRep == 0:
		return p.Rows
	}
	return -1
}

// Raw implements pipeline.Facts.
func (s *Set) Raw(p pipeline.ReadRange, leaf int) *record.Raw {
	f := s.open[p.File].Parquet
	if f == nil || !p.Whole {
		return nil
	}
	return f.Raw(p.RowGroup, leaf)
}

// Unchanged implements pipeline.Input.
func (s *Set) Unchanged(file int) error { return s.open[file].Unchanged() }

// Open implements pipeline.Input.
func (s *Set) Open(ctx context.Context, p pipeline.ReadRange, decode []int) (pipeline.Reader, error) {
	return s.open[p.File].Open(ctx, p.Handle.(source.ReadRange), decode)
}

// Counts implements pipeline.Facts.
func (s *Set) Counts(p pipeline.ReadRange, leaf int) (nulls, bytes int64) {
	f := s.open[p.File].Parquet
	if f == nil {
		return -1, 0
	}
	return f.Counts(p.RowGroup, leaf)
}
