package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A pipelineRun is one run of a pipeline file.
type pipelineRun struct {
	datasetRun
	file *pipefile.File
	dir  string // of the file: names in it are taken from here
	hash string // of the file and of what it names
}

func newRun(a *app) *cobra.Command {
	r := &pipelineRun{datasetRun: datasetRun{app: a, columns: true, Options: build.Options{Target: rule.DefaultTarget()}}}
	cmd := &cobra.Command{
		Use:   "run PIPELINE",
		Short: "convert your own dataset into checked shards, described by a YAML file",
		Long: `Runs a pipeline file: sources, steps, the contract that checks the rows, and the form of the output. It works like
preprocess: the output appears complete or not at all, the same command resumes after an interruption, and the output
bytes depend only on the input, the file and the options.

Steps are transforms: 'rlprep list transforms' lists them, 'rlprep explain TRANSFORM' describes one. Paths in a pipeline
are relative to its own folder. 'rlprep init pipeline FILE' writes a first one, 'rlprep schema pipeline' prints the JSON
Schema for editors.`,
		Example: `  rlprep run pipeline.yaml --dry-run
  rlprep run pipeline.yaml -o out/
  rlprep run pipeline.yaml --source other.jsonl --split train --limit 100 -o out/`,
		Args:        exactArgs("PIPELINE"),
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.start = time.Now()
			return r.run(cmd.Context(), args[0], cmd.Flags().Changed)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&r.input.sources, "source", nil, "file, directory or glob to read instead of the pipeline's sources; repeatable")
	r.register(f, "./NAME, as the pipeline is called")
	return cmd
}

func (r *pipelineRun) run(ctx context.Context, name string, given func(flag string) bool) error {
	text, err := r.app.readFile("pipeline", name)
	if errors.Is(err, fs.ErrNotExist) {
		return withCode(ExitFile, source.NotThere(name, err))
	}
	if err != nil {
		return err
	}
	r.dir = filepath.Dir(name)
	digest := sha256.New()
	digest.Write(text)
	r.file, err = pipefile.Parse(filepath.ToSlash(name), text, func(script string) (string, error) {
		text, err := r.app.readFile("map script", r.inDir(script))
		digest.Write(text)
		return string(text), err
	})
	if err != nil {
		return withCode(ExitUsage, err)
	}
	r.hash = hex.EncodeToString(digest.Sum(nil))
	r.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if r.Out == "" {
		r.Out = "./" + r.Name
	}
	r.settings(given)
	if err := r.check(); err != nil {
		return err
	}
	if err := r.resolve(ctx); err != nil {
		return err
	}
	defer r.Source.Close()
	if err := r.TakeSteps(r.file); err != nil {
		return err
	}
	return r.make(ctx)
}

// inDir is a name that the file has, seen from the working directory.
func (r *pipelineRun) inDir(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, source.RemoteScheme) {
		return name
	}
	return filepath.ToSlash(filepath.Join(r.dir, name))
}

// settings takes what the file says and no flag does.
func (r *pipelineRun) settings(given func(flag string) bool) {
	f := r.file
	if f.Shards > 0 && !given("shards") && !given("shard-rows") && !given("shard-size") {
		r.size.shards = f.Shards
	}
	if f.SplitShards != nil && !given("shards") && !given("shard-rows") && !given("shard-size") {
		r.Shards = f.SplitShards
	}
	r.NoRules = f.NoContract
	if f.Compression != "" && !given("compression") {
		r.Compression = f.Compression
	}
	if f.Target != (rule.Target{}) {
		r.Target = f.Target
	}
	r.Kind, r.Expects, r.RejectFindings = f.Rows, f.Expects, f.RejectFindings
	r.KnownAgents = append(r.KnownAgents, f.Agents...)
	r.KnownSources = append(r.KnownSources, f.DataSources...)
	r.Given = map[string]string{"pipeline": r.hash}
}

// resolve finds the input: what the command line names, else what the file does.
func (r *pipelineRun) resolve(ctx context.Context) error {
	spec, err := r.input.spec(r.app, r.input.sources)
	if err != nil {
		return err
	}
	if len(r.input.sources) == 0 && r.input.filesFrom == "" {
		if err := build.FileSources(r.file, r.inDir, &spec); err != nil {
			return err
		}
	}
	if r.file.Columns != nil {
		spec.Types = func(string) []schema.Field { return r.file.Columns }
	}
	spec.TempDir = output.TempDir(r.Out)
	if r.Source, err = r.app.resolve(ctx, "source", spec); err != nil {
		return asInput(unread(err))
	}
	r.tellUnused()
	if r.file.Columns != nil {
		return input.HasColumns(r.Source)
	}
	return nil
}
