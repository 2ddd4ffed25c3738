package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A pipelineRun is one run of a pipeline file.
type pipelineRun struct {
	datasetRun
	file *pipefile.File
	dir  string            // of the file: names in it are taken from here
	hash string            // of the file and of what it names
	from map[string]string // the split of the input that each of the output comes from
}

func newRun(a *app) *cobra.Command {
	r := &pipelineRun{datasetRun: datasetRun{app: a, columns: true, Options: build.Options{Target: rule.DefaultTarget()}}}
	cmd := &cobra.Command{
		Use:   "run PIPELINE",
		Short: "make your own dataset into checked shards, as a YAML file says",
		Long: `Runs a pipeline file: sources, steps, the contract that the rows are judged by, and how they are written. It goes the
same road as preprocess: nothing becomes visible unless everything is right, a run that was ended is taken up by the same
command, and the bytes written depend on the input, the file and the options alone.

Steps are transforms: 'rlprep list transforms' names them, 'rlprep explain TRANSFORM' tells what one does. Names of files in
a pipeline are taken from its own folder. 'rlprep init pipeline FILE' writes a first one, 'rlprep schema pipeline' the JSON
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
	f.StringArrayVar(&r.input.sources, "source", nil, "file, directory or glob to read in place of the file's sources; repeatable")
	r.register(f, "./NAME, as the pipeline is called")
	return cmd
}

func (r *pipelineRun) run(ctx context.Context, name string, given func(flag string) bool) error {
	text, err := r.app.readFile("pipeline", name)
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
	if err := r.outputs(); err != nil {
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
	if f.Compression != "" && !given("compression") {
		r.Compression = f.Compression
	}
	if f.Target != (rule.Target{}) {
		r.Target = f.Target
	}
	r.Kind, r.Expects = f.Rows, f.Expects
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
		if err := r.sources(&spec); err != nil {
			return err
		}
	}
	if r.file.Columns != nil {
		spec.Fields = func(string) []schema.Field { return r.file.Columns }
	}
	spec.TempDir = existingDir(filepath.Dir(filepath.Clean(r.Out)))
	if r.Source, err = r.app.resolve(ctx, "source", spec); err != nil {
		return asInput(err)
	}
	r.tellUnused()
	if r.file.Columns != nil {
		return hasColumns(r.Source)
	}
	return nil
}

// sources takes the file's sources: those of the splits that --split names, where it names some.
func (r *pipelineRun) sources(spec *source.Spec) error {
	wanted := spec.Splits
	if slices.ContainsFunc(wanted, func(s source.SplitArg) bool { return s.Glob != "" }) {
		return nil // it says itself where they are
	}
	var names []string
	spec.Splits = nil
	for _, s := range r.file.Sources {
		if s.Split == "" {
			for _, n := range s.Names {
				spec.Args = append(spec.Args, r.inDir(n))
			}
			spec.Splits = wanted
			return nil
		}
		names = append(names, s.Split)
		if wanted != nil && !slices.Contains(wanted, source.SplitArg{Name: s.Split}) {
			continue
		}
		for _, n := range s.Names {
			spec.Splits = append(spec.Splits, source.SplitArg{Name: s.Split, Glob: r.inDir(n)})
		}
	}
	for _, w := range wanted {
		if !slices.Contains(names, w.Name) {
			return unknown("split", w.Name, names)
		}
	}
	if len(names) == 0 {
		return usagef("%s names no sources: add the key sources, or give --source FILE|DIR|GLOB", r.file.Name)
	}
	return nil
}

// outputs makes the steps of each split of the output.
func (r *pipelineRun) outputs() error {
	r.from = map[string]string{}
	into := map[string][]string{}
	for _, s := range r.Source.Splits {
		into[s.Name] = r.file.Outputs(s.Name)
		for _, name := range into[s.Name] {
			if other, twice := r.from[name]; twice {
				return withCode(ExitUsage, fmt.Errorf("%s: splits %s and %s both become %s: give step split 'splits: [%s]', or other names", r.file.Name, other, s.Name, name, other))
			}
			r.from[name] = s.Name
		}
	}
	made := map[string][]transform.RowStep{}
	for name, from := range r.from {
		steps, err := r.file.Transforms(from, name)
		if err != nil {
			return withCode(ExitUsage, err)
		}
		made[name] = steps
	}
	r.Derive = func(from string) []string { return into[from] }
	r.Steps = func(split string) []transform.RowStep { return made[split] }
	return nil
}
