package recipe

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // the targets
)

func choice(t *testing.T, name string) Choice {
	t.Helper()
	r, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return Choice{Recipe: r, Sources: []string{"raw"}, IndexScope: "split"}
}

// An unknown recipe is refused with the nearest name.
func TestFind(t *testing.T) {
	_, err := Find("gsm8kk")
	if !errors.As(err, new(*misuse.Error)) || !strings.Contains(err.Error(), "gsm8k") {
		t.Error(err)
	}
	if !slices.Contains(Names(), "gsm8k") {
		t.Error(Names())
	}
}

// What does not go together is refused; a target is handed to the run.
func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Choice){
		"":                        func(*Choice) {},
		"remove --source":         func(c *Choice) { c.Demo = true },
		"expected split or run":   func(c *Choice) { c.IndexScope = "file" },
		"unknown target":          func(c *Choice) { c.Target = "verl@99" },
		"no source: name the raw": func(c *Choice) { c.Sources = nil; withoutHub(c) },
		"does not exist in":       func(c *Choice) { c.Target = "verl@0.9"; r := *c.Recipe; r.Versions = "<0.6"; c.Recipe = &r },
	} {
		c := choice(t, "gsm8k")
		change(&c)
		err := c.Check(&build.Options{})
		switch {
		case want == "" && err != nil:
			t.Error(err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("got %v, want %q", err, want)
		}
	}
	c, o := choice(t, "gsm8k"), build.Options{Target: rule.DefaultTarget()}
	c.Target = "verl@0.8"
	if err := c.Check(&o); err != nil || o.Target.String() != "verl@0.8" {
		t.Errorf("%v, %s", err, o.Target)
	}
}

// withoutHub gives the choice a recipe whose source is nowhere.
func withoutHub(c *Choice) {
	r := *c.Recipe
	r.Sources = []datasets.Source{r.Sources[0]}
	r.Sources[0].Hub, c.Recipe = "", &r
}

// The sample has a file for each split, and the layout a file for each split of the dataset.
func TestSpec(t *testing.T) {
	c := choice(t, "gsm8k")
	c.Demo, c.Sources = true, nil
	var spec source.Spec
	if err := c.Spec(&c.Recipe.Sources[0], &spec); err != nil {
		t.Fatal(err)
	}
	if len(spec.Embedded) != len(c.Recipe.Splits) || len(spec.Embedded[0].Data) == 0 || len(spec.Layout) < len(c.Recipe.Splits) || spec.Fields == nil {
		t.Errorf("%d files, layout %v", len(spec.Embedded), spec.Layout)
	}
	r := *c.Recipe
	r.Sample, c.Recipe = nil, &r
	if err := c.Check(&build.Options{}); err == nil || !strings.Contains(err.Error(), "no built-in sample") {
		t.Error(err)
	}
}

// Each dataset of several is named by its key.
func TestArgs(t *testing.T) {
	c := choice(t, "gsm8k")
	r := *c.Recipe
	r.Sources = []datasets.Source{{Key: "a", Hub: "hf://datasets/x/a", Splits: []string{"train"}}, {Key: "b", Splits: []string{"train", "test"}}}
	c.Recipe = &r
	if got := c.Splits(); !slices.Equal(got, []string{"a", "b_train", "b_test"}) {
		t.Error(got)
	}
	for want, sources := range map[string][]string{
		"give each as KEY=PATH (a, b)": {"raw"},
		"unknown source":               {"c=raw"},
		"no source b":                  {"a=raw"},
		"":                             {"b=one", "b=two"},
	} {
		c.Sources = sources
		got, err := c.Args()
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%v: %v", sources, err)
		case want == "" && (err != nil || !slices.Equal(got[0], []string{"hf://datasets/x/a"}) || !slices.Equal(got[1], []string{"one", "two"})):
			t.Errorf("%v: %v, %v", sources, got, err)
		}
	}
}

// Only what differs from the defaults makes an output another one; an empty text is a choice.
func TestFill(t *testing.T) {
	c := choice(t, "gsm8k")
	o := build.Options{Source: &source.Set{Splits: []source.Split{{Name: "train"}}}}
	if err := c.Fill(&o); err != nil {
		t.Fatal(err)
	}
	if len(o.Given) != 0 || len(o.Steps("train")) == 0 || o.Kind != rule.RL || o.KnownAgents != nil {
		t.Errorf("defaults: %v", o.Given)
	}
	empty := ""
	c.Agent, c.DataSource, c.IndexStart, c.IndexScope, c.Fixed, c.System = "tool_agent", "mine", 7, "run", true, &empty
	if err := c.Fill(&o); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"agent": "tool_agent", "data-source": "mine", "index-start": "7", "index-scope": "run", "fixed": "true", "system": ""}
	if !maps.Equal(o.Given, want) || !slices.Equal(o.KnownAgents, []string{"tool_agent"}) || !slices.Equal(o.KnownSources, []string{"mine"}) {
		t.Errorf("got %v, %v, %v", o.Given, o.KnownAgents, o.KnownSources)
	}
}

// AllSplits drops the selection of splits and keeps the files that make them.
func TestAllSplits(t *testing.T) {
	files := source.SplitArg{Name: "train", Glob: "a*.parquet"}
	spec := source.Spec{Splits: []source.SplitArg{{Name: "test"}, files}, Hash: true}
	got, more := AllSplits(spec)
	if !more || got.Hash || !slices.Equal(got.Splits, []source.SplitArg{files}) || len(spec.Splits) != 2 {
		t.Errorf("%v, %+v", more, got.Splits)
	}
	if _, more := AllSplits(source.Spec{Splits: []source.SplitArg{files}}); more {
		t.Error("nothing is selected")
	}
}
