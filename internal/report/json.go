package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema"
)

// A jsonEntry is an entry as json and jsonl write it. The names, their order and their meaning are what scripts rely on
// (docs/scripting.md); fields may be added at the end.
type jsonEntry struct {
	Rule     string    `json:"rule"`
	Name     string    `json:"name"`
	Level    string    `json:"level"`
	File     string    `json:"file"`
	RowGroup *int      `json:"row_group"`      // null: of no one row group, or a format without
	Row      *int64    `json:"row"`            // of the first, from 0 in its file; null: the whole file
	Line     int64     `json:"line,omitempty"` // of a launch, from 1
	Column   *string   `json:"column"`         // null: no one column
	Message  string    `json:"message"`
	Value    *string   `json:"value"` // the value found, cut; null: nothing to show
	Count    int64     `json:"count"`
	Rows     []int64   `json:"rows"` // the first rows, up to MaxRows
	HelpURL  string    `json:"help_url"`
	Related  []jsonPos `json:"related"`
	// RowRanges are the rows of all findings, as [first, last] pairs in ascending order, at most rule.MaxSpans of them.
	RowRanges [][2]int64 `json:"row_ranges"`
	RowsCut   bool       `json:"rows_cut"` // there are rows that row_ranges does not hold
	Remedy    *string    `json:"remedy"`   // a command line after which there are fewer findings; null: none is known
	Advice    *string    `json:"advice"`   // when the remedy is right, or what else helps; null: nothing
}

type jsonPos struct {
	File     string  `json:"file"`
	RowGroup *int    `json:"row_group"`
	Row      *int64  `json:"row"`
	Column   *string `json:"column"`
}

func newJSONEntry(e group) jsonEntry {
	at := newJSONPos(e.Pos)
	j := jsonEntry{
		Rule: e.Rule.ID, Name: e.Rule.Name, Level: e.Level.String(), File: at.File, RowGroup: at.RowGroup, Row: at.Row, Column: at.Column,
		Message: e.Message, Value: unless(e.Value, ""), Count: e.count, Rows: e.rows, HelpURL: HelpURL(e.Rule), Related: []jsonPos{}, RowRanges: [][2]int64{}, RowsCut: e.spread.Cut,
		Remedy: unless(e.remedy.Command, ""), Advice: unless(e.remedy.Note, ""),
	}
	for _, s := range e.spread.Spans {
		j.RowRanges = append(j.RowRanges, [2]int64{s.From, s.To})
	}
	if e.Pos.Row < 0 && e.Pos.Line >= 1 {
		j.Line = e.Pos.Line
	}
	if j.Rows == nil {
		j.Rows = []int64{}
	}
	for _, p := range e.Related {
		j.Related = append(j.Related, newJSONPos(p))
	}
	return j
}

func newJSONPos(p schema.Pos) jsonPos {
	return jsonPos{p.File, unless(p.RowGroup, -1), unless(p.Row, -1), unless(string(p.Path), "")}
}

// unless returns a pointer to v, nil where v is none.
func unless[T comparable](v, none T) *T {
	if v == none {
		return nil
	}
	return &v
}

var _ = add(Format{Name: "jsonl", Place: 6, For: "scripts", Entry: "an object, one a line", write: writeJSONL})

// writeJSONL is one object an entry, a line each.
func writeJSONL(w io.Writer, r *result) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range r.groups {
		if err := enc.Encode(newJSONEntry(e)); err != nil {
			return err
		}
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}

var _ = add(Format{Name: "json", Place: 5, For: "scripts", Entry: "an object of one array", write: writeJSON})

// writeJSON is an array of the objects of jsonl.
func writeJSON(w io.Writer, r *result) error {
	all := make([]jsonEntry, len(r.groups))
	for i, e := range r.groups {
		all[i] = newJSONEntry(e)
	}
	return encode(w, all)
}

// encode writes v as indented JSON that is safe to show.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}
