package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/schema/rule"
)

func newLint(a *app) *cobra.Command { return (&lint{app: a}).command() }

// command makes the command whose flags l has.
func (l *lint) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lint [FILES|DIRS|GLOBS…]",
		Short: "check data against the requirements of the trainer",
		Long: `Reports data errors that crash the trainer's loader, agent loop, reward or trace, or that silently corrupt training. It
reads footers and dictionaries first, and then only the columns that rules need.

Without FILES it checks the data sets of rlprep.yaml, which it finds in the current folder or a parent. The other
settings of that file apply to FILES too; flags override them. 'rlprep init' writes a first one.

'rlprep list rules' lists the rules. 'rlprep explain RL301' describes one: what it checks, what the trainer does, the fix.

--fix fixes Parquet files in place, each by one rename, and checks them again. It never changes the meaning of a value.
--unsafe-fixes also changes values and removes rows. --diff shows what either would change.`,
		Example: `  rlprep lint train.parquet --val test.parquet --config run.sh
  rlprep lint data/ --select RL3,RL4 --ignore index-duplicate --output-format sarif=lint.sarif
  rlprep lint --output-format github`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.begin(cmd.Flags(), args)
			return l.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	l.input.register(f)
	f.StringArrayVar(&l.val, "val", nil, "file, directory or glob of validation data; repeatable")
	f.StringVar(&l.target, "target", rule.DefaultTarget().String(), "trainer and version: "+rule.TargetNames())
	f.StringVar(&l.rows, "kind", "", "kind of rows: "+strings.Join(rule.KindNames(), ", ")+" (default: follows from the columns)")
	f.StringArrayVar(&l.formats, "output-format", nil, strings.Join(report.Formats(), ", ")+"; to standard output or =FILE; repeatable")
	f.StringSliceVar(&l.selected, "select", nil, "only these rules: ids, names, or prefixes of ids (RL3)")
	f.StringSliceVar(&l.ignored, "ignore", nil, "without these rules")
	f.StringVar(&l.failLevel, "fail-level", "error", "lowest level that fails: error, warning or info")
	f.BoolVar(&l.exitZero, "exit-zero", false, "exit 0 even if there are findings")
	f.BoolVar(&l.schemaOnly, "schema-only", false, "read only footers")
	f.Int64Var(&l.limit, "rows", 0, "check only the first N rows of each split (0: all)")
	f.BoolVar(&l.statistics, "statistics", false, "count the findings of each rule, on stderr")
	f.BoolVar(&l.trust, "trust-statistics", false, "trust the null counts of Parquet footers: do not check pages that no rule reads")
	f.BoolVar(&l.verbose, "verbose", false, "print one line per file on stderr")
	f.IntVarP(&l.workers, "jobs", "j", 0, "workers (default: one a core)")
	l.known.register(f)
	l.launches.register(f)
	l.project.register(f)
	l.fix.register(f)
	l.baseline.register(f)
	l.cache.register(f)
	return cmd
}

// begin takes the command line.
func (l *lint) begin(f *pflag.FlagSet, args []string) {
	l.given, l.flags, l.args, l.found = f.Changed, f, args, map[report.Place]report.Remedy{}
}

// configure reads the project's file and the options.
func (l *lint) configure() error {
	if err := l.project.open(l.app, l.given); err != nil {
		return err
	}
	if err := l.project.configure(l); err != nil {
		return err
	}
	return l.baseline.open(l)
}

func (l *lint) run(ctx context.Context, args []string) error {
	if err := l.configure(); err != nil {
		return err
	}
	if err := l.declare(ctx, args); err != nil {
		return err
	}
	if err := l.baseline.read(l); err != nil {
		return err
	}
	l.cache.open(l)
	defer l.cache.close()
	found := &check.Result{}
	defer found.Close()
	l.fix.changes = new(int)
	if err := l.collect(ctx, args, found); err != nil {
		return err
	}
	if l.fix.diff {
		return l.fix.end(l, found)
	}
	l.project.suppress(l, found, !l.named(args) && !l.given("config"))
	if done, err := l.baseline.subtract(ctx, l, found); done || err != nil {
		return err
	}
	if err := l.report(ctx, found); err != nil {
		return err
	}
	if failed := slices.Concat(found.Set.Errors, found.Report.Errors); len(failed) > 0 {
		return withCode(ExitFile, errors.Join(failed...))
	}
	if found.Failed(l.fail) && !l.exitZero {
		return errFindings
	}
	return nil
}

// declare says what will be written, and where files are fixed on the way or a baseline is replaced what will be read, before anything is.
func (l *lint) declare(ctx context.Context, args []string) error {
	for i, spec := range l.formats {
		format, file, named := strings.Cut(spec, "=")
		if !named || file == "" || file == "-" {
			continue
		}
		if file == "/dev/stdout" {
			l.formats[i] = format + "=-" // so that it is written in turn with what else goes there
			continue
		}
		if err := l.app.guard.Write("--output-format "+format, file); err != nil {
			return err
		}
	}
	if l.baseline.write {
		if err := l.app.writesFile("--baseline", l.baseline.name); err != nil {
			return err
		}
	}
	if summary := os.Getenv(summaryVariable); summary != "" {
		if err := l.app.guard.Append(summaryVariable, summary); err != nil {
			return err
		}
	}
	if dir := l.cache.dir(l); dir != "" {
		if err := l.app.guard.Folder(check.CacheVariable, dir); err != nil {
			return err
		}
	}
	r, err := report.New(l.formats, io.Discard, report.Options{})
	if err != nil {
		return &misuse.Error{Err: err}
	}
	if err := r.CheckOutputs(); err != nil {
		return err
	}
	if l.fix.on && !l.fix.diff || l.baseline.write {
		return l.foresee(ctx, args)
	}
	return nil
}

// summaryVariable names the file that gets a summary in GitHub's actions.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// report prints what was found, in every format that was asked for.
func (l *lint) report(ctx context.Context, found *check.Result) error {
	o := report.Options{Tool: version(), Targets: found.Targets, Files: slices.Concat(found.Launches, input.Names(&found.Set)), Rules: found.Rules, Fail: l.fail, Color: l.app.color(),
		Summary: os.Getenv(summaryVariable), Root: cmp.Or(os.Getenv("GITHUB_WORKSPACE"), os.Getenv("CI_PROJECT_DIR"))}
	for _, d := range found.Datasets {
		o.Datasets = append(o.Datasets, report.Dataset(d))
	}
	o.Remedies, o.Unread = l.found, len(found.Set.Errors)+len(found.Report.Errors)
	o.Write = func(name string, text []byte) error { return output.WriteNamed(ctx, name, text) }
	o.FileRows = map[string]int64{}
	for _, f := range found.Set.Files() {
		o.FileRows[f.Name] = f.Rows
	}
	if l.statistics {
		o.Stats = l.app.stderr
	}
	r, err := report.New(l.formats, l.app.raw, o)
	if err != nil {
		return &misuse.Error{Err: err}
	}
	for _, e := range found.Report.Entries {
		r.Add(report.Entry(e))
	}
	return r.Close()
}
