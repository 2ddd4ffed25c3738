package build

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/pipeline"
)

// Preview writes for people what a run of the plan would do: its tasks, the columns, and rows before and after. With columns it says how each column comes about.
func Preview(ctx context.Context, w io.Writer, plan *pipeline.Plan, rows int, columns bool) error {
	for _, t := range plan.Tasks {
		escape.Fprintf(w, "%s: %s rows from row %s in %s\n", t.Name, amount.Thousands(t.Rows), amount.Thousands(t.SplitRow), amount.Of(len(t.RowGroups), "row group"))
	}
	for _, s := range plan.Job.Splits {
		sc := plan.Schemas[s.Name]
		if sc == nil {
			continue
		}
		escape.Fprintf(w, "\nsplit %s\n", s.Name)
		for _, f := range sc.Fields {
			escape.Fprintf(w, "  %s\n", f)
		}
		if columns {
			if err := printColumns(w, plan, s.Name); err != nil {
				return err
			}
		}
		v, err := plan.Preview(ctx, s.Name, rows)
		if err != nil {
			return err
		}
		for i, row := range v.Before {
			escape.Fprintf(w, "before: %s\n", escape.JSON(row))
			for _, after := range v.After[i] {
				escape.Fprintf(w, "after:  %s\n", escape.JSON(after))
			}
		}
		for _, r := range v.Rejected {
			where := r.Pos.String()
			if r.Where != "" {
				where = fmt.Sprintf("%s: row %d", r.Where, r.Number)
			}
			escape.Fprintf(w, "rejected: %s: %s [%s]\n", where, r.Message, r.Reason)
		}
	}
	return nil
}

// printColumns says how the columns of a split come about.
func printColumns(w io.Writer, plan *pipeline.Plan, split string) error {
	columns, decoded, err := plan.Columns(split)
	if err != nil {
		return err
	}
	for _, how := range []string{"copied", "encoded", "computed", "constant", "row numbers"} {
		var names []string
		for _, f := range columns {
			if f.How == how {
				names = append(names, string(f.Path))
			}
		}
		if len(names) > 0 {
			escape.Fprintf(w, "%s: %s\n", how, strings.Join(names, ", "))
		}
	}
	names := make([]string, len(decoded))
	for i, p := range decoded {
		names[i] = string(p)
	}
	if len(names) > 0 {
		escape.Fprintf(w, "decoded on the way: %s\n", strings.Join(names, ", "))
	}
	return nil
}
