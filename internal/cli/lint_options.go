package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/source"
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
	trust      bool
	verbose    bool
	workers    int

	given func(flag string) bool // on the command line
	flags *pflag.FlagSet
	args  []string
	found map[report.Place]report.Remedy // of all data sets; nil: nobody asks for remedies
	env   *rule.Env
	fail  rule.Level
	rules []*rule.Rule
}

// named reports whether the command line names files.
func (l *lint) named(args []string) bool { return len(args)+len(l.val) > 0 || l.input.filesFrom != "" }

// resolve opens the files that args and the flags name, or those of splits.
func (l *lint) resolve(ctx context.Context, args []string, splits []source.SplitArg) (*source.Set, error) {
	spec, err := l.spec(args, splits)
	if err != nil {
		return nil, err
	}
	l.app.remote.fetchHint = "run without --schema-only"
	set, err := l.app.resolve(ctx, "FILES", spec)
	if err != nil {
		return nil, asInput(err)
	}
	for _, name := range set.Twice {
		if !l.app.quiet {
			escape.Fprintf(l.app.stderr, "note: %s is named twice: it is checked once\n", name)
		}
	}
	return set, nil
}

// spec is what args and the flags name, or those of splits.
func (l *lint) spec(args []string, splits []source.SplitArg) (source.Spec, error) {
	spec, err := l.input.spec(l.app, args)
	spec.Val, spec.Lenient, spec.SkipBroken, spec.Hash, spec.Peek = l.val, true, true, false, l.schemaOnly
	spec.Splits = append(spec.Splits, splits...)
	return spec, err
}

// options reads the flags that have a form of their own.
func (l *lint) options() (err error) {
	l.env = l.known.env(rule.Any)
	l.env.Agent = l.fix.agent
	if l.env.Target, err = rule.ParseTarget(l.target); err != nil {
		return &misuse.Error{Err: err}
	}
	if l.fail, err = rule.ParseLevel(l.failLevel); err != nil || l.fail == rule.Off {
		return misuse.Errorf("--fail-level %s: expected error, warning or info", l.failLevel)
	}
	if l.rows != "" {
		if l.env.Rows, err = rule.ParseKind(l.rows); err != nil {
			return misuse.Errorf("--kind %v", err)
		}
		if err := l.env.Target.CheckKind(l.env.Rows); err != nil {
			return misuse.Errorf("--kind: %v", err)
		}
	}
	if l.rules, err = check.Select(l.selected, l.ignored); err != nil {
		return err
	}
	return l.fix.check(l)
}

// checkOptions are those of a check of the files of set.
func (l *lint) checkOptions(set *source.Set) check.Options {
	return check.Options{Source: set, Rules: l.rules, Env: l.env, Fail: l.fail, Limit: l.limit, Workers: l.workers, FootersOnly: l.schemaOnly, TrustStatistics: l.trust,
		Cache: l.cache.store, Watch: l.app.watch, Guard: &l.app.guard, Version: version(), Limits: l.input.limits.limits()}
}

func (l *lint) check(ctx context.Context, set *source.Set) (*pipeline.Report, error) {
	rep, err := check.Run(ctx, l.checkOptions(set))
	if l.verbose {
		for _, f := range set.Files() {
			escape.Fprintf(l.app.stderr, "%s: %s rows, split %s, as %s rows for %s\n", f.Name, amount.Thousands(f.Rows), f.Split, l.env.Rows, l.env.Target)
		}
	}
	if err == nil && l.verbose && rep.Cached > 0 {
		escape.Fprintf(l.app.stderr, "%d of %s not read again: they are as an earlier run found them\n", rep.Cached, amount.Of(len(set.Files()), "file"))
	}
	return rep, err
}

// check looks at the flags.
func (x *lintFix) check(l *lint) error {
	switch {
	case !x.active() && x.unsafe:
		return misuse.Errorf("--unsafe-fixes goes with --fix or --diff")
	case !x.active() && x.agent != "":
		return misuse.Errorf("--agent goes with --fix or --diff")
	case x.backup != "" && (!x.on || x.diff):
		return misuse.Errorf("--backup goes with --fix")
	case x.active() && (l.limit > 0 || l.schemaOnly):
		return misuse.Errorf("--fix and --diff need whole files: remove --rows and --schema-only")
	case x.backup != "":
		return edit.CheckBackup(x.backup)
	}
	return nil
}
