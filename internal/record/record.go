// Package record holds rows on their way: a Batch, leaf by leaf, each leaf decoded only where something reads it.
package record

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/schema"
)

// A Batch is a run of rows of one row group. One stage owns it at a time. Its memory is the collector's; views of it
// (schema.Row, schema.Value) are valid as long as the batch is referenced by its owner.
type Batch struct {
	Schema *schema.Schema
	Leaves []Leaf // in the order of Schema.Leaves()
	Rows   int

	File      string // as the user named it
	RowGroup  int    // -1 in line formats
	FileRow   int64  // of the file's row that is row 0 of the batch as it was read
	FirstLine int64  // of its line, from 1; 0 in files without lines
	SplitRow  int64  // number within the split of that row
	// From is set where rows were put into another order: where each row, as it was read, is from. Nil: they are consecutive rows of File.
	From []InputRow
	// Source maps each row to the row of the batch as it was read; nil: unchanged.
	Source []int32
	// Lines maps each row as it was read to its line, where lines and rows do not run together (blank lines); nil: they do.
	Lines []int64
	// Faults are rows that the reader could not take as their columns ask (a wrong type in JSON Lines), in order. Such a
	// row is in the batch, with nulls.
	Faults []Fault
}

// An InputRow is the place of a row in the input.
type InputRow struct {
	Number    int64 // within the split
	File      int   // number of its file in the job
	Name      string
	RowGroup  int
	Row, Line int64
}

// A Fault is a row, as numbered in the batch as it was read, that the reader could not take.
type Fault struct {
	Row     int32
	Reason  string // for counting: "wrong-type"
	Path    schema.Path
	Message string
	Value   string // the value found, cut
	Unread  bool   // nothing of the row could be read: it has nulls alone
}

// A Leaf is one leaf of a batch. Vec or one of Raw, Const and Seq is set; Raw and Vec both where a column that is copied is
// read as well.
type Leaf struct {
	schema.Leaf
	Raw   *Raw          // the whole column chunk, undecoded; the batch is a part of its rows
	Const *schema.Value // one value for all rows; its parents are present
	Seq   *Seq          // numbers of the source rows
	Vec   *Vector
}

// A Seq is Start plus the number, within the split, of the source row of each row.
type Seq struct{ Start int64 }

// A Raw is a column chunk that is carried undecoded. Chunk is internal/parquetio's.
type Raw struct{ Chunk any }

// A Vector is the decoded values of a leaf.
type Vector struct {
	// Values holds one value for each entry whose definition level is the leaf's MaxDef: *array.String or *array.Binary
	// (Text), *array.Binary, *array.FixedSizeBinary, *array.Boolean, *array.Int32, *array.Int64, *array.Float32,
	// *array.Float64. It has no nulls of its own.
	Values arrow.Array
	// Def and Rep are the levels of each entry. Def nil: every entry is at MaxDef; Rep nil: every entry begins a row.
	Def, Rep []uint8
	Rows     int
}

// Entries returns the number of entries, values and nulls.
func (v *Vector) Entries() int {
	switch {
	case v.Def != nil:
		return len(v.Def)
	case v.Rep != nil:
		return len(v.Rep)
	}
	return v.Values.Len()
}

// Ints returns the values of a leaf of 64-bit integers.
func (v *Vector) Ints() []int64 { return v.Values.(*array.Int64).Int64Values() }

// RowsOf returns the rows that hold these of the vector's values, which are numbered from 0 and in order; maxDef is its leaf's.
func (v *Vector) RowsOf(values []int, maxDef uint8) []int {
	if v.Def == nil && v.Rep == nil {
		return values
	}
	var rows []int
	row, value := -1, 0
	for e := range v.Entries() {
		if v.Rep == nil || v.Rep[e] == 0 {
			row++
		}
		if v.Def != nil && v.Def[e] != maxDef {
			continue
		}
		if len(values) == 0 {
			break
		}
		if value == values[0] {
			values = values[1:]
			if len(rows) == 0 || rows[len(rows)-1] != row {
				rows = append(rows, row)
			}
		}
		value++
	}
	return rows
}

// ReadIndex returns the number, in the batch as it was read, of row i.
func (b *Batch) ReadIndex(i int) int {
	if b.Source == nil {
		return i
	}
	return int(b.Source[i])
}

// Number returns the number, within the split, of row i.
func (b *Batch) Number(i int) int64 {
	if b.From != nil {
		return b.From[b.ReadIndex(i)].Number
	}
	return b.SplitRow + int64(b.ReadIndex(i))
}

// Pos returns where row i, as numbered when it was read, stands in its file.
func (b *Batch) Pos(read int) schema.Pos {
	r := b.inputRow(read)
	p := schema.FilePos(r.Name)
	p.RowGroup, p.Row, p.Line = r.RowGroup, r.Row, r.Line
	return p
}

// inputRow returns where row i, as numbered when it was read, is from; Number and File are only set where rows were put into another order.
func (b *Batch) inputRow(read int) InputRow {
	if b.From != nil {
		return b.From[read]
	}
	row, line := b.place(read)
	return InputRow{Name: b.File, RowGroup: b.RowGroup, Row: row, Line: line}
}

// place returns the row and the line of a row of consecutive ones.
func (b *Batch) place(read int) (row, line int64) {
	line = -1
	switch {
	case b.Lines != nil:
		line = b.Lines[read]
	case b.FirstLine > 0:
		line = b.FirstLine + int64(read)
	}
	return b.FileRow + int64(read), line
}
