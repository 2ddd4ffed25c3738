// Package fixtest plans the fixes of rules for the rules' own examples. It is for the tests of schema/hf, schema/verl and other folders of rules.
package fixtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// Run plans, for every bad example of every rule that has fixes, what 'lint --fix --unsafe-fixes' would do: the rule finds nothing in what
// would be written, or an example with Unfixed is left for that reason. Examples that Parquet cannot hold here are left to the tests of the
// command: those that edit the footer, that have a launch, or that have types which Arrow's metadata alone says.
func Run(t *testing.T, rules []*rule.Rule) {
	t.Helper()
	for _, r := range rules {
		if len(r.Fixes) == 0 {
			continue
		}
		for i, e := range r.Examples {
			if len(e.Want) == 0 || e.Edit != nil || e.Launch != "" || strings.Contains(e.Schema, "large_") {
				continue
			}
			t.Run(fmt.Sprintf("%s-%d", r.ID, i), func(t *testing.T) { check(t, r, e) })
		}
	}
}

func check(t *testing.T, r *rule.Rule, e rule.Example) {
	src := write(t, e)
	env, err := ruletest.Environment(r, e)
	if err != nil {
		t.Fatal(err)
	}
	env.Agent = "tool_agent"
	plan, err := pipeline.NewPlan(&pipeline.Job{Input: src, Facts: src, Splits: src.Splits, Rules: judge.Rules{List: []*rule.Rule{r}, Env: env}})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	rep, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Entries) == 0 {
		t.Fatalf("nothing is found in the Parquet file of %q", e.Title)
	}
	fixed, err := fix.New(context.WithoutCancel(t.Context()), &fix.Job{Input: src, Facts: src, Rules: []*rule.Rule{r}, Env: env, Unsafe: true, Workers: 1}, rep.Entries)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, why := range fixed.Left {
		reasons = append(reasons, why)
	}
	if slices.Sort(reasons); len(reasons) == 0 {
		reasons = []string{r.Unfixed} // as lint says it
	}
	said := strings.Join(reasons, "; ")
	switch {
	case e.Unfixed != "" && (len(fixed.Found) == 0 || !strings.Contains(said, e.Unfixed)):
		t.Errorf("%s: %d findings are left, %q; expected the reason %q", e.Title, len(fixed.Found), said, e.Unfixed)
	case e.Unfixed == "" && len(fixed.Found) > 0 && !strings.Contains(said, "every row of "):
		t.Errorf("%s: still found: %v; %q", e.Title, fixed.Found, said)
	}
}

// write writes the files of an example as Parquet, each with one more column, so that something is left of it.
func write(t *testing.T, e rule.Example) *input.Set {
	t.Helper()
	files, rows, err := ruletest.Tables(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, f := range files {
		s := f.Schema.Clone()
		s.Fields = append(s.Fields, schema.NewField("kept", schema.Int64Type))
		typ := schema.StructOf(s.Fields...)
		table := &transformtest.Table{Schema: s}
		for n, row := range rows[i] {
			values := make([]schema.Value, 0, row.Len()+1)
			for k := range row.Len() {
				values = append(values, row.Elem(k))
			}
			table.Rows = append(table.Rows, schema.StructValue(&typ, append(values, schema.IntValue(int64(n)))))
			table.Numbers = append(table.Numbers, int64(n))
		}
		b, err := pipelinetest.Encode(table, 2)
		if err != nil {
			t.Skip(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Resolve(t.Context(), source.Spec{Args: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return input.New(set)
}
