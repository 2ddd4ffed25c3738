// Package report prints findings: one file a format. What it prints depends on the findings and the options alone, not on
// the order in which findings come in, so it is the same for any number of workers.
package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// MaxRows is how many row numbers an entry keeps.
const MaxRows = 10

// MaxShown is how many findings of a kind the format full prints for one file.
const MaxShown = 3

// An Entry is the findings of one rule in one file at one column: the first of them, how many there are, and the numbers
// of the first rows.
type Entry struct {
	rule.Finding                // the first, in the order of rows
	More         []rule.Finding // those right after it, for formats that show more than one; may be nil
	Count        int64          // of findings, at least 1; 0 is taken as 1
	Rows         []int64        // the first MaxRows rows, ascending, -1 left out; nil: Pos.Row alone
}

// HelpURL returns the address of the page of a rule.
func HelpURL(r *rule.Rule) string {
	return "https://github.com/rlprep/rlprep/blob/main/docs/rules/" + r.ID + ".md"
}

// Options are what a report is told beside the findings.
type Options struct {
	Tool    string       // version of rlprep
	Target  rule.Target  // what the data was checked against
	Files   []string     // every file that was checked, as the user named it, in the order of the report
	Rules   []*rule.Rule // every rule that was on
	Fail    rule.Level   // findings from this level on fail; Off is taken as Error
	Color   bool         // colour what goes to stdout
	Stats   io.Writer    // gets the table of --statistics; nil: none
	Summary string       // file that gets a Markdown summary appended ($GITHUB_STEP_SUMMARY); "": none
	Root    string       // root of the repository ($GITHUB_WORKSPACE), for formats that name files from there; "": the working directory
	Anchor  string       // text file at which annotations about binary files stand; "": see github.go
}

// A Report takes the findings of a run and prints them, once, in every format that was asked for.
type Report struct {
	opts    Options
	outputs []output
	entries []Entry
	at      map[place]int
	closed  bool
}

// An output is one format and where it goes.
type output struct {
	format formatFunc
	file   string // "": w
	w      io.Writer
}

// A formatFunc writes the findings in one format.
type formatFunc func(w io.Writer, r *Result) error

// formats are the formats by name; Formats lists them in the order of help.
var formats = map[string]formatFunc{
	"full":    writeFull,
	"concise": writeConcise,
	"json":    writeJSON,
	"jsonl":   writeJSONL,
	"github":  writeGitHub,
	"sarif":   writeSARIF,
	"junit":   writeJUnit,
}

// Formats returns the names of the formats, those for people first.
func Formats() []string {
	return []string{"full", "concise", "json", "jsonl", "github", "sarif", "junit"}
}

// A Result is what a format prints: the entries in the order of files, rows and rules.
type Result struct {
	Options
	Entries []Entry
}

// A place is what findings are gathered by.
type place struct {
	rule  *rule.Rule
	file  string
	path  schema.Path
	level rule.Level
}

// New returns a report in the formats that specs name, each "FORMAT" or "FORMAT=FILE"; without specs it is full. Only one
// format can go to stdout ("-" as FILE names it too).
func New(specs []string, stdout io.Writer, opts Options) (*Report, error) {
	if opts.Fail == rule.Off {
		opts.Fail = rule.Error
	}
	r := &Report{opts: opts, at: map[place]int{}}
	if len(specs) == 0 {
		specs = []string{"full"}
	}
	taken := map[string]string{}
	for _, spec := range specs {
		name, file, named := strings.Cut(spec, "=")
		f := formats[name]
		if f == nil {
			return nil, unknownFormat(name)
		}
		if named && file == "" {
			return nil, fmt.Errorf("output format %q: no file after '='", spec)
		}
		if file == "-" {
			file = ""
		}
		if other, ok := taken[file]; ok {
			where := file
			if file == "" {
				where = "standard output"
			}
			return nil, fmt.Errorf("output formats %s and %s both go to %s; write %s=FILE", other, name, where, name)
		}
		taken[file] = name
		r.outputs = append(r.outputs, output{f, file, stdout})
	}
	return r, nil
}

func unknownFormat(name string) error {
	if near := schema.Nearest(name, Formats()); near != "" {
		return fmt.Errorf("unknown output format %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown output format %q (%s)", name, strings.Join(Formats(), ", "))
}

// Add takes findings, in any order; those of the same rule, file, column and level are joined.
func (r *Report) Add(entries ...Entry) {
	for _, e := range entries {
		e = whole(e)
		k := place{e.Rule, e.Pos.File, e.Pos.Path, e.Level}
		i, ok := r.at[k]
		if !ok {
			r.at[k] = len(r.entries)
			r.entries = append(r.entries, e)
			continue
		}
		r.entries[i] = join(r.entries[i], e)
	}
}

// Find adds single findings.
func (r *Report) Find(findings ...rule.Finding) {
	for _, f := range findings {
		r.Add(Entry{Finding: f})
	}
}

// whole fills in what may be left out of an Entry.
func whole(e Entry) Entry {
	e.Count = max(e.Count, 1)
	if e.Rows == nil && e.Pos.Row >= 0 {
		e.Rows = []int64{e.Pos.Row}
	}
	return e
}

// join makes one of two entries of the same place.
func join(a, b Entry) Entry {
	all := append(append([]rule.Finding{a.Finding}, a.More...), append([]rule.Finding{b.Finding}, b.More...)...)
	slices.SortStableFunc(all, compareFindings)
	rows := slices.Concat(a.Rows, b.Rows)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	return Entry{
		Finding: all[0],
		More:    all[1:min(len(all), MaxShown)],
		Count:   a.Count + b.Count,
		Rows:    rows[:min(len(rows), MaxRows)],
	}
}

// compareFindings orders findings of one file: those about the whole file first, then by row, rule, column and text.
func compareFindings(a, b rule.Finding) int {
	return cmp.Or(
		cmp.Compare(a.Pos.Row, b.Pos.Row),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.RowGroup, b.Pos.RowGroup),
		cmp.Compare(a.Rule.ID, b.Rule.ID),
		cmp.Compare(a.Pos.Path, b.Pos.Path),
		cmp.Compare(b.Level, a.Level),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Value, b.Value),
	)
}

// Result returns what has been added, in the order in which it is printed: that of Options.Files, files not named there
// last, then rows, then rules.
func (r *Report) Result() *Result {
	order := make(map[string]int, len(r.opts.Files))
	for i, f := range r.opts.Files {
		if _, ok := order[f]; !ok {
			order[f] = i
		}
	}
	rank := func(e Entry) int {
		if i, ok := order[e.Pos.File]; ok {
			return i
		}
		return len(order)
	}
	entries := slices.Clone(r.entries)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Pos.File, b.Pos.File), compareFindings(a.Finding, b.Finding))
	})
	return &Result{Options: r.opts, Entries: entries}
}

// Failed reports whether a finding at or above the failing level was added.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.entries, func(e Entry) bool { return e.Level >= r.opts.Fail })
}

// Close prints everything. Its errors are about files that cannot be written. A second call does nothing.
func (r *Report) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	res := r.Result()
	for _, o := range r.outputs {
		if err := o.write(res); err != nil {
			return err
		}
	}
	if r.opts.Stats != nil {
		if err := writeStatistics(r.opts.Stats, res); err != nil {
			return err
		}
	}
	if r.opts.Summary != "" {
		return appendSummary(r.opts.Summary, res)
	}
	return nil
}

func (o output) write(res *Result) error {
	if o.file == "" {
		return o.format(o.w, res)
	}
	plain := *res
	plain.Color = false
	return writeFile(o.file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, func(w io.Writer) error { return o.format(w, &plain) })
}

// levels counts the findings by level.
func (r *Result) levels() (n [rule.Error + 1]int64) {
	for _, e := range r.Entries {
		n[e.Level] += e.Count
	}
	return n
}

// tally says how many findings there are: "2 errors, 1 warning in 1 of 4 files", "no findings in 4 files".
func (r *Result) tally() string {
	n := r.levels()
	var parts []string
	for l := rule.Error; l > rule.Off; l-- {
		if n[l] > 0 {
			parts = append(parts, plural(n[l], l.String()))
		}
	}
	with := map[string]bool{}
	for _, e := range r.Entries {
		with[e.Pos.File] = true
	}
	files := plural(int64(len(r.Files)), "file")
	switch {
	case len(parts) == 0:
		return "no findings in " + files
	case len(r.Files) <= len(with): // also where no files were named
		return strings.Join(parts, ", ") + " in " + plural(int64(len(with)), "file")
	}
	return fmt.Sprintf("%s in %d of %s", strings.Join(parts, ", "), len(with), files)
}
