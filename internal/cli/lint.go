package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A lint is one run of the command.
type lint struct {
	app *app

	input      inputFlags
	known      knownFlags
	launches   lintLaunches
	val        []string
	target     string
	rows       string
	formats    []string
	selected   []string
	ignored    []string
	failLevel  string
	exitZero   bool
	schemaOnly bool
	limit      int64
	statistics bool
	verbose    bool
	workers    int

	env   *rule.Env
	fail  rule.Level
	rules []*rule.Rule
}

func newLint(a *app) *cobra.Command {
	l := &lint{app: a}
	cmd := &cobra.Command{
		Use:   "lint FILES|DIRS|GLOBS…",
		Short: "check data against what the trainer will really demand",
		Long: `Reads data sets and reports what the trainer's loader, agent loop, reward and trace will choke on, or silently do wrong
with: before a GPU is spent. Footers and dictionaries answer first; then only the columns that a rule names are read.

'rlprep list rules' names the rules, 'rlprep explain RL301' tells what one checks, what the trainer does and how to mend it.`,
		Example: `  rlprep lint train.parquet --val test.parquet --config run.sh
  rlprep lint 'data/*.parquet' --target verl@0.8 --output-format github
  rlprep lint data/ --select RL3,RL4 --ignore index-duplicate --output-format sarif=lint.sarif`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && l.input.filesFrom == "" && len(l.launches.configs) == 0 {
				return usagef("no files: name the data to check")
			}
			return l.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	l.input.register(f)
	f.StringArrayVar(&l.val, "val", nil, "file, directory or glob of validation data; repeatable")
	f.StringVar(&l.target, "target", rule.DefaultTarget.String(), "trainer and version: verl@0.5 to verl@0.9, verl@0.9-v0 for its older trainer")
	f.StringVar(&l.rows, "kind", "", "what the rows are for: rl, sft or preference (default: told by the columns)")
	f.StringArrayVar(&l.formats, "output-format", nil, strings.Join(report.Formats(), ", ")+"; to standard output or =FILE; repeatable")
	f.StringSliceVar(&l.selected, "select", nil, "only these rules: ids, names, or beginnings of ids (RL3)")
	f.StringSliceVar(&l.ignored, "ignore", nil, "without these rules")
	f.StringVar(&l.failLevel, "fail-level", "error", "lowest level that fails: error, warning or info")
	f.BoolVar(&l.exitZero, "exit-zero", false, "exit 0 whatever is found")
	f.BoolVar(&l.schemaOnly, "schema-only", false, "look at footers only")
	f.Int64Var(&l.limit, "rows", 0, "look at the first N rows of each split only (0: all)")
	f.BoolVar(&l.statistics, "statistics", false, "count the findings of each rule, on stderr")
	f.BoolVar(&l.verbose, "verbose", false, "say a line about every file, on stderr")
	f.IntVarP(&l.workers, "jobs", "j", 0, "workers (default: one a core)")
	l.known.register(f)
	l.launches.register(f)
	return cmd
}

func (l *lint) run(ctx context.Context, args []string) error {
	if err := l.options(); err != nil {
		return err
	}
	if len(l.launches.configs) > 0 {
		return l.runLaunches(ctx, args)
	}
	spec, err := l.input.spec(l.app, args)
	if err != nil {
		return err
	}
	spec.Val, spec.Lenient, spec.Hash, spec.Peek = l.val, true, false, l.schemaOnly
	set, err := source.Resolve(ctx, spec)
	if err != nil {
		return asInput(err)
	}
	defer set.Close()
	rep, err := l.check(ctx, set)
	if err != nil {
		return asUsage(err)
	}
	if err := l.report(set, rep); err != nil {
		return err
	}
	if failed := slices.Concat(set.Errors, rep.Errors); len(failed) > 0 {
		return withCode(ExitFile, errors.Join(failed...))
	}
	if rep.Failed && !l.exitZero {
		return errFindings
	}
	return nil
}

// options reads the flags that have a form of their own.
func (l *lint) options() (err error) {
	l.env = l.known.env(rule.Any)
	if l.env.Target, err = rule.ParseTarget(l.target); err != nil {
		return &usageError{err}
	}
	if l.fail, err = rule.ParseLevel(l.failLevel); err != nil || l.fail == rule.Off {
		return usagef("--fail-level %s: expected error, warning or info", l.failLevel)
	}
	if l.rows != "" {
		if l.env.Rows, err = parseKind(l.rows); err != nil {
			return err
		}
	}
	l.rules, err = selectRules(l.selected, l.ignored)
	return err
}

func parseKind(s string) (rule.Kind, error) {
	for _, k := range []rule.Kind{rule.RL, rule.SFT, rule.Preference} {
		if k.String() == s {
			return k, nil
		}
	}
	return rule.Any, usagef("--kind %s: expected rl, sft or preference", s)
}

// selectRules returns the rules that selected names (none: all) and ignored does not.
func selectRules(selected, ignored []string) ([]*rule.Rule, error) {
	for _, name := range slices.Concat(selected, ignored) {
		if !slices.ContainsFunc(rule.All(), func(r *rule.Rule) bool { return named(r, name) }) {
			return nil, unknown("rule", name, ruleNames())
		}
	}
	var out []*rule.Rule
	for _, r := range rule.All() {
		is := func(name string) bool { return named(r, name) }
		if (len(selected) == 0 || slices.ContainsFunc(selected, is)) && !slices.ContainsFunc(ignored, is) {
			out = append(out, r)
		}
	}
	return out, nil
}

// named reports whether name is a rule's id or name, or the beginning of its id.
func named(r *rule.Rule, name string) bool {
	return r.Name == name || (len(name) > 2 && strings.HasPrefix(r.ID, strings.ToUpper(name)))
}

func ruleNames() []string {
	var out []string
	for _, r := range rule.All() {
		out = append(out, r.ID, r.Name)
	}
	return out
}

func (l *lint) check(ctx context.Context, set *source.Set) (*pipeline.Report, error) {
	src := newFileSource(set)
	if l.env.Rows == rule.Any && len(src.files) > 0 {
		l.env.Rows = kindOf(src.files[0].Schema)
	}
	j := &pipeline.Job{Source: src, Splits: src.splits, Rules: l.rules, Env: l.env, Limit: l.limit, Workers: l.workers, FailLevel: l.fail, FootersOnly: l.schemaOnly,
		Unreadable: func(err error) bool { return exitCode(ctx, asUsage(err)) == ExitFile }}
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return nil, err
	}
	bar := newProgress(l.app.stderr, plan.Rows, l.app.quiet)
	j.Progress = bar.Rows
	defer bar.Done()
	return plan.Run(ctx)
}

// kindOf tells by the columns what rows are for.
func kindOf(s *schema.Schema) rule.Kind {
	has := func(name string) bool { _, i := s.Column(name); return i >= 0 }
	switch {
	case has("chosen") && has("rejected"):
		return rule.Preference
	case has("messages") && !has("prompt"):
		return rule.SFT
	}
	return rule.RL
}

func (l *lint) report(set *source.Set, rep *pipeline.Report) error {
	return l.reportAll(set, rep, nil)
}

// reportAll reports what was found in the files of set and in the launches.
func (l *lint) reportAll(set *source.Set, rep *pipeline.Report, launches []string) error {
	o := report.Options{Tool: version(), Target: l.env.Target, Files: slices.Concat(launches, fileNames(set)), Rules: l.rules, Fail: l.fail, Color: l.app.terminal,
		Summary: os.Getenv("GITHUB_STEP_SUMMARY"), Root: cmp.Or(os.Getenv("GITHUB_WORKSPACE"), os.Getenv("CI_PROJECT_DIR"))}
	if l.statistics {
		o.Stats = l.app.stderr
	}
	r, err := report.New(l.formats, l.app.stdout, o)
	if err != nil {
		return &usageError{err}
	}
	for _, e := range rep.Entries {
		r.Add(report.Entry(e))
	}
	if l.verbose {
		for _, f := range set.Files() {
			fmt.Fprintf(l.app.stderr, "%s: %s rows, split %s, as %s rows for %s\n", f.Name, thousands(f.Rows), f.Split, l.env.Rows, l.env.Target)
		}
	}
	return r.Close()
}
