package check_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/baseline"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/pipeline/pipelinetest"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/source"
	_ "github.com/rlprep/rlprep/schema/hf" // rules
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // rules, and the default target
	"github.com/rlprep/rlprep/transform/transformtest"
)

// row is a valid row, but for an agent_name that the second has not.
const row = `{"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "What is 1 + 1?"}], "reward_model": {"style": "rule", "ground_truth": "2"}, "extra_info": {"index": 0}, "agent_name": "tool_agent"}
{"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "What is 1 + 2?"}], "reward_model": {"style": "rule", "ground_truth": "3"}, "extra_info": {"index": 1}, "agent_name": null}
`

func put(t *testing.T, name, rows string) string {
	t.Helper()
	table, err := transformtest.Parse(rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pipelinetest.Encode(table, 10)
	if err == nil {
		err = os.WriteFile(name, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func options(t *testing.T, names ...string) check.Options {
	t.Helper()
	set, err := source.Resolve(t.Context(), source.Spec{Args: names, Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return check.Options{Source: set, Rules: rule.All(), Env: &rule.Env{Target: rule.DefaultTarget()}, Fail: rule.Error, Workers: 2}
}

// found lists the rules of a report.
func found(rep *pipeline.Report) string {
	var ids []string
	for _, e := range rep.Entries {
		ids = append(ids, e.Findings[0].Rule.ID)
	}
	return strings.Join(ids, " ")
}

// TestRun judges a file, tells progress, and says by what kind of rows it went.
func TestRun(t *testing.T) {
	name := put(t, filepath.Join(t.TempDir(), "train.parquet"), row)
	o := options(t, name)
	var seen int64
	o.Watch = func(total int64) (func(int64, string), func()) {
		seen = -total
		return func(n int64, _ string) { seen += n }, func() { seen += 1000 }
	}
	rep, err := check.Run(t.Context(), o)
	if err != nil || !strings.Contains(found(rep), "RL301") || !rep.Failed {
		t.Fatalf("%v: found %s, failed %t", err, found(rep), rep.Failed)
	}
	if seen != 1000 || o.Env.Rows != rule.RL {
		t.Errorf("watched %d rows too many or too few, as %s rows", seen-1000, o.Env.Rows)
	}
	o = options(t, name)
	o.Limit = 1
	if rep, err = check.Run(t.Context(), o); err != nil || strings.Contains(found(rep), "RL301") {
		t.Errorf("the first row: %v, found %s", err, found(rep))
	}
	o.FootersOnly, o.Limit = true, 0
	if rep, err = check.Run(t.Context(), o); err != nil || rep.RowsIn != 0 {
		t.Errorf("footers: %v, %d rows read", err, rep.RowsIn)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.Run(ctx, options(t, name)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestDamaged: one damaged file is an error in the report, and the other is judged.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	good := put(t, filepath.Join(dir, "good.parquet"), row)
	bad := put(t, filepath.Join(dir, "bad.parquet"), row)
	b, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4; i < 200; i++ {
		b[i] ^= 0x55
	}
	if err := os.WriteFile(bad, b, 0o666); err != nil {
		t.Fatal(err)
	}
	rep, err := check.Run(t.Context(), options(t, good, bad))
	if err != nil || len(rep.Errors) != 1 || !strings.Contains(rep.Errors[0].Error(), "bad.parquet") || !strings.Contains(found(rep), "RL301") {
		t.Errorf("%v, %v, found %s", err, rep.Errors, found(rep))
	}
}

// TestCache: a second run reads no row, and finds the same; a file that changed is read.
func TestCache(t *testing.T) {
	name := put(t, filepath.Join(t.TempDir(), "train.parquet"), row)
	store, err := check.OpenCache(t.TempDir(), "test", func() time.Time { return time.Now().Add(time.Hour) })
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var first string
	for i, cached := range []int{0, 1, 0} {
		if i == 2 {
			put(t, name, strings.ReplaceAll(row, "null", `"tool_agent"`))
		}
		o := options(t, name)
		o.Cache = store
		rep, err := check.Run(t.Context(), o)
		if err != nil || rep.Cached != cached {
			t.Fatalf("run %d: %v, %d files cached", i, err, rep.Cached)
		}
		switch got := found(rep); i {
		case 0:
			first = got
		case 1:
			if got != first {
				t.Errorf("found %s, and before %s", got, first)
			}
		default:
			if strings.Contains(got, "RL301") {
				t.Errorf("found %s in a file that changed", got)
			}
		}
	}
	t.Setenv(check.CacheVariable, "off")
	if dir := check.CacheDir(); dir != "" {
		t.Errorf("the cache is off, and lies in %s", dir)
	}
	t.Setenv(check.CacheVariable, "x")
	if dir := check.CacheDir(); dir != filepath.Join("x", "lint") {
		t.Errorf("the cache lies in %s", dir)
	}
}

// TestFix plans fixes, shows them, carries them out, and has nothing left to do.
func TestFix(t *testing.T) {
	name := put(t, filepath.Join(t.TempDir(), "train.parquet"), row)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fix := func(f check.FixOptions) (*check.Fixed, string) {
		o := options(t, name)
		o.Env.Agent = "tool_agent"
		if err := check.Fixable(o.Source); err != nil {
			t.Fatal(err)
		}
		rep, err := check.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		f.Note = "lint --fix"
		fixed, err := check.Fix(t.Context(), o, f, rep)
		if err != nil {
			t.Fatal(err)
		}
		var diff bytes.Buffer
		if f.DryRun {
			if n, err := fixed.Diff(t.Context(), &diff, o.Source); err != nil || n != len(fixed.Files) {
				t.Errorf("%d files: %v", n, err)
			}
		}
		return fixed, diff.String()
	}
	if _, diff := fix(check.FixOptions{DryRun: true}); !strings.Contains(diff, "+agent_name") || !strings.Contains(diff, "RL301") {
		t.Errorf("the difference: %s", diff)
	}
	if now, _ := os.ReadFile(name); !bytes.Equal(now, before) {
		t.Fatal("a dry run changed the file")
	}
	if fixed, _ := fix(check.FixOptions{DryRun: true, Passed: func(f rule.Finding) bool { return f.Rule.ID == "RL301" }}); !strings.Contains(found(fixed.Left), "RL301") {
		t.Errorf("suppressed findings: left %s", found(fixed.Left))
	}
	fixed, _ := fix(check.FixOptions{})
	var said bytes.Buffer
	fixed.PrintDone(&said, options(t, name).Source)
	fixed.PrintLeft(&said, fixed.Left.Entries)
	if text := said.String(); !strings.Contains(text, "fixed: "+name+": agent_name: RL301 agent-name-null: ") {
		t.Errorf("said: %s", text)
	}
	if len(fixed.Files) != 1 || strings.Contains(found(fixed.Left), "RL301") {
		t.Errorf("fixed %d files, left %s", len(fixed.Files), found(fixed.Left))
	}
	if fixed, _ := fix(check.FixOptions{}); len(fixed.Files) != 0 {
		t.Errorf("a second time: %+v", fixed.Files)
	}
}

// TestPrintLeft says of each kind of finding once why it is left, and nothing of what is accepted.
func TestPrintLeft(t *testing.T) {
	name := put(t, filepath.Join(t.TempDir(), "train.parquet"), strings.ReplaceAll(row, `"content": "What is 1 + 2?"`, `"content": ""`))
	o := options(t, name)
	rep, err := check.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, passed := range []bool{false, true} {
		fixed, err := check.Fix(t.Context(), o, check.FixOptions{DryRun: true, Passed: func(rule.Finding) bool { return passed }}, rep)
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		fixed.PrintLeft(&said, fixed.Plan.Found)
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		if slices.Sort(lines); len(slices.Compact(slices.Clone(lines))) != len(lines) || passed != (lines[0] == "") || !passed && !strings.HasPrefix(lines[0], "left: ") {
			t.Errorf("accepted %t: %q", passed, lines)
		}
	}
}

// TestRemedies: Remedies names what --fix can do, for each rule, file and column.
func TestRemedies(t *testing.T) {
	name := put(t, filepath.Join(t.TempDir(), "train.parquet"), row)
	o := options(t, name)
	rep, err := check.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := check.Remedies(t.Context(), o, rep, func(rule.Finding) bool { return false })
	if err != nil || len(all) == 0 {
		t.Fatalf("%v: %d remedies", err, len(all))
	}
	flags := false
	for k, r := range all {
		if k.File != name || r.Note == "" && r.Flags == nil {
			t.Errorf("%+v: %+v", k, r)
		}
		flags = flags || slices.Contains(r.Flags, "--fix")
	}
	if !flags {
		t.Errorf("--fix helps nowhere: %v", all)
	}
}

// TestFixable: what cannot be fixed in place is refused before anything is read.
func TestFixable(t *testing.T) {
	dir := t.TempDir()
	lines := filepath.Join(dir, "train.jsonl")
	if err := os.WriteFile(lines, []byte(row), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{lines: false, put(t, filepath.Join(dir, "x.parquet"), row): true} {
		if err := check.Fixable(options(t, name).Source); (err == nil) != want || err != nil && !errors.As(err, new(*misuse.Error)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestResult: a project file suppresses findings, and a baseline removes known ones. Each method returns how many, and what it did not use.
func TestResult(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "train.parquet", row)
	result := func() *check.Result {
		o := options(t, "train.parquet")
		rep, err := check.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		r := &check.Result{}
		r.Owns(o.Source)
		for range 2 { // what is found twice is found once
			r.Add(o.Env, o.Rules, o.Source, "", rep)
		}
		t.Cleanup(r.Close)
		return r
	}
	r := result()
	if !r.Failed(rule.Error) || len(r.Set.Splits[0].Files) != 1 {
		t.Errorf("failed %t, %d files", r.Failed(rule.Error), len(r.Set.Splits[0].Files))
	}
	all := found(&r.Report)
	p, err := project.Parse("rlprep.yaml", []byte("per_file_ignores:\n  - {files: '*.parquet', rules: [RL301, RL401], reason: a test}\n"))
	if err != nil {
		t.Fatal(err)
	}
	count, unused := r.Pass(p)
	if count != 1 || len(unused) != 1 || unused[0].Rule != 1 || strings.Contains(found(&r.Report), "RL301") {
		t.Errorf("%d suppressed, %v unused, left %s", count, unused, found(&r.Report))
	}
	r = result()
	known := check.Known{Name: "baseline.json", Baseline: baseline.Baseline{}}
	next := known.Next(r)
	if n := next[baseline.Place{File: "train.parquet", Rule: "RL301", Column: "agent_name"}]; n != 1 {
		t.Fatalf("%d findings at the place: %v", n, next)
	}
	if count, more, fewer := known.Subtract(r); count != 0 || len(more) != len(next) || len(fewer) != 0 || found(&r.Report) != all {
		t.Errorf("an empty baseline: %d known, %v more, %v fewer", count, more, fewer)
	}
	known.Baseline = next
	next[baseline.Place{File: "train.parquet", Rule: "RL301", Column: "agent_name"}] = 5
	next[baseline.Place{File: "gone.parquet", Rule: "RL301"}] = 1
	if count, more, fewer := known.Subtract(r); count == 0 || len(more) != 0 || len(fewer) != 2 || len(r.Report.Entries) != 0 {
		t.Errorf("a baseline that knows all: %d known, %v more, %v fewer, left %s", count, more, fewer, found(&r.Report))
	}
}
