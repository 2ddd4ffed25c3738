package schema

import (
	"strconv"
	"strings"
)

// A Row is one sample on its way: a read-only view of the columns that its reader named (a transform's Plan.Reads, a rule's
// Reads), in that order. It is valid until the next row; what must live longer is cloned.
type Row interface {
	// At returns the value of Reads[i], resolved once a file; Missing where the file has no such column. For a path
	// with "[]" it is a list with the value of each element; null where the list itself is null.
	At(i int) Value
	// Number is the row's number within its split, counted over the source rows, so it does not change when rows are
	// dropped.
	Number() int64
	// Pos is where the row was read.
	Pos() Pos
}

// A Pos is where something stands. Numbers that do not apply are -1; NoPos has none.
type Pos struct {
	File     string // as the user named it
	RowGroup int    // from 0
	Row      int64  // from 0 within the file
	Line     int64  // from 1, in line formats
	Column   int    // from 1, in the line
	Path     Path
}

// FilePos is the position of a whole file.
func FilePos(file string) Pos { return Pos{File: file, RowGroup: -1, Row: -1, Line: -1, Column: -1} }

// At returns p with the path of a column.
func (p Pos) At(path Path) Pos { p.Path = path; return p }

// String returns "train.parquet: row 17: agent_name", "train.jsonl:18: agent_name" or "train.parquet: agent_name".
func (p Pos) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	switch {
	case p.Line >= 1:
		b.WriteString(":" + strconv.FormatInt(p.Line, 10))
		if p.Column >= 1 {
			b.WriteString(":" + strconv.Itoa(p.Column))
		}
	case p.Row >= 0:
		b.WriteString(": row " + strconv.FormatInt(p.Row, 10))
	case p.RowGroup >= 0:
		b.WriteString(": row group " + strconv.Itoa(p.RowGroup))
	}
	if p.Path != "" {
		b.WriteString(": " + string(p.Path))
	}
	return b.String()
}
