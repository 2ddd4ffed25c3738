// Package report prints findings: one file a format. What it prints depends on the findings and the options alone, not on
// the order in which findings come in, so it is the same for any number of workers.
package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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

// An Entry is all findings of one rule, level, file and column. It has the form of internal/pipeline's, so that one converts
// to the other.
type Entry struct {
	Findings []rule.Finding // the first of them, at least one, in the order of rows
	Count    int64          // of all; less than there are Findings: as many as there are
	Rows     []int64        // of the first MaxRows findings that have one; nil: those of Findings
	Spread   rule.Spread    // of all; zero: that of Findings
}

// HelpURL returns the address of the page of a rule.
func HelpURL(r *rule.Rule) string {
	return "https://github.com/rlprep/rlprep/blob/main/docs/rules/" + r.ID + ".md"
}

// Options are what a report needs beside the findings.
type Options struct {
	Tool    string        // version of rlprep
	Targets []rule.Target // what the data was checked against, at least one; rules are described as for the first
	Files   []string      // every file that was checked, as the user named it, in the order of the report
	// Remedies are by the places of findings; a finding without one gets no advice but where to read on.
	Remedies map[Place]Remedy
	// FileRows is how many rows each of Files has, where that is known. nil: nothing is known.
	FileRows map[string]int64
	Unread   int          // files that could not be read, beside Files
	Rules    []*rule.Rule // every rule that was on
	Datasets []Dataset    // what was judged together, for formats that report by dataset
	Fail     rule.Level   // findings from this level on fail; Off is taken as Error
	Color    bool         // colour what goes to stdout
	Stats    io.Writer    // gets the table of --statistics; nil: none
	Summary  string       // file that gets a Markdown summary appended ($GITHUB_STEP_SUMMARY); "": none
	Root     string       // root of the repository ($GITHUB_WORKSPACE, $CI_PROJECT_DIR), for formats that name files from there; "": the working directory
	// Write writes a file that a spec names, whole or not at all; nil: os.WriteFile.
	Write  func(name string, text []byte) error
	Anchor string // text file at which annotations about binary files stand; "": see github.go
}

// A Dataset is files that were judged together.
type Dataset struct {
	Name  string
	Files []string     // its files and the launch that they were judged with
	Rules []*rule.Rule // that looked at them, sorted by id
}

// A Place is what all findings of a rule in a column of a file have in common.
type Place struct {
	Rule *rule.Rule
	File string
	Path schema.Path
}

// A Remedy is what the user can do about the findings of a Place.
type Remedy struct {
	Note    string // "": none
	Command string // a command line for a POSIX shell; "": none
	Fixes   bool   // the command fixes files
	Unsafe  bool   // it changes values or leaves rows out
}

// A Report takes the findings of a run and prints them, once, in every format that was asked for.
type Report struct {
	opts    Options
	outputs []output
	groups  []group
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
type formatFunc func(w io.Writer, r *result) error

// A Format is a form in which findings are printed. Its file registers it with add.
type Format struct {
	Name  string // as --output-format takes it
	Place int    // among the formats in help and docs; those for people come first
	For   string // who reads it
	Entry string // what one entry becomes; Markdown
	write formatFunc
}

var formats = map[string]Format{}

// add registers a format; it is called in a variable declaration. It panics on a name that is taken.
func add(f Format) Format {
	if _, taken := formats[f.Name]; taken {
		panic("report: name taken: " + f.Name)
	}
	formats[f.Name] = f
	return f
}

// All returns the formats in the order of their places.
func All() []Format {
	return slices.SortedFunc(maps.Values(formats), func(a, b Format) int { return cmp.Compare(a.Place, b.Place) })
}

// Formats returns the names of the formats in the order of their places.
func Formats() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// A result is what a format prints: the groups in the order of files, rows and rules.
type result struct {
	Options
	groups []group
}

// A group is an Entry with its first finding at hand.
type group struct {
	rule.Finding
	more  []rule.Finding // those right after the first, up to MaxShown in all
	count int64
	rows  []int64

	remedy Remedy
	spread rule.Spread
}

// A place is what findings are gathered by.
type place struct {
	rule  *rule.Rule
	level rule.Level
	file  string
	path  schema.Path
}

// New returns a report in the formats that specs name, each "FORMAT" or "FORMAT=FILE"; without specs it is grouped. Only one
// format can go to stdout ("-" as FILE names it too).
func New(specs []string, stdout io.Writer, opts Options) (*Report, error) {
	if opts.Fail == rule.Off {
		opts.Fail = rule.Error
	}
	r := &Report{opts: opts, at: map[place]int{}}
	if len(specs) == 0 {
		specs = []string{"grouped"}
	}
	taken := map[string]string{}
	for _, spec := range specs {
		name, file, named := strings.Cut(spec, "=")
		f, known := formats[name]
		if !known {
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
		r.outputs = append(r.outputs, output{f.write, file, stdout})
	}
	return r, nil
}

func unknownFormat(name string) error {
	if near := schema.Nearest(name, Formats()); near != "" {
		return fmt.Errorf("unknown output format %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown output format %q (%s)", name, strings.Join(Formats(), ", "))
}

// CheckOutputs returns an error where a file that the specs name cannot be written. It changes no file, and leaves none behind that did not exist.
func (r *Report) CheckOutputs() error {
	for _, o := range r.outputs {
		if o.file == "" {
			continue
		}
		info, before := os.Stat(o.file)
		if before == nil && !info.Mode().IsRegular() {
			continue // opening a pipe would wait for its reader
		}
		f, err := os.OpenFile(o.file, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		f.Close()
		if errors.Is(before, fs.ErrNotExist) {
			if err := os.Remove(o.file); err != nil {
				return err
			}
		}
	}
	return nil
}

// Add takes findings, in any order; those of the same rule, level, file and column are joined.
func (r *Report) Add(entries ...Entry) {
	for _, e := range entries {
		if len(e.Findings) == 0 {
			continue
		}
		f := e.Findings[0]
		k := place{f.Rule, f.Level, f.Pos.File, f.Pos.Path}
		i, ok := r.at[k]
		if !ok {
			i = len(r.groups)
			r.at[k] = i
			r.groups = append(r.groups, group{})
		}
		r.groups[i].join(e)
	}
}

// join takes the findings of e, which are of the same place.
func (g *group) join(e Entry) {
	rows := e.Rows
	if rows == nil {
		for _, f := range e.Findings {
			if f.Pos.Row >= 0 {
				rows = append(rows, f.Pos.Row)
			}
		}
	}
	spread := e.Spread
	if len(spread.Spans)+len(spread.Values) == 0 && !spread.ManyValues {
		for _, f := range e.Findings {
			spread.Add(f.Pos.Row, f.Value)
		}
	}
	g.spread.Merge(spread)
	all := slices.Clone(e.Findings)
	if g.count > 0 {
		all = append(append(all, g.Finding), g.more...)
	}
	slices.SortStableFunc(all, compareFindings)
	g.Finding, g.more = all[0], all[1:min(len(all), MaxShown)]
	g.count += max(e.Count, int64(len(e.Findings)))
	g.rows = slices.Concat(g.rows, rows)
	slices.Sort(g.rows)
	g.rows = slices.Compact(g.rows)
	g.rows = g.rows[:min(len(g.rows), MaxRows)]
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

// result returns what has been added, in the order in which it is printed: that of Options.Files, files not named there
// last, then rows, then rules.
func (r *Report) result() *result {
	order := make(map[string]int, len(r.opts.Files))
	for i, f := range r.opts.Files {
		if _, ok := order[f]; !ok {
			order[f] = i
		}
	}
	rank := func(e group) int {
		if i, ok := order[e.Pos.File]; ok {
			return i
		}
		return len(order)
	}
	groups := slices.Clone(r.groups)
	for i, g := range groups {
		groups[i].remedy = r.opts.Remedies[Place{g.Rule, g.Pos.File, g.Pos.Path}]
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Pos.File, b.Pos.File), compareFindings(a.Finding, b.Finding))
	})
	return &result{r.opts, groups}
}

// Close prints everything. Its errors are about files that cannot be written. A second call does nothing.
func (r *Report) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	res := r.result()
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

func (o output) write(res *result) error {
	if o.file == "" {
		return o.format(o.w, res)
	}
	plain := *res
	plain.Color = false
	var text bytes.Buffer
	if err := o.format(&text, &plain); err != nil {
		return err
	}
	if res.Write == nil {
		return os.WriteFile(o.file, text.Bytes(), 0o644)
	}
	return res.Write(o.file, text.Bytes())
}

// target is the one that rules are described for.
func (r *result) target() rule.Target {
	if len(r.Targets) == 0 {
		return rule.DefaultTarget()
	}
	return r.Targets[0]
}

// levels counts the findings by level.
func (r *result) levels() (n [rule.Error + 1]int64) {
	for _, e := range r.groups {
		n[e.Level] += e.count
	}
	return n
}

// tally says how many findings there are: "2 errors, 1 warning in 1 of 4 files", "no findings in 4 files".
func (r *result) tally() string {
	n := r.levels()
	var parts []string
	for l := rule.Error; l > rule.Off; l-- {
		if n[l] > 0 {
			parts = append(parts, plural(n[l], l.String()))
		}
	}
	with := map[string]bool{}
	for _, e := range r.groups {
		with[e.Pos.File] = true
	}
	files := plural(int64(len(r.Files)), "file")
	switch {
	case len(parts) == 0 && len(r.Files) == 0 && r.Unread > 0:
		return "nothing was judged: " + plural(int64(r.Unread), "file") + " could not be read"
	case len(parts) == 0 && r.Unread > 0:
		return "no findings in " + files + "; " + thousands(int64(r.Unread)) + " more could not be read"
	case len(parts) == 0:
		return "no findings in " + files
	case len(r.Files) <= len(with): // also where no files were named
		return strings.Join(parts, ", ") + " in " + plural(int64(len(with)), "file")
	}
	return fmt.Sprintf("%s in %d of %s", strings.Join(parts, ", "), len(with), files)
}
