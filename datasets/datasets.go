// Package datasets holds the recipes: how a published dataset becomes samples that a trainer takes. One file adds one
// recipe or the recipes of one dataset, with their doc and their examples, and registers them with Add.
package datasets

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Recipe turns a dataset into samples.
type Recipe struct {
	Name     string // as the trainer's own script is called: "gsm8k_tool_agent_loop"
	Alias    string // another name that Find takes; "": none
	Title    string // one line, no capital, no full stop
	Doc      string // plain text: what comes out, its source (framework, version, file), what to mind
	Script   string // path of the trainer's own script in its repository
	Rows     rule.Kind
	Agent    string   // agent_name of every row, as the script has it; "": no such column
	Index    string   // extra_info.index: IndexOfRows, IndexOfSource or NoIndex
	Random   string   // what is drawn at random: "order of the rows"; "": nothing
	Differs  string   // in a few words, how rows differ from the script's; "": not at all
	Versions string   // of the trainer that has the script, as in rule.Severity; "": all
	Splits   []string // of the output, in order; each is named like the script's file
	Sources  []Source // what is read
	Params   []Param  // the script's own arguments, beside the options that recipes have in common
	Seed     *int64   // what the script seeds its draws with; nil: it draws nothing
	// NoUse says of options that most recipes have why this one has no use for them: {"data-source": "SFT rows are not scored"}. They are
	// refused.
	NoUse map[string]string
	// Steps are those of a pipeline file; SplitName in their arguments stands for the name of the split.
	Steps    func(Options) []Step
	Expects  []string // ids of rules that faithful rows are known to raise; shown as warnings, never blocking
	Examples []Example
	// Sample is raw rows, written for this project, for --demo and for the tests: laid out as the dataset is, below a folder KEY for each
	// source where there are several. nil: no --demo.
	Sample fs.FS
	// RealRows are the SHA-256 of all rows that the original script makes of the whole dataset, by split: compact JSON, one row a line,
	// no newline at the end. Where the dataset is on this machine, a test compares them.
	RealRows map[string]string
}

// What Recipe.Index says.
const (
	IndexOfRows   = "rows of the split"
	IndexOfSource = "as in the source"
	NoIndex       = "none"
)

// A Step is one use of a verb, as in a pipeline file.
type Step = transform.Step

// A Source is one dataset that a recipe reads.
type Source struct {
	Key    string   // of --source KEY=PATH; "": the recipe has one source
	Folder string   // of this source in a folder that has all sources of the recipe, and in Sample; "": Key
	As     string   // the split that its rows belong to in the steps, which may have rows of several sources; "": SplitOf's own
	Hub    string   // where it is: hf://datasets/OWNER/NAME@COMMIT/FOLDER; "": the user has to say
	Splits []string // of the dataset that are read
	// Inputs are the files of a split, the hub's own first: below Hub, or below the dataset's root.
	Inputs func(split string) []Input
	// Generated says that the recipe makes its rows itself: Recipe.Sample is the whole source.
	Generated bool
	// Generate makes the rows of each split, as JSON Lines, of a source that is Generated and whose rows depend on options. Nil: Sample has them.
	Generate func(Options) map[string][]byte
}

// Place is the folder of the source in one that has all sources of the recipe.
func (s *Source) Place() string {
	if s.Folder != "" {
		return s.Folder
	}
	return s.Key
}

// SplitOf returns the name that a split of the source has in the steps and in a pipeline file: with several sources their keys tell them apart.
func (s *Source) SplitOf(split string) string {
	switch {
	case s.As != "":
		return s.As
	case s.Key == "":
		return split
	case len(s.Splits) == 1:
		return s.Key
	}
	return s.Key + "_" + split
}

// An Input is one kind of file that a recipe reads. Line formats have no footer, so the recipe says the columns.
type Input struct {
	Glob   string // below the dataset's root, as the hub lays it out
	Fields []schema.Field
}

// Inputs returns what is read of a split under several names, as datasets are found: each glob with the same columns.
func Inputs(fields []schema.Field, globs ...string) []Input {
	out := make([]Input, len(globs))
	for i, g := range globs {
		out[i] = Input{Glob: g, Fields: fields}
	}
	return out
}

// A Param is an argument of a recipe's script: --param NAME=VALUE.
type Param struct {
	Name    string
	Default int64
	Demo    int64 // the default for the sample, which has few rows; 0: Default
	Min     int64 // the least value that it may have
	Doc     string
}

// An Example is rows in and the rows that come out, both JSON Lines; go test runs it, explain and docs show it.
type Example struct {
	Split   string
	In, Out string
}

var recipes = map[string]*Recipe{}

// Add registers a recipe; it is called in a variable declaration. It panics on a name that is taken.
func Add(r Recipe) *Recipe {
	for _, name := range []string{r.Name, r.Alias} {
		if Find(name) != nil {
			panic("datasets: name taken: " + name)
		}
	}
	recipes[r.Name] = &r
	return &r
}

// All returns every recipe, sorted by name.
func All() []*Recipe {
	out := make([]*Recipe, 0, len(recipes))
	for _, r := range recipes {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Recipe) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Find returns the recipe of that name or alias, nil where there is none.
func Find(name string) *Recipe {
	for _, r := range recipes {
		if name != "" && (r.Name == name || r.Alias == name) {
			return r
		}
	}
	return nil
}
