package edit

import (
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema"
)

// A FileSummary is what a Summary says of one file.
type FileSummary struct {
	Input     string   `json:"input"`
	Output    string   `json:"output"`
	Status    string   `json:"status"` // "written", "left alone", with --dry-run "would be written"
	Rows      int64    `json:"rows"`
	RowGroups int      `json:"row_groups"`
	Bytes     int64    `json:"bytes"`
	Copied    int      `json:"chunks_copied"`
	Encoded   int      `json:"chunks_encoded"`
	Notes     []string `json:"notes,omitempty"`
	Changes   []string `json:"changes,omitempty"` // of columns: "-old: string", "+new: string"
}

// A Summary says what an edit did. Its form in JSON is part of what scripts may rely on (docs/scripting.md).
type Summary struct {
	Edit      string        `json:"edit"`
	Written   int           `json:"written"`
	LeftAlone int           `json:"left_alone"`
	Files     []FileSummary `json:"files"`
}

// ShownFiles is how many files a text for people names.
const ShownFiles = 20

// Print writes the summary for people.
func (sum *Summary) Print(w io.Writer, inPlace, dryRun bool) {
	for _, f := range sum.Files {
		if len(sum.Files) > ShownFiles {
			break
		}
		notes := strings.Join(f.Notes, "; ")
		switch f.Status {
		case "left alone":
			escape.Fprintf(w, "%s: unchanged", f.Output)
		case "would be written":
			escape.Fprintf(w, "%s: %s rows: %s", f.Output, amount.Thousands(f.Rows), strings.Join(f.Changes, ", "))
		default:
			escape.Fprintf(w, "%s: %s rows; column chunks: %d copied, %d encoded", f.Output, amount.Thousands(f.Rows), f.Copied, f.Encoded)
		}
		if notes != "" {
			escape.Fprintf(w, "; %s", notes)
		}
		escape.Fprintln(w)
	}
	if dryRun {
		escape.Fprintf(w, "dry run: nothing was written (%s would be)\n", amount.Of(len(sum.Files)-sum.LeftAlone, "file"))
		return
	}
	if len(sum.Files) > 1 {
		escape.Fprintf(w, "%d files written", sum.Written)
		if inPlace {
			escape.Fprintf(w, ", %d unchanged", sum.LeftAlone)
		}
		escape.Fprintln(w)
	}
}

// Summary says what became of the files by the edit e; with dryRun, what would become of them.
func (r *Result) Summary(e Edit, dryRun bool) *Summary {
	sum := &Summary{Edit: e.String(), Files: []FileSummary{}}
	for _, f := range r.Files {
		status := "left alone"
		switch {
		case f.Written && dryRun:
			status = "would be written"
		case f.Written:
			status = "written"
			sum.Written++
		default:
			sum.LeftAlone++
		}
		sum.Files = append(sum.Files, FileSummary{Input: f.Input, Output: f.Output, Status: status, Rows: f.Rows, RowGroups: f.RowGroups, Bytes: f.Bytes,
			Copied: f.Copied, Encoded: f.Encoded, Notes: f.Notes, Changes: schema.Changes(f.Before, f.After)})
	}
	return sum
}
