package ruletest

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Rows without a fault that checkMutation puts before and behind those of an example: more than a row group on either side.
const (
	cleanBefore = 5
	cleanBehind = 4
)

// checkMutation puts the rows of an example amid rows without a fault, copies of one that the example has, and returns an error unless the faults
// are found at their new places, and nothing else is. Examples without such a row, and rules that compare rows, which would take copies for
// duplicates, have nothing to check.
func checkMutation(r *rule.Rule, e rule.Example, k knowledge) error {
	env, err := Environment(r, e)
	if err != nil {
		return err
	}
	ts, err := tables(e)
	if err != nil {
		return err
	}
	before, keyed := run(r, env, ts, k)
	if keyed || e.Edit != nil {
		return nil
	}
	moved := map[string]bool{}
	for _, t := range ts {
		moved[t.file.Name] = t.amid(before)
	}
	after, _ := run(r, env, ts, k)
	for i, f := range before {
		if moved[f.Pos.File] && f.Pos.Row >= 0 {
			before[i].Pos.Row += cleanBefore
		}
	}
	if got, want := lines(after), lines(before); !slices.Equal(got, want) {
		return fmt.Errorf("its rows amid rows without a fault: got %q, want %q", got, want)
	}
	return nil
}

// lines writes findings for comparison, sorted: of rows with their messages, of files without, which may count rows.
func lines(found []rule.Finding) (out []string) {
	for _, f := range found {
		line := f.Pos.String()
		if f.Pos.Row >= 0 {
			line += " " + f.Message
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// amid puts the rows of a table between copies of one in which nothing was found, and reports whether there is one.
func (t *table) amid(found []rule.Finding) bool {
	bad := map[int64]bool{}
	for _, f := range found {
		if f.Pos.File == t.file.Name {
			bad[f.Pos.Row] = true
		}
	}
	clean := 0
	for clean < len(t.rows) && bad[int64(clean)] {
		clean++
	}
	if clean == len(t.rows) {
		return false
	}
	one := []schema.Value{t.rows[clean]}
	t.rows = slices.Concat(slices.Repeat(one, cleanBefore), t.rows, slices.Repeat(one, cleanBehind))
	t.file.Rows = int64(len(t.rows))
	t.file.RowGroups = []int64{t.file.Rows}
	return true
}
