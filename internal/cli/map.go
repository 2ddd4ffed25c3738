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
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/internal/starmap"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A mapRun is one run of a map function.
type mapRun struct {
	datasetRun
	rowsFor string
	types   string
	prog    *pystar.Program
	fields  []schema.Field // declared
}

func newMap(a *app) *cobra.Command {
	m := &mapRun{datasetRun: datasetRun{app: a, columns: true, Options: build.Options{Target: rule.DefaultTarget()}}}
	cmd := &cobra.Command{
		Use:   "map SCRIPT",
		Short: "run a map function, such as verl's process_fn, over a dataset",
		Long: `Runs the function of a Starlark file on every row, checks the resulting rows, and writes shards. It works like preprocess.
Starlark is Python without classes, imports and exceptions. verl's process_fn runs nearly unchanged; a construct that
only Python has is an error that names the replacement.

The file defines make_map_fn(split), which returns process_fn(example, idx), or process_fn itself, with or without idx.
If the function returns a dict, its keys are set in the example, as in HF datasets' map. None skips the row. A list of
dicts gives several rows. 're', 'json' and 'math' are available. 'rlprep explain map' has the details.

Types are inferred from the first 1,000 rows of each split, or declared with --schema.`,
		Example: `  rlprep map gsm8k.star --source data/gsm8k/ -o out/
  rlprep map fn.star --source train.parquet --split train --dry-run
  rlprep map fn.star --source raw.jsonl --schema 'agent_name: string, score: double' -o out/`,
		Args:        exactArgs("SCRIPT"),
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.start = time.Now()
			return m.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&m.input.sources, "source", nil, "file, directory or glob of the dataset; repeatable")
	f.StringVar(&m.types, "schema", "", "declared types of keys: 'NAME: TYPE, …'")
	f.StringSliceVar(&m.Expects, "expects", nil, "rules whose errors become warnings: RL302,…")
	f.StringVar(&m.rowsFor, "kind", "", "kind of rows: "+strings.Join(rule.KindNames(), ", ")+" (default: follows from the columns)")
	m.register(f, "./NAME, as the script is called")
	return cmd
}

func (m *mapRun) run(ctx context.Context, name string) (err error) {
	if len(m.input.sources) == 0 && m.input.filesFrom == "" {
		return misuse.Errorf("no source: name the dataset with --source FILE|DIR|GLOB")
	}
	if m.rowsFor != "" {
		if m.Kind, err = rule.ParseKind(m.rowsFor); err != nil {
			return misuse.Errorf("--kind %v", err)
		}
	}
	for _, id := range m.Expects {
		if r := rule.Find(id); r == nil || r.ID != id {
			return misuse.Errorf("--expects %s: there is no such rule ('rlprep list rules')", id)
		}
	}
	if err := m.load(name); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	spec, err := m.input.spec(m.app, m.input.sources)
	if err != nil {
		return err
	}
	spec.TempDir = output.TempDir(m.Out)
	if m.Source, err = m.app.resolve(ctx, "--source", spec); err != nil {
		return asInput(unread(err))
	}
	defer m.Source.Close()
	m.tellUnused()
	made := map[string][]transform.RowStep{}
	for _, s := range m.Source.Splits {
		f, err := starmap.NewMap(m.prog, s.Name, m.fields)
		if err != nil {
			return withCode(ExitUsage, err)
		}
		made[s.Name] = []transform.RowStep{f}
	}
	m.Steps = func(split string) []transform.RowStep { return made[split] }
	return m.make(ctx)
}

// load reads the script and what the flags say of it.
func (m *mapRun) load(name string) error {
	text, err := m.app.readFile("map script", name)
	if errors.Is(err, fs.ErrNotExist) {
		return &misuse.Error{Err: source.NotThere(name, err)}
	}
	if err != nil {
		return err
	}
	if m.prog, err = pystar.Load(filepath.ToSlash(name), string(text)); err != nil {
		return withCode(ExitUsage, err)
	}
	if m.dryRun {
		m.prog.Print = func(text string) { escape.Fprintln(m.app.stderr, escape.Raw(escape.Lines(text))) }
	}
	if m.types != "" {
		t, err := transform.ParseType("struct<" + m.types + ">")
		if err != nil {
			return misuse.Errorf("--schema: %v; expected NAME: TYPE, …", err)
		}
		m.fields = t.Fields
	}
	m.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if m.Out == "" {
		m.Out = "./" + m.Name
	}
	sum := sha256.Sum256(text)
	m.Given = map[string]string{"script": hex.EncodeToString(sum[:])}
	if m.types != "" {
		m.Given["schema"] = m.types
	}
	if len(m.Expects) > 0 {
		m.Given["expects"] = strings.Join(m.Expects, ",")
	}
	return nil
}
