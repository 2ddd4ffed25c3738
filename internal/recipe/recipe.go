// Package recipe makes a data set's options of a recipe and of what a user changes in it. The flags are cli's, the run is build's.
package recipe

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Choice is a recipe with what a user changes in it. Its texts are what the flags of the same names take.
type Choice struct {
	Recipe      *datasets.Recipe
	Demo        bool   // read the recipe's sample, which is in the binary
	Named       bool   // the user named a source
	Agent       string // "": as the recipe has it
	DataSource  string // "": as the recipe has it
	IndexStart  int64  // extra_info.index of the first row of each split
	IndexScope  string // "split" or "run"
	Target      string // "": rows of January 2026
	Fixed       bool
	System      *string // nil: as the recipe has it
	Instruction *string // nil: as the recipe has it

	form    rule.Target      // whose form the rows have
	offsets map[string]int64 // of extra_info.index, by split
}

// Find returns the recipe of that name, or a *misuse.Error that names the nearest one.
func Find(name string) (*datasets.Recipe, error) {
	if r := datasets.Find(name); r != nil {
		return r, nil
	}
	return nil, misuse.Unknown("recipe", name, Names())
}

// Names returns the names of all recipes.
func Names() []string {
	var out []string
	for _, r := range datasets.All() {
		out = append(out, r.Name)
	}
	return out
}

// ByDefault reports whether the recipe's own source is read.
func (c *Choice) ByDefault() bool { return !c.Demo && !c.Named }

// Counts reports whether the index continues over all splits of the data set, so that Continue must know their rows.
func (c *Choice) Counts() bool { return c.IndexScope == "run" }

// Check says what is wrong with the choice, before anything is opened, and gives o the target that it names. Its errors are *misuse.Error.
func (c *Choice) Check(o *build.Options) error {
	switch {
	case c.Demo && c.Named:
		return misuse.Errorf("--demo has its own dataset: remove --source")
	case c.ByDefault() && c.Recipe.Source == "":
		return misuse.Errorf("no source: name the raw dataset with --source FILE|DIR|GLOB, or try --demo")
	case c.IndexScope != "split" && c.IndexScope != "run":
		return misuse.Errorf("--index-scope %s: expected split or run", c.IndexScope)
	case c.Target == "":
		return nil
	}
	t, err := rule.ParseTarget(c.Target)
	if err != nil {
		return &misuse.Error{Err: err}
	}
	if !t.Within(c.Recipe.Versions) {
		return misuse.Errorf("recipe %s does not exist in %s (only in verl %s): remove --target, or name an older version", c.Recipe.Name, t, c.Recipe.Versions)
	}
	o.Target, c.form = t, t
	return nil
}

// Spec gives spec what the recipe knows of its source: files of splits, columns of files without a footer, and with Demo the sample.
func (c *Choice) Spec(spec *source.Spec) error {
	if c.Demo {
		var err error
		if spec.Embedded, err = c.sample(); err != nil {
			return err
		}
	}
	for _, split := range c.Recipe.Splits {
		for _, in := range c.Recipe.Inputs(split) {
			spec.Layout = append(spec.Layout, source.SplitArg{Name: split, Glob: in.Glob})
		}
	}
	if in := c.Recipe.Inputs(c.Recipe.Splits[0]); len(in) > 0 {
		spec.Fields = func(string) []schema.Field { return in[0].Fields }
	}
	return nil
}

// sample returns the files of the recipe's sample, which are in the binary.
func (c *Choice) sample() ([]source.Embedded, error) {
	if c.Recipe.Sample == nil {
		return nil, misuse.Errorf("recipe %s has no built-in sample: name the raw dataset with --source FILE|DIR|GLOB", c.Recipe.Name)
	}
	var out []source.Embedded
	for _, split := range c.Recipe.Splits {
		b, err := fs.ReadFile(c.Recipe.Sample, split+".jsonl")
		if err != nil {
			return nil, fmt.Errorf("read the sample of recipe %s: %w", c.Recipe.Name, err)
		}
		out = append(out, source.Embedded{Name: "sample/" + split + ".jsonl", Data: b})
	}
	return out, nil
}

// AllSplits returns spec without its selection of splits, and whether it selects some: the index counts rows of all.
func AllSplits(spec source.Spec) (source.Spec, bool) {
	selects := func(s source.SplitArg) bool { return s.Glob == "" }
	if !slices.ContainsFunc(spec.Splits, selects) {
		return spec, false
	}
	spec.Splits = slices.DeleteFunc(slices.Clone(spec.Splits), selects)
	spec.Hash = false
	return spec, true
}

// Continue lets the index of each split's first row continue over all splits of the data set in the recipe's order. All has every split, also those that
// the run leaves out, so that a row has the same index whatever is selected.
func (c *Choice) Continue(all *source.Set) { c.offsets = all.Offsets(c.Recipe.Splits) }

// Fill gives o the recipe's steps, and what makes its output differ from that of other options.
func (c *Choice) Fill(o *build.Options) {
	o.Kind, o.Expects = c.Recipe.Rows, c.Recipe.Expects
	o.Steps = func(split string) []transform.RowStep {
		return c.Recipe.Steps(datasets.Options{Split: split, Agent: c.Agent, DataSource: c.DataSource,
			IndexStart: c.IndexStart + c.offsets[split], Target: c.form, Fixed: c.Fixed, System: c.System, Instruction: c.Instruction})
	}
	if c.Agent != "" {
		o.KnownAgents = append(o.KnownAgents, c.Agent)
	}
	if c.DataSource != "" {
		o.KnownSources = append(o.KnownSources, c.DataSource)
	}
	o.Given = map[string]string{}
	set := func(name, value, def string) {
		if value != def {
			o.Given[name] = value
		}
	}
	set("agent", c.Agent, "")
	set("data-source", c.DataSource, "")
	set("index-start", strconv.FormatInt(c.IndexStart, 10), "0")
	set("index-scope", c.IndexScope, "split")
	set("target", c.Target, "")
	set("fixed", strconv.FormatBool(c.Fixed), "false")
	for name, value := range map[string]*string{"system": c.System, "instruction": c.Instruction} {
		if value != nil {
			o.Given[name] = *value
		}
	}
}
