package check

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// PrintDone says what was done to each file of set.
func (x *Fixed) PrintDone(w io.Writer, set *source.Set) {
	lines := 0
	for _, f := range set.Files() {
		m := x.Files[f.Name]
		if m == nil {
			continue
		}
		for _, d := range m.Done {
			if lines++; lines <= edit.ShownFiles {
				escape.Fprintf(w, "fixed: %s: %s\n", f.Name, d.String())
			}
		}
	}
	if lines > edit.ShownFiles {
		escape.Fprintf(w, "fixed: %s in all\n", amount.Of(len(x.Files), "file"))
	}
}

// PrintLeft says what of left is not fixed and why, but for what is accepted.
func (x *Fixed) PrintLeft(w io.Writer, left []judge.Entry) {
	told := map[string]bool{}
	for _, e := range left {
		f := e.Findings[0]
		if x.options.Passed != nil && x.options.Passed(f) {
			continue
		}
		line := fmt.Sprintf("%s %s: %s", f.Rule.ID, f.Rule.Name, x.why(f))
		if f.Pos.Path != "" {
			line = string(f.Pos.Path) + ": " + line
		}
		if told[line] {
			continue
		}
		if told[line] = true; len(told) > edit.ShownFiles {
			escape.Fprintln(w, "left: more, for like reasons")
			return
		}
		escape.Fprintf(w, "left: %s\n", line)
	}
}

// why says why a finding is left.
func (x *Fixed) why(f rule.Finding) string {
	why := x.Plan.Left[fix.Finding{Rule: f.Rule, File: f.Pos.File, Path: f.Pos.Path}]
	for _, m := range f.Rule.Fixes {
		switch {
		case !m.Unsafe || x.options.Unsafe:
		case why == "":
			return "--unsafe-fixes " + m.Title
		default:
			return why + "; --unsafe-fixes " + m.Title
		}
	}
	if why == "" || strings.Contains(why, f.Rule.Unfixed) {
		return cmp.Or(why, f.Rule.Unfixed)
	}
	return why + "; " + f.Rule.Unfixed
}
