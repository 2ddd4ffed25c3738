package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/rlprep/rlprep/schema/rule"
)

// writeStatistics writes a table: findings, files, level and rule, most findings first.
func writeStatistics(w io.Writer, r *result) error {
	type stat struct {
		rule  *rule.Rule
		level rule.Level
		count int64
		files map[string]bool
	}
	type key struct {
		rule  *rule.Rule
		level rule.Level
	}
	by := map[key]*stat{}
	for _, e := range r.groups {
		k := key{e.Rule, e.Level}
		if by[k] == nil {
			by[k] = &stat{e.Rule, e.Level, 0, map[string]bool{}}
		}
		by[k].count += e.count
		by[k].files[e.Pos.File] = true
	}
	stats := make([]*stat, 0, len(by))
	for _, s := range by {
		stats = append(stats, s)
	}
	slices.SortFunc(stats, func(a, b *stat) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.rule.ID, b.rule.ID), cmp.Compare(b.level, a.level))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FINDINGS\tFILES\tLEVEL\tRULE")
	for _, s := range stats {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s %s\n", thousands(s.count), thousands(int64(len(s.files))), s.level, s.rule.ID, s.rule.Name)
	}
	return t.Flush()
}

// appendSummary appends a Markdown summary to the file name.
func appendSummary(name string, r *result) error {
	return appendFile(name, func(w io.Writer) error {
		return writeMarkdown(w, r)
	})
}
