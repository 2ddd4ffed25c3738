package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A fileSource is a source.Set as the pipeline wants it.
type fileSource struct {
	files    []*rule.File
	open     []*source.File
	splits   []pipeline.Split
	overhead []float64 // of a Parquet file: its bytes by those of its row groups
	whole    bool      // row groups are never cut, whatever their size: they are copied, not decoded
}

func newFileSource(set *source.Set) *fileSource { return deriveSource(set, nil) }

// A derived is a split of the output: its name, and how many rows of its source are read (0: all).
type derived struct {
	name  string
	limit int64
}

// deriveSource is newFileSource where a split of the input may become other splits: each then has the files, as its own.
func deriveSource(set *source.Set, derive func(from string) []derived) *fileSource {
	s := &fileSource{}
	for _, sp := range set.Splits {
		into := []derived{{name: sp.Name}}
		if derive != nil {
			into = derive(sp.Name)
		}
		for _, d := range into {
			p := pipeline.Split{Name: d.name, Limit: d.limit}
			for _, f := range sp.Files {
				file := f.File
				if d.name != sp.Name {
					other := *f.File
					other.Split, other.Val = d.name, d.name == "validation" || d.name == "test"
					file = &other
				}
				file.Index = len(s.files)
				p.Files = append(p.Files, file.Index)
				s.files = append(s.files, file)
				s.open = append(s.open, f)
				s.overhead = append(s.overhead, overhead(f))
			}
			s.splits = append(s.splits, p)
		}
	}
	return s
}

func overhead(f *source.File) float64 {
	if f.Parquet == nil {
		return 1
	}
	var packed int64
	for _, g := range f.Parquet.RowGroups() {
		packed += g.Compressed
	}
	return float64(f.Bytes) / float64(max(1, packed))
}

// fileNames are the names of all files, as the user gave them.
func fileNames(set *source.Set) []string {
	var out []string
	for _, f := range set.Files() {
		out = append(out, f.Name)
	}
	return out
}

// Files implements pipeline.Source.
func (s *fileSource) Files() []*rule.File { return s.files }

// Parts implements pipeline.Source.
func (s *fileSource) Parts(file int) ([]pipeline.Part, error) {
	var out []pipeline.Part
	units := s.open[file].Units(0)
	if s.whole {
		units = s.open[file].WholeUnits()
	}
	for _, u := range units {
		out = append(out, s.part(file, u))
	}
	return out, nil
}

func (s *fileSource) part(file int, u source.Unit) pipeline.Part {
	p := pipeline.Part{File: file, RowGroup: u.RowGroup, First: u.First, Rows: u.Rows, Bytes: u.Bytes, Packed: u.Bytes, Whole: u.Whole, Handle: u}
	if f := s.open[file].Parquet; f != nil {
		g := f.RowGroups()[u.RowGroup]
		p.Packed = int64(float64(g.Compressed) * s.overhead[file] * (float64(u.Rows) / float64(g.Rows)))
	}
	return p
}

// Cut implements pipeline.Source.
func (s *fileSource) Cut(p pipeline.Part, rows int64) (a, b pipeline.Part, err error) {
	x, y := p.Handle.(source.Unit).Cut(rows)
	return s.part(p.File, x), s.part(p.File, y), nil
}

// Chunk implements pipeline.Source.
func (s *fileSource) Chunk(p pipeline.Part, leaf int) (rule.Chunk, bool, error) {
	f := s.open[p.File].Parquet
	if f == nil {
		return rule.Chunk{}, false, nil
	}
	c, err := f.Chunk(p.RowGroup, leaf)
	return c, err == nil, err
}

// Raw implements pipeline.Source.
func (s *fileSource) Raw(p pipeline.Part, leaf int) *record.Raw {
	f := s.open[p.File].Parquet
	if f == nil || !p.Whole {
		return nil
	}
	return f.Raw(p.RowGroup, leaf)
}

// Unchanged implements pipeline.Source.
func (s *fileSource) Unchanged(file int) error { return s.open[file].Unchanged() }

// Open implements pipeline.Source.
func (s *fileSource) Open(ctx context.Context, p pipeline.Part, decode []int) (pipeline.Reader, error) {
	return s.open[p.File].Open(ctx, p.Handle.(source.Unit), decode)
}

// A dirSink is a shard.Dir as the pipeline wants it.
type dirSink struct{ *shard.Dir }

// Create implements pipeline.Sink.
func (s *dirSink) Create(task int) (pipeline.Shard, error) {
	f, err := s.Dir.Create(task)
	if err != nil {
		return nil, err
	}
	return dirShard{f}, nil
}

// A dirShard is a shard.File as the pipeline wants it.
type dirShard struct{ *shard.File }

// Out implements pipeline.Shard.
func (s dirShard) Out() parquetio.Out { return s.File }

// inputFlags name the input.
type inputFlags struct {
	sources   []string
	filesFrom string
	splits    []string
}

func (i *inputFlags) register(f *pflag.FlagSet) {
	f.StringVar(&i.filesFrom, "files-from", "", "read names of files from LIST, one a line (-: standard input)")
	f.StringArrayVar(&i.splits, "split", nil, "take only these splits: train,test; or say where one is: train=GLOB; repeatable")
}

// spec is what the flags and args name.
func (i *inputFlags) spec(a *app, args []string) (source.Spec, error) {
	spec := source.Spec{Args: args, FilesFrom: i.filesFrom, Stdin: a.stdin, Hash: true, Remote: &a.remote}
	for _, s := range i.splits {
		more, err := source.ParseSplit(s)
		if err != nil {
			return spec, &usageError{err}
		}
		spec.Splits = append(spec.Splits, more...)
	}
	return spec, nil
}

// knownFlags name what the trainer knows beside its own.
type knownFlags struct{ agents, sources []string }

func (k *knownFlags) register(f *pflag.FlagSet) {
	f.StringSliceVar(&k.agents, "known-agents", nil, "agent loops that your launch registers, beside the trainer's own")
	f.StringSliceVar(&k.sources, "known-sources", nil, "values of data_source that your reward function scores, beside the trainer's own")
}

func (k *knownFlags) env(rows rule.Kind) *rule.Env {
	return &rule.Env{Target: rule.DefaultTarget, Rows: rows, KnownAgents: append([]string(nil), k.agents...), KnownSources: append([]string(nil), k.sources...)}
}

// asInput gives an error of opening the input its status: damaged files are 3, what was named wrongly is 2.
func asInput(err error) error {
	if errors.Is(err, source.ErrFormat) || errors.Is(err, parquetio.ErrFormat) {
		return withCode(ExitFile, err)
	}
	if errors.As(err, new(*hub.Error)) {
		return err // it says what helps, which is not the usage
	}
	if exitCode(context.Background(), err) == ExitUsage {
		return &usageError{err}
	}
	return err
}

// asUsage gives an error about what was asked for the status of one.
func asUsage(err error) error {
	var step *transform.StepError
	if errors.As(err, &step) { // the place in the pipeline file says more than the command's usage
		return withCode(ExitUsage, step)
	}
	var u *pipeline.UsageError
	if errors.As(err, &u) {
		return &usageError{err}
	}
	if errors.Is(err, source.ErrFormat) || errors.Is(err, parquetio.ErrFormat) {
		return withCode(ExitFile, err)
	}
	return err
}

// thousands writes n with commas: "747,300".
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rowGroups writes "1 row group", "12 row groups".
func rowGroups(n int) string { return counted(n, "row group") }

// counted writes a number of things: "1 file", "1,200 files".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(int64(n)) + " " + thing + "s"
}

// bytesText writes a size: "242.1 MB".
func bytesText(n int64) string {
	f, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}
