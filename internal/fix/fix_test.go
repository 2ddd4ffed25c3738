package fix_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/fix"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/source"
	_ "github.com/rlprep/rlprep/schema/hf" // rules
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // rules, and the default target
	"github.com/rlprep/rlprep/transform/transformtest"
)

// rows have an agent_name, a tools_kwargs and an index that are not as verl wants them.
const rows = `{"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "What is 1 + 1?"}], "reward_model": {"style": "rule", "ground_truth": "2"}, "extra_info": {"index": 0}, "agent_name": "tool_agent"}
{"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "What is 1 + 2?"}], "reward_model": {"style": "rule", "ground_truth": "3"}, "extra_info": {"index": 0}, "agent_name": null}
{"data_source": "openai/gsm8k", "prompt": [], "reward_model": {"style": "rule", "ground_truth": "4"}, "extra_info": {"index": 2}, "agent_name": "tool_agent"}
`

// A lot is files with what is found in them.
type lot struct {
	job   *fix.Job
	found []judge.Entry
}

// newLot writes files and judges them.
func newLot(t *testing.T, agent string, texts ...string) *lot {
	t.Helper()
	dir := t.TempDir()
	spec := source.Spec{}
	for i, text := range texts {
		table, err := transformtest.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := pipelinetest.Encode(table, 10)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, string(rune('a'+i))+".parquet")
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		spec.Args = append(spec.Args, name)
	}
	set, err := source.Resolve(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	src := input.New(set)
	env := &rule.Env{Target: rule.DefaultTarget(), Rows: rule.RL, Agent: agent}
	plan, err := pipeline.NewPlan(&pipeline.Job{Input: src, Facts: src, Splits: src.Splits, Rules: judge.Rules{List: rule.All(), Env: env}})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &lot{&fix.Job{Input: src, Facts: src, Rules: rule.All(), Env: env, Workers: 2}, rep.Entries}
}

func (l *lot) plan(t *testing.T) *fix.Plan {
	t.Helper()
	p, err := fix.New(t.Context(), l.job, l.found)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// done lists what a file's fixes are for.
func done(f *fix.File) string {
	var out []string
	for _, d := range f.Done {
		out = append(out, d.String())
	}
	return strings.Join(out, "\n")
}

func ids(entries []judge.Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Findings[0].Rule.ID)
	}
	return strings.Join(out, " ")
}

// TestSafe fills what the user says a value for, and leaves the rest with a reason.
func TestSafe(t *testing.T) {
	l := newLot(t, "tool_agent", rows)
	p := l.plan(t)
	if got := done(&p.Files[0]); !strings.Contains(got, "agent_name: RL301 agent-name-null: ") || !strings.Contains(got, "(1 row)") {
		t.Errorf("done: %s", got)
	}
	if got := ids(p.Found); strings.Contains(got, "RL301") || got == "" {
		t.Errorf("left: %s", got)
	}
	changes, err := p.Changes(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) == 0 || changes[0].Row != 1 || changes[0].Path != "agent_name" || changes[0].After != `"tool_agent"` || changes[0].Gone {
		t.Errorf("changes: %+v", changes)
	}
}

// TestUnsafe also leaves rows out, and says which.
func TestUnsafe(t *testing.T) {
	l := newLot(t, "tool_agent", rows)
	l.job.Unsafe = true
	p := l.plan(t)
	if len(p.Files[0].Steps) == 0 || len(ids(p.Found)) >= len(ids(l.found)) {
		t.Fatalf("found %s, left %s", ids(l.found), ids(p.Found))
	}
	changes, err := p.Changes(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	gone := false
	for _, c := range changes {
		gone = gone || c.Gone && c.Row == 2
	}
	if !gone {
		t.Errorf("the row with an empty prompt stays: %+v", changes)
	}
}

// TestPassed: what is let pass is not fixed.
func TestPassed(t *testing.T) {
	l := newLot(t, "tool_agent", rows)
	l.job.Passed = func(f rule.Finding) bool { return f.Rule.ID == "RL301" }
	if got := done(&l.plan(t).Files[0]); strings.Contains(got, "RL301") {
		t.Errorf("done: %s", got)
	}
}

// TestFiles: the files of a split are made alike, and one that has nothing to fix stays.
func TestFiles(t *testing.T) {
	good := strings.SplitAfter(rows, "\n")[0]
	l := newLot(t, "tool_agent", good, strings.Replace(rows, `"agent_name": "tool_agent"`, `"agent_name": null`, 1))
	p := l.plan(t)
	if got := done(&p.Files[0]); strings.Contains(got, "RL301") {
		t.Errorf("the good file: %s", got)
	}
	if got := done(&p.Files[1]); !strings.Contains(got, "(2 rows)") {
		t.Errorf("the other: %s", got)
	}
	if p.Files[1].Schema == nil || !p.Files[1].Schema.Leaves()[0].Type.Equal(l.job.Input.Files()[1].Schema.Leaves()[0].Type) {
		t.Error("the schema of the fixed file")
	}
}

// TestErrors: an agent loop that there is not is refused before anything is planned, and a cancelled plan ends.
func TestErrors(t *testing.T) {
	l := newLot(t, "no_such_agent", rows)
	if _, err := fix.New(t.Context(), l.job, l.found); !errors.As(err, new(*misuse.Error)) || !strings.Contains(err.Error(), "no_such_agent") {
		t.Errorf("%T: %v", err, err)
	}
	l = newLot(t, "tool_agent", rows)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fix.New(ctx, l.job, l.found); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
