// Package check judges data sets by rules, alone or together with launches, and fixes what rules find: what stands behind the command lint. It
// needs no command line.
package check

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// Options say what is judged, and by what.
type Options struct {
	Source          *source.Set      // the opened files, of which there may be none; required. The caller closes it.
	Rules           []*rule.Rule     // that are on; required
	Env             *rule.Env        // what rules know beside the rows; required. Where Env.Rows is rule.Any, Run sets it by the columns of the first file.
	Fail            rule.Level       // findings from this level on make the report fail
	Limit           int64            // rows of each split that are read; 0: all
	Workers         int              // 0: one a core
	FootersOnly     bool             // read no rows
	TrustStatistics bool             // believe the null counts of footers where no rule reads the pages
	Cache           *Cache           // nil: none
	Limits          source.Limits    // of values and lines, for files that are opened again to be fixed
	Guard           *overwrite.Guard // for fixes: knows what is read; nil: a new one
	Version         string           // of the tool, as fixed files have it
	// Watch is called before the first row, with the number of rows; rows is called for what is done, done after the last. nil: nobody watches.
	Watch func(total int64) (rows func(rows int64, shard string), done func())
}

// Run judges the files. A file that turns out to be damaged is an error in the report, and the others are judged.
func Run(ctx context.Context, o Options) (*pipeline.Report, error) {
	src := input.New(o.Source)
	if o.Env.Rows == rule.Any && len(src.Files()) > 0 {
		o.Env.Rows = o.Env.Target.KindOf(src.Files()[0].Schema)
	}
	j := &pipeline.Job{Input: src, Facts: src, Splits: src.Splits, Rules: judge.Rules{List: o.Rules, Env: o.Env}, Limit: o.Limit, Workers: o.Workers, FailLevel: o.Fail,
		FootersOnly: o.FootersOnly, TrustStatistics: o.TrustStatistics, IsDamaged: isDamaged,
		MaxReject: pipeline.Tolerance{Percent: 100}} // broken lines, which are findings
	if c := o.Cache.of(o.Source, o.Rules, o.Env, o.TrustStatistics); c != nil {
		j.Cache = c
	}
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return nil, err
	}
	if o.Watch != nil {
		var done func()
		j.Progress, done = o.Watch(plan.Rows)
		defer done()
	}
	rep, err := plan.Run(ctx)
	if errors.Is(err, judge.ErrCache) {
		j.Cache = nil
		if plan, err = pipeline.NewPlan(j); err == nil {
			rep, err = plan.Run(ctx)
		}
	}
	return rep, err
}

// isDamaged reports whether an error is about one file that cannot be read.
func isDamaged(err error) bool {
	var coded interface{ ExitCode() int }
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, new(*misuse.Error)):
		return false
	case errors.Is(err, source.ErrFormat), errors.Is(err, parquetio.ErrFormat):
		return true
	case errors.As(err, &coded):
		return coded.ExitCode() == 3
	}
	return errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) || errors.Is(err, syscall.ENOSPC)
}
