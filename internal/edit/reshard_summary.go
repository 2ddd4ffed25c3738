package edit

import (
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
)

// A ReshardSummary says what Reshard did. Its form in JSON is part of what scripts may rely on (docs/scripting.md).
type ReshardSummary struct {
	Out       string        `json:"out"`
	Rows      int64         `json:"rows"`
	Files     []ReshardFile `json:"files"`
	Copied    int           `json:"chunks_copied"`
	Encoded   int           `json:"chunks_encoded"`
	Reencoded []Reencoded   `json:"reencoded"`

	otherMetadata int // files whose metadata was left out
}

// A ReshardFile is a file that Reshard wrote.
type ReshardFile struct {
	Name      string `json:"name"`
	Rows      int64  `json:"rows"`
	RowGroups int    `json:"row_groups"`
	Bytes     int64  `json:"bytes"`
}

// A Reencoded is rows of a row group that did not go out as they came.
type Reencoded struct {
	File     string   `json:"file"`
	RowGroup int      `json:"row_group"`
	Rows     int64    `json:"rows"`
	Columns  []string `json:"columns"` // null: all
	Reason   string   `json:"reason"`
}

// maxReencoded is how many row groups the summary names.
const maxReencoded = 5

// Print writes the summary for people.
func (s *ReshardSummary) Print(w io.Writer) {
	escape.Fprintf(w, "%s: %s rows in %s\n", s.Out, amount.Thousands(s.Rows), amount.Of(len(s.Files), "file"))
	for i, f := range s.Files {
		if i == ShownFiles {
			escape.Fprintf(w, "  … %d more\n", len(s.Files)-i)
			break
		}
		escape.Fprintf(w, "  %-32s %9s rows %14s %9s\n", f.Name, amount.Thousands(f.Rows), amount.Of(f.RowGroups, "row group"), amount.Bytes(f.Bytes))
	}
	escape.Fprintf(w, "  column chunks: %d copied, %d encoded\n", s.Copied, s.Encoded)
	for i, e := range s.Reencoded {
		if i == maxReencoded {
			escape.Fprintf(w, "  … %d more were encoded again\n", len(s.Reencoded)-i)
			break
		}
		what := "all columns"
		if e.Columns != nil {
			what = strings.Join(e.Columns, ", ")
		}
		escape.Fprintf(w, "  encoded again: %s: row group %d (%s): %s: %s\n", e.File, e.RowGroup, amount.Of(int(e.Rows), "row"), what, e.Reason)
	}
	if n := s.otherMetadata; n > 0 {
		escape.Fprintf(w, "  %s had other metadata than the first, which was dropped\n", amount.Of(n, "file"))
	}
}

// Summary says what became of the rows that were written to out.
func (res *Resharded) Summary(out string) *ReshardSummary {
	s := &ReshardSummary{Out: out, Rows: res.Report.RowsOut, Reencoded: []Reencoded{}, otherMetadata: res.OtherMetadata}
	for _, rec := range res.Report.Records {
		s.Copied, s.Encoded = s.Copied+rec.Copied, s.Encoded+rec.Encoded
		s.Files = append(s.Files, ReshardFile{rec.Name, rec.RowsOut, rec.RowGroups, rec.Bytes})
	}
	for _, d := range res.Plan.Decoded() {
		e := Reencoded{File: res.Plan.Job.Input.Files()[d.File].Name, RowGroup: d.RowGroup, Rows: d.Rows, Reason: "a file ends within it"}
		if d.Whole {
			e.Reason = "the files differ in what may be null, or its writer stores it as others cannot"
		}
		for _, p := range d.Columns {
			e.Columns = append(e.Columns, string(p))
		}
		s.Reencoded = append(s.Reencoded, e)
	}
	return s
}
