// Package rule says what a check is: a Rule is one fault that data can have, with its documentation, its levels in each
// version of its framework and its examples; a Checker is one run of it; a Finding is one fault found. A Framework is a trainer,
// or the loader that all trainers use; each is a folder beside this one (schema/verl, schema/hf) that registers itself and its rules.
package rule

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// A Level says how bad a finding is.
type Level uint8

// The levels. Off is a rule that does not apply to the target.
const (
	Off Level = iota
	Info
	Warning
	Error
)

// String returns "off", "info", "warning" or "error".
func (l Level) String() string { return [...]string{"off", "info", "warning", "error"}[l] }

// ParseLevel reads what String writes.
func ParseLevel(s string) (Level, error) {
	for l := Off; l <= Error; l++ {
		if l.String() == s {
			return l, nil
		}
	}
	return Off, fmt.Errorf("unknown level %q (info, warning, error)", s)
}

// A Rule is one fault that data can have. A rule is one file.
type Rule struct {
	ID    string   // "RL301", never reused
	Name  string   // names the fault: "agent-name-null"
	Title string   // one line, no capital, no full stop
	Doc   string   // what the trainer does with such data (cite, version) and how to fix it; plain text
	Cites []string // where the trainer or the loader does it, beside what Doc cites: "verl@b178a3cd5 rl_dataset.py:162"
	Rows  Kind
	// Framework is set by Framework.Add. The rule applies to its targets alone.
	Framework *Framework
	Applies   []Severity                // the first that fits the target gives level and consequence; none: the rule is off
	Reads     func(*Pass) []schema.Path // what Row and Prejudge see; nil: the footers are enough
	New       func(*Pass) Checker
	// SharesKeysAs names what the rule emits. Rules of one such name emit the same keys and values, so the pipeline may run Prejudge
	// and Row of the first of them only and hand what it emits to Group of each. "": the rule's own.
	SharesKeysAs string
	// JudgeSingletons says that Group looks also at keys that were emitted for one row only; it is not called for them otherwise.
	JudgeSingletons bool
	// Advise returns what to do about findings beside Fixes; values are the texts that were found, each once, nil where they are too many. Nil:
	// nothing.
	Advise   func(env *Env, values []string) Advice
	Fixes    []Fix  // what 'lint --fix' does about it, the first that helps; none: nothing
	Unfixed  string // why 'lint --fix' leaves it, or what it leaves of it; a clause, no capital, no full stop
	Examples []Example
}

// A Severity says to which versions of its framework a rule applies, at which level, and what happens there.
type Severity struct {
	Versions    string // "", ">=0.5", "<=0.8", "0.7" or two of them: ">=0.5 <0.9"; "" is every version
	Trainer     string // "", "v0", "v1"
	Level       Level
	Consequence string // what the trainer does: "the step dies with 'Agent loop None not registered'"
}

// An Example is rows that a rule judges; go test runs it, explain and docs show it.
type Example struct {
	Title  string
	Files  []string // JSON Lines, one string a file; the rows of one split
	Val    []string // JSON Lines of the validation files
	Schema string   // pyarrow types where JSON cannot say them, "extra_info.index: int32; 1/id: null" (in file 1 only)
	// Launch is what a launch sets, one line for each key: "key=value", where the value is JSON or else text. The other
	// questions of Launch are answered by lines that begin with a sign: "@key={…}" a document, "?key=[…]" missing files,
	// "+key==" an operator, "!=[{"message":…,"key":…}]" refusals, "$NAME=value" a variable, "%module=name" the module.
	// "": there is no launch.
	Launch string
	Want   []string // findings, "file row path": "0 1 agent_name"; row -1 for the whole file, file "launch" and its line, 0 for the command; none: a good example
	Target string   // "" is the default target
	Rows   Kind     // of a rule for rows of every kind; Any: RL
	// Edit changes what JSON Lines cannot say: names, row groups, metadata, types in one file only. Nil: nothing.
	Edit func(files []*File)
	// Unfixed says, of a bad example of a rule with Fixes, why 'lint --fix --unsafe-fixes' leaves it, or a part of that. "": it does not.
	Unfixed string
}

// An Advice is what a rule says about its findings beside its Fixes.
type Advice struct {
	Note  string   // when Flags are right, or what else helps; a clause, no capital, no full stop; "": nothing
	Flags []string // of lint, by which the findings are no faults: "--known-sources", "my/sql"; nil: none
	Agent string   // the agent loop that the findings ask for, which --fix writes; "": none
}

// A Checker is one run of a Rule. Its methods are called from one goroutine. New is called once for Files, once a task for
// Prejudge and Row, and once for Group, so a Checker keeps no state from one of these to the next: what spans rows goes through
// Pass.Emit and Group. Embed *Pass: its methods do nothing.
type Checker interface {
	// Files is called once, with the footers of all files, before any row is read.
	Files([]*File)
	// Prejudge is called before the rows of a row group with what the footer and the dictionaries say; done means that
	// these rows need not be read. A checker may keep what it learns for the rows that follow, up to the next Prejudge. Unless it is a
	// Scanner it is asked again of each run of rows that is decoded (RowGroupFacts.Slice), whose values themselves tell more.
	Prejudge(*RowGroupFacts) (done bool)
	// Row is called for each row.
	Row(schema.Row)
	// Group is called once for each key that was emitted more than once (with Rule.JudgeSingletons: for each), with its hits in order of
	// files and rows; they may be ranged over more than once.
	Group(Key, iter.Seq[Hit])
}

// A Scanner is a Checker that tells from texts, a whole column of them at a time, which rows it must see.
type Scanner interface {
	Checker
	// Scans reports whether the texts of Reads[i] tell. Where its values are no texts, Row is called for every row.
	Scans(i int) bool
	// Scan appends to hits the numbers, in order, of those of texts, which are values of Reads[i], for whose rows Row must be called;
	// for a row without any it is not called.
	Scan(i int, texts schema.Texts, hits []int) []int
}

// RowGroupFacts is what is known of a row group without reading its rows.
type RowGroupFacts struct {
	Rows int64
	Pos  schema.Pos              // file and row group
	At   func(i int) ColumnFacts // of Reads[i]
	// Slice says that it is about some of the rows of a row group, as they lie decoded before the checker. A checker whose answer, or
	// what it emits, depends on how rows are cut returns false for these at once.
	Slice bool
	// Answered holds the reads that the checker will not look at in the rows of this row group (their Row.At may be
	// anything), so they need not be decoded for it. Answer adds one.
	Answered []int
}

// Answer says that Reads[i] need not be read in this row group.
func (c *RowGroupFacts) Answer(i int) { c.Answered = append(c.Answered, i) }

// ColumnFacts is what is known of one read in one row group. Of a path through lists it counts as Parquet does: a null or empty
// list on the way is one null (pyarrow, Polars and DuckDB all write such counts), so no nulls means no empty lists.
type ColumnFacts struct {
	Missing bool           // the file has no such column
	Nulls   int64          // -1: unknown
	Dict    []schema.Value // all values that occur, when every page is dictionary-encoded; nil: unknown
	// Distinct says that no two rows of the files that a trainer loads together have the same value: it is made from their numbers.
	Distinct bool
}

// A File is an input file: what its footer shows, and what it is in this run. Line formats have no footer: their Schema is declared or
// inferred.
type File struct {
	// In this run.
	Index     int    // from 0
	Name      string // as the user named it
	Split     string // "train", "test", …; "" where none was named
	Val       bool   // the file is validation data
	Glob      bool   // came out of a glob that the trainer would hand to the loader as one
	Rewritten bool   // its rows are being written again, so how the file itself is laid out does not matter

	// What its footer shows.
	Format    string // "parquet", "jsonl", "json", "arrow"
	Schema    *schema.Schema
	Rows      int64
	RowGroups []int64 // rows of each; nil in line formats
	Bytes     int64
	Metadata  map[string]string // key-value metadata of the footer
	// ArrowFault says why no reader can make a schema of the metadata ARROW:schema; "" where it can, or there is none.
	ArrowFault string
	// Broken are the rows of JSON Lines that are no JSON objects, in order. The rules see no such row.
	Broken []BrokenRow
}

// A BrokenRow is a row that cannot be read.
type BrokenRow struct {
	Row     int64
	Line    int64  // from 1
	Message string // where in the line, and what is wrong
}

// A Key is the hash of what Group joins rows by. NewKey makes one.
type Key [16]byte

// A Hit is one emitted value.
type Hit struct {
	File     *File
	RowGroup int
	Row      int64
	Line     int64
	Value    uint64
}

// Pos returns where the hit stands.
func (h Hit) Pos() schema.Pos {
	p := schema.FilePos(h.File.Name)
	p.RowGroup, p.Row = h.RowGroup, h.Row
	if h.Line > 0 {
		p.Line = h.Line
	}
	return p
}

// A Finding is one fault in the data. It is never a Go error.
type Finding struct {
	Rule    *Rule
	Level   Level
	Pos     schema.Pos
	Related []schema.Pos
	Message string // what was found, and what will happen
	Value   string // the value found, cut; "" when it adds nothing
}

// Severity returns the first severity of r that applies to the target, and whether there is one. A rule of another framework has none.
func (r *Rule) Severity(t Target) (Severity, bool) {
	if !r.Framework.covers(t) {
		return Severity{}, false
	}
	for _, s := range r.Applies {
		if (s.Trainer == "" || s.Trainer == t.Trainer) && t.Within(s.Versions) {
			return s, true
		}
	}
	return Severity{}, false
}

var registry = map[string]*Rule{}

// All returns every rule, sorted by id.
func All() []*Rule {
	out := make([]*Rule, 0, len(registry))
	for _, r := range registry {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Find returns the rule of that id or name, nil where there is none.
func Find(name string) *Rule {
	if r := registry[strings.ToUpper(name)]; r != nil {
		return r
	}
	for _, r := range registry {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// OfLaunch reports whether r judges launches, alone or with the data: without a launch it looks at nothing.
func (r *Rule) OfLaunch() bool { return strings.HasPrefix(r.ID, "RL7") }

// Named reports whether name is r's id or name, or the beginning of its id (RL3).
func (r *Rule) Named(name string) bool {
	return r.Name == name || (len(name) > 2 && strings.HasPrefix(r.ID, strings.ToUpper(name)))
}

// Names returns the ids and names of all rules, sorted by id.
func Names() []string {
	var out []string
	for _, r := range All() {
		out = append(out, r.ID, r.Name)
	}
	return out
}
