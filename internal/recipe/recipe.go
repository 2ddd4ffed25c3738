// Package recipe makes a data set's options of a recipe and of what a user changes in it. The flags are cli's, the run is build's.
package recipe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Choice is a recipe with what a user changes in it. Its texts are what the flags of the same names take.
type Choice struct {
	Recipe      *datasets.Recipe
	Demo        bool     // read the recipe's sample, which is in the binary
	Sources     []string // files, folders and globs; of a recipe of several datasets KEY=NAME
	Listed      bool     // the names of the files are in a list
	Selects     bool     // the user selects splits
	Agent       string   // "": as the recipe has it
	DataSource  string   // "": as the recipe has it
	IndexStart  int64    // extra_info.index of the first row of each split
	IndexScope  string   // "split" or "run"
	Target      string   // "": rows of January 2026
	Fixed       bool
	Faithful    bool
	System      *string  // nil: as the recipe has it
	Instruction *string  // nil: as the recipe has it
	Params      []string // NAME=VALUE
	Seed        *int64   // nil: the script's own

	form    rule.Target      // whose form the rows have
	params  map[string]int64 // Params, read
	offsets map[string]int64 // of extra_info.index, by split
}

// Find returns the recipe of that name, or a *misuse.Error that names the nearest one.
func Find(name string) (*datasets.Recipe, error) {
	if r := datasets.Find(name); r != nil {
		return r, nil
	}
	err := misuse.Unknown("recipe", name, Names())
	if schema.Nearest(name, Names()) != "" {
		return nil, err
	}
	return nil, misuse.Errorf("%w (recipes: %s); for other data, 'rlprep init pipeline FILE' writes a pipeline", err, strings.Join(Names(), ", "))
}

// Names returns the names of all recipes.
func Names() []string {
	var out []string
	for _, r := range datasets.All() {
		out = append(out, r.Name)
	}
	return out
}

// Splits are the splits that the recipe reads, as its steps name them.
func (c *Choice) Splits() (out []string) {
	for i := range c.Recipe.Sources {
		s := &c.Recipe.Sources[i]
		for _, split := range s.Splits {
			if name := s.SplitOf(split); !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Counts reports whether the index continues over all splits of the data set, so that Continue must know their rows.
func (c *Choice) Counts() bool { return c.IndexScope == "run" }

// Check says what is wrong with the choice, before anything is opened, and gives o the target that it names. Its errors are *misuse.Error.
func (c *Choice) Check(o *build.Options) error {
	if err := c.useless(); err != nil {
		return err
	}
	switch {
	case c.Fixed && c.Faithful:
		return misuse.Errorf("--fixed and --faithful exclude each other: the script's own rows have its faults")
	case c.IndexScope != "split" && c.IndexScope != "run":
		return misuse.Errorf("--index-scope %s: expected split or run", c.IndexScope)
	}
	if err := c.checkSources(); err != nil {
		return err
	}
	if err := c.readParams(); err != nil || c.Target == "" {
		return err
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

// useless returns an error for an option that was given and that the recipe has no use for.
func (c *Choice) useless() error {
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"agent", c.Agent != ""}, {"data-source", c.DataSource != ""}, {"index-start", c.IndexStart != 0}, {"index-scope", c.Counts()},
		{"system", c.System != nil}, {"instruction", c.Instruction != nil}, {"fixed", c.Fixed},
	} {
		if why := c.Recipe.NoUse[x.name]; why != "" && x.given {
			return misuse.Errorf("recipe %s has no use for --%s: %s", c.Recipe.Name, x.name, why)
		}
	}
	if c.Seed != nil && c.Recipe.Seed == nil {
		return misuse.Errorf("recipe %s has no use for --seed: it draws nothing at random", c.Recipe.Name)
	}
	return nil
}

// readParams reads Params.
func (c *Choice) readParams() error {
	c.params = map[string]int64{}
	var names []string
	for _, p := range c.Recipe.Params {
		names = append(names, p.Name)
		if c.Demo && p.Demo != 0 {
			c.params[p.Name] = p.Demo
		}
	}
	for _, text := range c.Params {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return misuse.Errorf("--param %s: expected NAME=VALUE", text)
		}
		i := slices.Index(names, name)
		if i < 0 && len(names) == 0 {
			return misuse.Errorf("recipe %s has no use for --param %s: its script takes no arguments", c.Recipe.Name, name)
		}
		if i < 0 {
			return misuse.Unknown("parameter", name, names)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < c.Recipe.Params[i].Min {
			return misuse.Errorf("--param %s=%s: expected an integer, at least %d", name, value, c.Recipe.Params[i].Min)
		}
		c.params[name] = n
	}
	return nil
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
func (c *Choice) Continue(all *source.Set) { c.offsets = all.Offsets(c.Splits()) }

// options are those of the recipe, once Check has read them.
func (c *Choice) options() datasets.Options {
	starts := map[string]int64{}
	for _, split := range c.Splits() {
		if n := c.IndexStart + c.offsets[split]; n != 0 {
			starts[split] = n
		}
	}
	return datasets.Options{Agent: c.Agent, DataSource: c.DataSource, IndexStart: starts, Target: c.form, Fixed: c.Fixed, Faithful: c.Faithful,
		System: c.System, Instruction: c.Instruction, Params: c.params, Seed: c.Seed}
}

// Fill gives o, whose Source is opened, the recipe's steps, and what makes its output differ from that of other options.
func (c *Choice) Fill(o *build.Options) error {
	o.Kind, o.Expects = c.Recipe.Rows, c.Recipe.Expects
	f, err := pipefile.New("recipe "+c.Recipe.Name, c.Recipe.Steps(c.options()))
	if err != nil {
		return err
	}
	if err := o.TakeSteps(f); err != nil {
		return err
	}
	if c.Agent != "" {
		o.KnownAgents = append(o.KnownAgents, c.Agent)
	}
	if c.DataSource != "" {
		o.KnownSources = append(o.KnownSources, c.DataSource)
	}
	o.Given = c.settings()
	return nil
}

// settings are the options that were given, as the manifest has them.
func (c *Choice) settings() map[string]string {
	out := map[string]string{}
	set := func(name, value, def string) {
		if value != def {
			out[name] = value
		}
	}
	set("agent", c.Agent, "")
	set("data-source", c.DataSource, "")
	set("index-start", strconv.FormatInt(c.IndexStart, 10), "0")
	set("index-scope", c.IndexScope, "split")
	set("target", c.Target, "")
	set("fixed", strconv.FormatBool(c.Fixed), "false")
	set("faithful", strconv.FormatBool(c.Faithful), "false")
	for name, value := range map[string]*string{"system": c.System, "instruction": c.Instruction} {
		if value != nil {
			out[name] = *value
		}
	}
	if c.Seed != nil {
		out["seed"] = strconv.FormatInt(*c.Seed, 10)
	}
	for name, n := range c.params {
		out["param "+name] = strconv.FormatInt(n, 10)
	}
	return out
}
