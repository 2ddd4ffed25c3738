package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/internal/starmap"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A mapRun is one run of a map function.
type mapRun struct {
	production
	rowsFor string
	types   string
	prog    *starmap.Program
	fields  []schema.Field // declared
}

func newMap(a *app) *cobra.Command {
	m := &mapRun{production: production{app: a, judged: rule.DefaultTarget, fates: true}}
	cmd := &cobra.Command{
		Use:   "map SCRIPT",
		Short: "run a map function, verl's process_fn pasted in, over a dataset",
		Long: `Runs the function of a Starlark file on every row, checks the rows that come out, and writes shards: the same road as
preprocess. Starlark is Python without classes, imports and exceptions; verl's process_fn runs nearly word for word, and
what Python has beyond is told with what to write in its place.

The file has make_map_fn(split), which returns process_fn(example, idx), or process_fn itself, with idx or without. A dict
that it returns is laid over the example, as HF datasets' map does it; None leaves the row out; a list of dicts makes
several rows. 're', 'json' and 'math' are there. 'rlprep explain map' tells the rest.

Types are found out from the first 1,000 rows of each split, or said by --schema.`,
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
	f.StringVar(&m.types, "schema", "", "types of keys that are not to be found out: 'NAME: TYPE, …'")
	f.StringSliceVar(&m.expects, "expects", nil, "rules whose findings are at most warnings: RL302,…")
	f.StringVar(&m.rowsFor, "kind", "", "what the rows are for: rl, sft or preference (default: told by the columns)")
	m.register(f, "./NAME, as the script is called")
	return cmd
}

func (m *mapRun) run(ctx context.Context, name string) (err error) {
	if len(m.input.sources) == 0 && m.input.filesFrom == "" {
		return usagef("no source: name the dataset with --source FILE|DIR|GLOB")
	}
	if m.rowsFor != "" {
		if m.rows, err = parseKind(m.rowsFor); err != nil {
			return err
		}
	}
	for _, id := range m.expects {
		if r := rule.Find(id); r == nil || r.ID != id {
			return usagef("--expects %s: there is no such rule ('rlprep list rules')", id)
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
	spec.TempDir = existingDir(filepath.Dir(filepath.Clean(m.out)))
	if m.set, err = source.Resolve(ctx, spec); err != nil {
		return asInput(err)
	}
	defer m.set.Close()
	m.tellUnused()
	made := map[string][]transform.Transform{}
	for _, s := range m.set.Splits {
		f, err := starmap.NewMap(m.prog, s.Name, m.fields)
		if err != nil {
			return withCode(ExitUsage, err)
		}
		made[s.Name] = []transform.Transform{f}
	}
	m.steps = func(split string) []transform.Transform { return made[split] }
	return m.make(ctx)
}

// load reads the script and what the flags say of it.
func (m *mapRun) load(name string) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: there is no such script", name)
	}
	if err != nil {
		return err
	}
	if m.prog, err = starmap.Load(filepath.ToSlash(name), string(text)); err != nil {
		return withCode(ExitUsage, err)
	}
	if m.dryRun {
		m.prog.Print = func(text string) { fmt.Fprintln(m.app.stderr, text) }
	}
	if m.types != "" {
		t, err := transform.ParseType("struct<" + m.types + ">")
		if err != nil {
			return usagef("--schema: %v; expected NAME: TYPE, …", err)
		}
		m.fields = t.Fields
	}
	m.name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if m.out == "" {
		m.out = "./" + m.name
	}
	sum := sha256.Sum256(text)
	m.asked = map[string]string{"script": hex.EncodeToString(sum[:])}
	if m.types != "" {
		m.asked["schema"] = m.types
	}
	if len(m.expects) > 0 {
		m.asked["expects"] = strings.Join(m.expects, ",")
	}
	return nil
}

// learn finds out the columns of map functions from the first rows of each split, as the steps before them leave them. A split of which
// no row comes out has the columns of the others.
func (b *production) learn(ctx context.Context) error {
	src := deriveSource(b.set, b.derive)
	var none []*starmap.Map
	known := map[string]*starmap.Map{} // by the script and its place among the steps
	for _, s := range src.splits {
		steps := b.steps(s.Name)
		for i, t := range steps {
			l, _ := t.(transform.Located)
			if l.Transform != nil {
				t = l.Transform
			}
			m, ok := t.(*starmap.Map)
			if !ok {
				continue
			}
			collectLess()
			some, err := b.learnMap(ctx, src, s, steps[:i:i], m, l)
			if err != nil {
				return err
			}
			if some && known[l.Where] == nil {
				known[l.Where] = m
			} else if !some && known[l.Where] != nil {
				m.Adopt(known[l.Where])
			} else if !some {
				none = append(none, m)
			}
		}
	}
	for _, m := range none { // of splits before the first that has rows
		for _, other := range known {
			if other.Same(m) {
				m.Adopt(other)
			}
		}
	}
	return nil
}

// learnMap runs m over the first rows that before leaves, and reports whether a row came out.
func (b *production) learnMap(ctx context.Context, src *fileSource, s pipeline.Split, before []transform.Transform, m *starmap.Map, l transform.Located) (bool, error) {
	probe := m.Probe()
	var step transform.Transform = probe
	if l.Transform != nil {
		step = transform.Located{Transform: probe, Where: l.Where, Verb: l.Verb}
	}
	steps := append(before, step)
	plan, err := pipeline.NewPlan(&pipeline.Job{Source: src, Splits: []pipeline.Split{s}, Limit: b.limit, Env: b.known.env(rule.Any),
		Steps: func(string) []transform.Transform { return steps }})
	if err != nil {
		return false, asUsage(err)
	}
	if err := plan.First(ctx, s.Name, probe.Done); err != nil {
		return false, asUsage(err)
	}
	if first := probe.First(); first != nil && !probe.Some() { // the schema would say less
		r := pipeline.Rejected{Pos: first.Pos, Where: first.Where, Number: first.Number, Message: first.Message, Reason: "map-error"}
		return false, &pipeline.RejectError{First: r, Count: 1}
	}
	return probe.Some(), withCode(ExitUsage, m.Learn(probe))
}
