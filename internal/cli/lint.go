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
	"github.com/rlprep/rlprep/internal/project"
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
	project    lintProject
	fix        lintFix
	baseline   lintBaseline
	cache      lintCache
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

	given func(flag string) bool // on the command line
	env   *rule.Env
	fail  rule.Level
	rules []*rule.Rule
}

func newLint(a *app) *cobra.Command {
	l := &lint{app: a}
	cmd := &cobra.Command{
		Use:   "lint [FILES|DIRS|GLOBS…]",
		Short: "check data against what the trainer will really demand",
		Long: `Reads data sets and reports what the trainer's loader, agent loop, reward and trace will choke on, or silently do wrong
with: before a GPU is spent. Footers and dictionaries answer first; then only the columns that a rule names are read.

Without FILES it checks the data sets that rlprep.yaml names, a file that is found here or in a folder above; what else it
says holds for FILES too, and a flag wins over it. 'rlprep init' writes a first one.

'rlprep list rules' names the rules, 'rlprep explain RL301' tells what one checks, what the trainer does and how to mend it.

--fix mends Parquet files in place, each by one rename, and judges them again; what it writes says nothing that the source
did not. --unsafe-fixes also changes values and leaves rows out; --diff shows what either would do.`,
		Example: `  rlprep lint train.parquet --val test.parquet --config run.sh
  rlprep lint data/ --select RL3,RL4 --ignore index-duplicate --output-format sarif=lint.sarif
  rlprep lint --output-format github`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.given = cmd.Flags().Changed
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
	l.project.register(f)
	l.fix.register(f)
	l.baseline.register(f)
	l.cache.register(f)
	return cmd
}

func (l *lint) run(ctx context.Context, args []string) error {
	if err := l.project.open(l.given); err != nil {
		return err
	}
	if err := l.project.configure(l); err != nil {
		return err
	}
	if err := l.baseline.open(l); err != nil {
		return err
	}
	l.cache.open(l)
	defer l.cache.close()
	found := &lintFound{}
	defer found.close()
	l.fix.changes = new(int)
	if err := l.collect(ctx, args, found); err != nil {
		return err
	}
	if l.fix.diff {
		return l.fix.end(l, found)
	}
	l.project.suppress(l, found, !l.named(args) && !l.given("config"))
	if done, err := l.baseline.settle(l, found); done || err != nil {
		return err
	}
	if err := l.report(found); err != nil {
		return err
	}
	if failed := slices.Concat(found.set.Errors, found.report.Errors); len(failed) > 0 {
		return withCode(ExitFile, errors.Join(failed...))
	}
	if found.failed(l.fail) && !l.exitZero {
		return errFindings
	}
	return nil
}

// named reports whether the command line names files.
func (l *lint) named(args []string) bool { return len(args)+len(l.val) > 0 || l.input.filesFrom != "" }

// collect checks the files of args, and where none are named the data sets of the project or the launches' own data.
func (l *lint) collect(ctx context.Context, args []string, found *lintFound) error {
	named := l.named(args)
	switch {
	case !named && len(l.input.splits) > 0:
		return usagef("--split: name the files, too")
	case !named && !l.given("config") && l.project.file != nil && len(l.project.file.Datasets) > 0:
		return l.project.collect(ctx, l, found)
	case !named && len(l.launches.configs) > 0:
		return l.judgeLaunches(ctx, nil, found)
	case !named:
		return usagef("no files: name the data to check, or the data sets in %s ('rlprep init' writes one)", project.FileName)
	}
	set, err := l.resolve(ctx, args, nil)
	if err != nil {
		return err
	}
	found.sets = append(found.sets, set)
	return l.project.divide(ctx, l, set, found)
}

// resolve opens the files that args and the flags name, or those of splits.
func (l *lint) resolve(ctx context.Context, args []string, splits []source.SplitArg) (*source.Set, error) {
	spec, err := l.input.spec(l.app, args)
	if err != nil {
		return nil, err
	}
	spec.Val, spec.Lenient, spec.Hash, spec.Peek = l.val, true, false, l.schemaOnly
	spec.Splits = append(spec.Splits, splits...)
	set, err := source.Resolve(ctx, spec)
	if err != nil {
		return nil, asInput(err)
	}
	return set, nil
}

// judge checks the files of set, alone or with the launches.
func (l *lint) judge(ctx context.Context, set *source.Set, found *lintFound) error {
	if len(l.launches.configs) > 0 {
		return l.judgeLaunches(ctx, set, found)
	}
	rep, err := l.mend(ctx, set)
	if err != nil {
		return asUsage(err)
	}
	found.add(l.env.Target, l.rules, set, rep)
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
	if l.rules, err = selectRules(l.selected, l.ignored); err != nil {
		return err
	}
	return l.fix.check(l)
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
		if !slices.ContainsFunc(rule.All(), func(r *rule.Rule) bool { return r.Named(name) }) {
			return nil, unknown("rule", name, rule.Names())
		}
	}
	var out []*rule.Rule
	for _, r := range rule.All() {
		is := func(name string) bool { return r.Named(name) }
		if (len(selected) == 0 || slices.ContainsFunc(selected, is)) && !slices.ContainsFunc(ignored, is) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (l *lint) check(ctx context.Context, set *source.Set) (*pipeline.Report, error) {
	src := newFileSource(set)
	if l.env.Rows == rule.Any && len(src.files) > 0 {
		l.env.Rows = kindOf(src.files[0].Schema)
	}
	j := &pipeline.Job{Source: src, Splits: src.splits, Rules: l.rules, Env: l.env, Limit: l.limit, Workers: l.workers, FailLevel: l.fail, FootersOnly: l.schemaOnly,
		Unreadable: func(err error) bool { return exitCode(ctx, asUsage(err)) == ExitFile }}
	if c := l.cache.of(set, l.rules, l.env); c != nil {
		j.Cache = c
	}
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return nil, err
	}
	bar := newProgress(l.app.stderr, plan.Rows, l.app.quiet)
	j.Progress = bar.Rows
	defer bar.Done()
	if l.verbose {
		for _, f := range set.Files() {
			fmt.Fprintf(l.app.stderr, "%s: %s rows, split %s, as %s rows for %s\n", f.Name, thousands(f.Rows), f.Split, l.env.Rows, l.env.Target)
		}
	}
	rep, err := plan.Run(ctx)
	if errors.Is(err, pipeline.ErrKept) {
		j.Cache = nil
		if plan, err = pipeline.NewPlan(j); err == nil {
			rep, err = plan.Run(ctx)
		}
	}
	if err == nil && l.verbose && rep.Kept > 0 {
		fmt.Fprintf(l.app.stderr, "%d of %s not read again: they are as an earlier run found them\n", rep.Kept, counted(len(set.Files()), "file"))
	}
	return rep, err
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

// report prints what was found, in every format that was asked for.
func (l *lint) report(found *lintFound) error {
	o := report.Options{Tool: version(), Targets: found.targets, Files: slices.Concat(found.launches, fileNames(&found.set)), Rules: found.rules, Fail: l.fail, Color: l.app.terminal,
		Summary: os.Getenv("GITHUB_STEP_SUMMARY"), Root: cmp.Or(os.Getenv("GITHUB_WORKSPACE"), os.Getenv("CI_PROJECT_DIR"))}
	if l.statistics {
		o.Stats = l.app.stderr
	}
	r, err := report.New(l.formats, l.app.stdout, o)
	if err != nil {
		return &usageError{err}
	}
	for _, e := range found.report.Entries {
		r.Add(report.Entry(e))
	}
	return r.Close()
}
