package build

import (
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/schema/rule"
)

// job is the run, with a sink that cannot write yet.
func (b *Build) job() *pipeline.Job {
	o := &b.opts
	src := input.Derive(o.Source, o.Derive)
	src.KeepRowGroups = true // the pipeline cuts those of which nothing can be copied
	codec, _ := o.codec()
	tolerance, _ := o.tolerance()
	return &pipeline.Job{
		Input: src, Facts: src, Splits: src.Splits,
		Steps:     o.Steps,
		Limit:     o.Limit,
		Rules:     judge.Rules{List: o.rules(), Env: o.env(), DowngradeErrors: o.Expects, RejectFrom: o.rejectFrom()},
		FailLevel: rule.Error,
		Workers:   o.Workers,
		MaxReject: tolerance,
		Output: &pipeline.Output{
			Sink:      &output.Dir{},
			Size:      o.Size,
			Shards:    o.Shards,
			ShardName: o.shardName,
			Codec:     codec, KeepCodec: o.Compression == "keep", KeepRejects: o.Rejects != "",
			Writer: func(string, *rule.File) parquetio.WriterOptions {
				return parquetio.WriterOptions{CreatedBy: "rlprep version " + o.Version, Layouts: true}
			},
		},
	}
}

// Plan plans the run: what is read, by which steps, into which shards. It writes nothing.
func (b *Build) Plan() (*pipeline.Plan, error) {
	if err := b.opts.Target.CheckKind(b.opts.Kind); err != nil {
		return nil, &misuse.Error{Err: err}
	}
	j := b.job()
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return nil, err
	}
	if b.opts.Kind == rule.Any && len(j.Splits) > 0 {
		j.Rules.Env.Rows = j.Rules.Env.Target.KindOf(plan.Schemas[j.Splits[0].Name])
	}
	return plan, nil
}

// rejectFrom is the level of findings about a row that take it out.
func (o *Options) rejectFrom() rule.Level {
	if o.RejectFindings {
		return rule.Error
	}
	return rule.Off
}

// rules are those that judge the rows.
func (o *Options) rules() []*rule.Rule {
	if o.NoRules {
		return nil
	}
	return rule.All()
}
