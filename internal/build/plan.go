package build

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// Check returns a *misuse.Error for the first option that cannot be what is meant. It opens nothing.
func (o *Options) Check() error {
	if o.Limit < 0 {
		return usagef("--limit %d: give a number of rows", o.Limit)
	}
	if _, err := o.codec(); err != nil {
		return err
	}
	_, err := o.tolerance()
	return err
}

func (o *Options) compression() string { return cmp.Or(o.Compression, "zstd") }
func (o *Options) maxRejects() string  { return cmp.Or(o.MaxRejects, "0") }

// codec is that of what is encoded.
func (o *Options) codec() (parquetio.Codec, error) {
	switch o.compression() {
	case "zstd":
		return parquetio.Zstd, nil
	case "snappy":
		return parquetio.Snappy, nil
	case "none":
		return parquetio.None, nil
	case "keep":
		return CodecOf(o.Source), nil
	}
	return 0, usagef("unknown compression %q (zstd, snappy, none, keep)", o.Compression)
}

// CodecOf returns the codec of the first Parquet file of a set that may be nil; Zstd where there is none.
func CodecOf(set *source.Set) parquetio.Codec {
	if set != nil {
		for _, f := range set.Files() {
			if f.Parquet != nil {
				return f.Parquet.Codec()
			}
		}
	}
	return parquetio.Zstd
}

func (o *Options) tolerance() (t pipeline.Tolerance, err error) {
	s := o.maxRejects()
	if n, ok := strings.CutSuffix(s, "%"); ok {
		t.Percent, err = strconv.ParseFloat(n, 64)
		if err != nil || t.Percent < 0 || t.Percent > 100 {
			return t, usagef("--max-rejects %s: expected a number of rows or a percentage", s)
		}
		return t, nil
	}
	if t.Rows, err = strconv.ParseInt(s, 10, 64); err != nil || t.Rows < 0 {
		return t, usagef("--max-rejects %s: expected a number of rows or a percentage", s)
	}
	return t, nil
}

// env is what rules know beside the rows.
func (o *Options) env() *rule.Env {
	return &rule.Env{Target: o.Target, Rows: o.Kind, KnownAgents: o.KnownAgents, KnownSources: o.KnownSources}
}

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
		Rules:     judge.Rules{List: rule.All(), Env: o.env(), DowngradeErrors: o.Expects},
		FailLevel: rule.Error,
		Workers:   o.Workers,
		MaxReject: tolerance,
		Output: &pipeline.Output{
			Sink:      &output.Dir{},
			Size:      o.Size,
			ShardName: o.shardName,
			Codec:     codec, KeepCodec: o.Compression == "keep", KeepRejects: o.Rejects != "",
			Writer: func(string, *rule.File) parquetio.WriterOptions {
				return parquetio.WriterOptions{CreatedBy: "rlprep version " + o.Version}
			},
		},
	}
}

func (o *Options) shardName(split string, i, of int) string {
	if !o.numbered() {
		return shard.Name(split, 0, 1)
	}
	return shard.NameOf(split, i, of)
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
