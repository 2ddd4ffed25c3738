package edit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// ReshardOptions say which rows are written into which files.
type ReshardOptions struct {
	Source  *source.Set        // opened Parquet files, at least one; required. The caller closes it.
	Out     string             // a new directory; required
	Size    pipeline.Size      // of the files; required. Where it can, a file ends between two row groups.
	HF      parquetio.HFPolicy // of the metadata of HF datasets
	Workers int                // 0: one a core. What is written is the same for any number.
	Guard   *overwrite.Guard   // knows what is read; nil: a new one
	Version string             // of the tool, as the files have it
	// Watch is as that of Options.
	Watch func(total int64) (rows func(rows int64, shard string), done func())
}

// Resharded is what Reshard did.
type Resharded struct {
	Plan          *pipeline.Plan
	Report        *pipeline.Report
	OtherMetadata int // files whose key-value metadata differs from that of the first of their split, and was left out
}

// Reshard writes the rows of files, in the order of their names, into files of another number or size. Row groups are copied undecoded;
// one is cut only where a file has to end within it. Out appears whole, by one rename.
func Reshard(ctx context.Context, o ReshardOptions) (*Resharded, error) {
	if o.Guard == nil {
		o.Guard = &overwrite.Guard{}
	}
	if err := output.DeclareDir(o.Guard, "-o", o.Out, nil); err != nil {
		return nil, err
	}
	switch exists, _, err := shard.Existing(o.Out); {
	case errors.As(err, new(*fs.PathError)):
		return nil, err
	case err != nil:
		return nil, &misuse.Error{Err: err}
	case exists:
		return nil, usagef("%s exists: name a new directory with -o", o.Out)
	}
	src := input.New(o.Source)
	src.KeepRowGroups = true
	j := o.job(src)
	sink := &output.Stage{}
	j.Output.Sink = sink
	plan, err := pipeline.NewPlan(j)
	if err != nil {
		return nil, err
	}
	if plan.Rows == 0 {
		return nil, usagef("no rows: nothing to write")
	}
	sink.Plan = plan
	if sink.Stage, err = shard.NewStage(o.Out); err != nil {
		return nil, err
	}
	done := func() {}
	if o.Watch != nil {
		j.Progress, done = o.Watch(plan.Rows)
	}
	rep, err := plan.Run(ctx)
	done()
	if err != nil {
		return nil, errors.Join(err, sink.Abandon())
	}
	return &Resharded{Plan: plan, Report: rep, OtherMetadata: otherMetadata(src)}, sink.Stage.Publish()
}

func (o *ReshardOptions) job(src *input.Set) *pipeline.Job {
	first := map[string]*parquetio.File{}
	for _, s := range src.Splits {
		first[s.Name] = src.Source(s.Files[0]).Parquet
	}
	size := o.Size
	size.SnapToRowGroups = true
	return &pipeline.Job{
		Input: src, Facts: src, Splits: src.Splits,
		PreserveLayout: true,
		Rules:          judge.Rules{Env: &rule.Env{Target: rule.DefaultTarget(), Rows: rule.Any}},
		Workers:        o.Workers,
		Output: &pipeline.Output{
			Size: size, ShardName: shard.NameOf,
			Codec: build.CodecOf(o.Source), KeepCodec: true,
			Writer: func(split string, _ *rule.File) parquetio.WriterOptions {
				return parquetio.WriterOptions{CreatedBy: "rlprep version " + o.Version, Base: first[split], HF: o.HF}
			},
		},
	}
}

// otherMetadata counts the files whose key-value metadata is not that of the first of their split.
func otherMetadata(src *input.Set) (n int) {
	for _, s := range src.Splits {
		first := src.Files()[s.Files[0]].Metadata
		for _, f := range s.Files {
			for k, v := range src.Files()[f].Metadata {
				if k != "ARROW:schema" && first[k] != v {
					n++
					break
				}
			}
		}
	}
	return n
}
