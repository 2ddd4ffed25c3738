package check

import (
	"context"
	"io"
	"slices"
	"strings"

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
		showSchema(w, f.Schema, m.Schema)
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

// showSchema prints the leaves that come and go, and where none does the order, if it is another one.
func showSchema(w io.Writer, before, after *schema.Schema) {
	was, is := leafLines(before), leafLines(after)
	changed := false
	for _, line := range was {
		if !slices.Contains(is, line) {
			escape.Fprintf(w, "-%s\n", line)
			changed = true
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			escape.Fprintf(w, "+%s\n", line)
			changed = true
		}
	}
	if !changed && !slices.Equal(was, is) {
		escape.Fprintf(w, "-columns %s\n+columns %s\n", strings.Join(before.Names(), ", "), strings.Join(after.Names(), ", "))
	}
}

func leafLines(s *schema.Schema) []string {
	var out []string
	for _, l := range s.Leaves() {
		out = append(out, string(l.Path)+": "+l.Type.String())
	}
	return out
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
