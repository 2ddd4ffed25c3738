package check

import (
	"context"
	"io"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// shownRows is how many of the rows of a file that change are shown.
const shownRows = 3

// Diff writes what changes in the files of set, and returns how many files that are.
func (x *Fixed) Diff(ctx context.Context, w io.Writer, set *source.Set) (files int, err error) {
	for i, f := range set.Files() {
		m := x.Files[f.Name]
		if m == nil {
			continue
		}
		files++
		escape.Fprintf(w, "--- %s\n+++ %s\n", f.Name, f.Name)
		for _, d := range m.Done {
			escape.Fprintf(w, "# %s\n", d)
		}
		for _, line := range schema.Changes(f.Schema, m.Schema) {
			escape.Fprintln(w, line)
		}
		if m.Strip {
			escape.Fprintln(w, "-metadata huggingface")
		}
		changes, err := x.Plan.Changes(ctx, i, shownRows)
		if err != nil {
			return files, err
		}
		showChanges(w, changes)
	}
	return files, nil
}

func showChanges(w io.Writer, changes []fix.Change) {
	last := int64(-1)
	for _, c := range changes {
		if c.Row != last {
			escape.Fprintf(w, "@@ row %d @@\n", c.Row)
			last = c.Row
		}
		switch {
		case c.Gone:
			escape.Fprintln(w, "-the whole row")
		default:
			if c.Before != "" {
				escape.Fprintf(w, "-%s: %s\n", c.Path, c.Before)
			}
			if c.After != "" {
				escape.Fprintf(w, "+%s: %s\n", c.Path, c.After)
			}
		}
	}
}
