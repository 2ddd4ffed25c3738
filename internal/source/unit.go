package source

import "sort"

// Sizes of units.
const (
	DefaultUnitBytes = 32 << 20  // of a line format
	maxGroupBytes    = 128 << 20 // of a row group, uncompressed: a larger one is cut
)

// A Unit is a run of rows that is read at once and becomes one row group: a row group of a Parquet file or a part of one,
// or a range of rows of a line format. Where it begins and ends depends on sizes alone.
type Unit struct {
	File     *File
	First    int64 // number in the file of its first row
	Rows     int64
	RowGroup int   // -1 in line formats
	InGroup  int64 // number in the row group of its first row
	Whole    bool  // all rows of its row group: column chunks can be carried undecoded
	Bytes    int64 // uncompressed, about

	// Of line formats. Reading begins at Offset, on line FirstLine, and passes over Skip rows.
	Offset    int64
	FirstLine int64
	Skip      int64

	lineStart int64
}

// Units cuts f into units. A line format is cut into pieces of about target bytes (0: DefaultUnitBytes); of a Parquet file
// each row group is one, but for those of more than 128 MiB uncompressed, which are cut into equal parts.
func (f *File) Units(target int64) []Unit {
	if f.Parquet != nil {
		return f.groups(maxGroupBytes)
	}
	if target <= 0 {
		target = DefaultUnitBytes
	}
	return f.ranges(target)
}

// WholeUnits is Units without cutting a row group, whatever its size.
func (f *File) WholeUnits() []Unit {
	if f.Parquet != nil {
		return f.groups(0)
	}
	return f.ranges(DefaultUnitBytes)
}

func (f *File) groups(limit int64) []Unit {
	var out []Unit
	first := int64(0)
	for i, g := range f.Parquet.RowGroups() {
		parts := int64(1)
		if limit > 0 && g.Uncompressed > limit {
			parts = min((g.Uncompressed+limit-1)/limit, g.Rows)
		}
		for k := range parts {
			from, to := g.Rows*k/parts, g.Rows*(k+1)/parts
			if from < to {
				out = append(out, Unit{File: f, First: first + from, Rows: to - from, RowGroup: i, InGroup: from, Whole: parts == 1,
					Bytes: g.Uncompressed / parts})
			}
		}
		first += g.Rows
	}
	return out
}

func (f *File) ranges(target int64) []Unit {
	l := f.layout
	var out []Unit
	for i := 0; i < len(l.spots); {
		j := i + 1
		for j < len(l.spots) && l.spots[j].offset-l.spots[i].offset < target {
			j++
		}
		u := f.unitAt(l.spots[i])
		u.Rows, u.Bytes = l.rows-u.First, l.end-u.Offset
		if j < len(l.spots) {
			u.Rows, u.Bytes = l.spots[j].row-u.First, l.spots[j].offset-u.Offset
		}
		out = append(out, u)
		i = j
	}
	return out
}

func (f *File) unitAt(s spot) Unit {
	return Unit{File: f, First: s.row, RowGroup: -1, Offset: s.offset, FirstLine: s.line, lineStart: s.lineStart}
}

// Cut cuts u behind its first rows rows; it reads nothing. A part without rows is the zero Unit but for its File.
func (u Unit) Cut(rows int64) (a, b Unit) {
	switch {
	case rows <= 0:
		return Unit{File: u.File, RowGroup: u.RowGroup}, u
	case rows >= u.Rows:
		return u, Unit{File: u.File, RowGroup: u.RowGroup}
	}
	a, b = u, u
	a.Rows, b.Rows = rows, u.Rows-rows
	a.Bytes = int64(float64(u.Bytes) * (float64(rows) / float64(u.Rows)))
	b.Bytes = u.Bytes - a.Bytes
	b.First += rows
	if u.RowGroup >= 0 {
		b.InGroup += rows
		a.Whole, b.Whole = false, false
		return a, b
	}
	spots := u.File.layout.spots
	i := sort.Search(len(spots), func(i int) bool { return spots[i].row > b.First }) - 1
	at := u.File.unitAt(spots[i])
	b.Offset, b.FirstLine, b.lineStart, b.Skip = at.Offset, at.FirstLine, at.lineStart, b.First-at.First
	return a, b
}
