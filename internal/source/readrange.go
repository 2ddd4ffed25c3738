package source

import "github.com/rlprep/rlprep/internal/jsonl"

// Sizes of units.
const (
	DefaultRangeBytes = 32 << 20  // of a line format
	maxGroupBytes     = 128 << 20 // of a row group, uncompressed: a larger one is cut
)

// A ReadRange is a run of rows that is read at once and becomes one row group: a row group of a Parquet file or a part of one,
// or a range of rows of a line format. Where it begins and ends depends on sizes alone.
type ReadRange struct {
	File     *File
	FileRow  int64 // number in the file of its first row
	Rows     int64
	RowGroup int   // -1 in line formats
	InGroup  int64 // number in the row group of its first row
	Whole    bool  // all rows of its row group: column chunks can be copied undecoded
	Bytes    int64 // uncompressed, about

	// Of line formats: reading begins at from, and skips skip rows.
	from jsonl.Spot
	skip int64
}

// ReadRanges cuts f into ranges. A line format is cut into pieces of about target bytes (0: DefaultRangeBytes); of a Parquet file
// each row group is one, except those of more than 128 MiB uncompressed, which are cut into equal parts.
func (f *File) ReadRanges(target int64) []ReadRange {
	if f.Parquet != nil {
		return f.groups(maxGroupBytes)
	}
	if target <= 0 {
		target = DefaultRangeBytes
	}
	return f.ranges(target)
}

// WholeRanges is ReadRanges without cutting a row group, whatever its size.
func (f *File) WholeRanges() []ReadRange {
	if f.Parquet != nil {
		return f.groups(0)
	}
	return f.ranges(DefaultRangeBytes)
}

func (f *File) groups(limit int64) []ReadRange {
	var out []ReadRange
	first := int64(0)
	for i, g := range f.Parquet.RowGroups() {
		parts := int64(1)
		if limit > 0 && g.Uncompressed > limit {
			parts = min((g.Uncompressed+limit-1)/limit, g.Rows)
		}
		for k := range parts {
			from, to := g.Rows*k/parts, g.Rows*(k+1)/parts
			if from < to {
				out = append(out, ReadRange{File: f, FileRow: first + from, Rows: to - from, RowGroup: i, InGroup: from, Whole: parts == 1,
					Bytes: g.Uncompressed / parts})
			}
		}
		first += g.Rows
	}
	return out
}

func (f *File) ranges(target int64) []ReadRange {
	var out []ReadRange
	for _, r := range f.layout.Ranges(target) {
		out = append(out, ReadRange{File: f, FileRow: r.FirstRow, Rows: r.Rows, RowGroup: -1, Bytes: r.Bytes, from: r.From, skip: r.Skip})
	}
	return out
}

// Cut cuts u after its first rows rows; it reads nothing. A part without rows is the zero ReadRange but for its File.
func (u ReadRange) Cut(rows int64) (a, b ReadRange) {
	switch {
	case rows <= 0:
		return ReadRange{File: u.File, RowGroup: u.RowGroup}, u
	case rows >= u.Rows:
		return u, ReadRange{File: u.File, RowGroup: u.RowGroup}
	}
	a, b = u, u
	a.Rows, b.Rows = rows, u.Rows-rows
	a.Bytes = int64(float64(u.Bytes) * (float64(rows) / float64(u.Rows)))
	b.Bytes = u.Bytes - a.Bytes
	b.FileRow += rows
	if u.RowGroup >= 0 {
		b.InGroup += rows
		a.Whole, b.Whole = false, false
		return a, b
	}
	b.from, b.skip = u.File.layout.At(b.FileRow)
	return a, b
}
