package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/mend"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// lintFix is what lint mends.
type lintFix struct {
	on     bool
	diff   bool
	unsafe bool
	agent  string

	changes *int // files that would change, with diff; one counter for all data sets
}

func (x *lintFix) register(f *pflag.FlagSet) {
	f.BoolVar(&x.on, "fix", false, "mend in place what can be mended without changing a value, and judge what is left")
	f.BoolVar(&x.unsafe, "unsafe-fixes", false, "with --fix or --diff: also mend what changes values or leaves rows out")
	f.BoolVar(&x.diff, "diff", false, "show what --fix would change, and write nothing")
	f.StringVar(&x.agent, "agent", "", "with --fix or --diff: the agent loop for rows that name none")
}

// active reports whether anything is to be mended or shown.
func (x *lintFix) active() bool { return x.on || x.diff }

// check looks at the flags.
func (x *lintFix) check(l *lint) error {
	switch {
	case !x.active() && x.unsafe:
		return usagef("--unsafe-fixes goes with --fix or --diff")
	case !x.active() && x.agent != "":
		return usagef("--agent goes with --fix or --diff")
	case x.active() && (l.limit > 0 || l.schemaOnly):
		return usagef("--fix and --diff look at whole files: leave out --rows and --schema-only")
	}
	return nil
}

// String is what was asked for, as it stands in a manifest.
func (x *lintFix) String() string {
	words := []string{"lint --fix"}
	if x.unsafe {
		words = append(words, "--unsafe-fixes")
	}
	if x.agent != "" {
		words = append(words, "--agent "+x.agent)
	}
	return strings.Join(words, " ")
}

// mend checks the files of set; with --fix they are mended before, and open again as they are then.
func (l *lint) mend(ctx context.Context, set *source.Set) (*pipeline.Report, error) {
	if l.fix.active() {
		if err := editable(set); err != nil {
			return nil, err
		}
	}
	found, err := l.check(ctx, set)
	if err != nil || !l.fix.active() || len(set.Files()) == 0 {
		return found, err
	}
	if len(set.Errors)+len(found.Errors) > 0 {
		fmt.Fprintln(l.app.stderr, "note: nothing was mended, as not all files could be read")
		return found, nil
	}
	x := &fixRun{lint: l, set: set, files: map[string]*mend.File{}}
	return x.run(ctx, found)
}

// end gives --diff its status.
func (x *lintFix) end(l *lint, found *lintFound) error {
	if failed := slices.Concat(found.set.Errors, found.report.Errors); len(failed) > 0 {
		return withCode(ExitFile, errors.Join(failed...))
	}
	if *x.changes > 0 && !l.exitZero {
		return errFindings
	}
	return nil
}

// editable refuses what cannot be mended in place.
func editable(set *source.Set) error {
	var names []string
	for _, f := range set.Files() {
		switch {
		case strings.HasPrefix(f.Name, source.RemoteScheme):
			return usagef("%s: files of this machine are mended: fetch it with 'hf download'", f.Name)
		case f.Name == "-" || f.Name == "<stdin>":
			return usagef("files are mended, not standard input: name one")
		case f.Format != "parquet":
			return usagef("%s: Parquet files are mended: write the %s as Parquet with 'rlprep run', and mend that", f.Name, f.Format)
		case slices.Contains(names, f.Name):
			return usagef("%s is named twice: what is mended must be of one split", f.Name)
		}
		names = append(names, f.Name)
	}
	return nil
}

// A fixRun mends the files of a set.
type fixRun struct {
	lint  *lint
	set   *source.Set
	plan  *mend.Plan
	files map[string]*mend.File // by name, those with steps
}

// run plans, carries out and judges again; found is what was found before. It returns what is found now.
func (x *fixRun) run(ctx context.Context, found *pipeline.Report) (*pipeline.Report, error) {
	l := x.lint
	src := newFileSource(x.set)
	if l.fix.on && !l.fix.diff {
		if err := catchUp(src.files); err != nil {
			return nil, err
		}
	}
	job := &mend.Job{Source: src, Rules: l.rules, Env: l.env, Unsafe: l.fix.unsafe, Agent: l.fix.agent, Workers: l.workers, Passed: l.project.passes}
	var err error
	if x.plan, err = mend.New(ctx, job, found.Entries); err != nil {
		return nil, err
	}
	for i, f := range src.files {
		if len(x.plan.Files[i].Steps) > 0 {
			x.files[f.Name] = &x.plan.Files[i]
		}
	}
	switch {
	case l.fix.diff:
		return found, x.show(ctx, src)
	case len(x.files) == 0:
		x.sayLeft(found.Entries)
		return found, nil
	}
	if err := x.carryOut(ctx); err != nil {
		return nil, err
	}
	if err := x.set.Reopen(ctx); err != nil {
		return nil, asInput(err)
	}
	if found, err = l.check(ctx, x.set); err != nil {
		return nil, err
	}
	x.sayMended()
	x.sayLeft(found.Entries)
	return found, nil
}

// catchUp brings the manifests beside files up to date, where a run that was killed left them behind.
func catchUp(files []*rule.File) error {
	done := map[string]bool{}
	for _, f := range files {
		if dir := filepath.Dir(f.Name); !done[dir] {
			done[dir] = true
			if err := shard.CatchUp(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// carryOut replaces the files that have steps.
func (x *fixRun) carryOut(ctx context.Context) (err error) {
	var names []string
	for _, f := range x.set.Files() {
		if x.files[f.Name] != nil {
			names = append(names, f.Name)
		}
	}
	c := &columns{app: x.lint.app, name: "lint --fix", edit: x, inPlace: true, workers: x.lint.workers}
	c.strip = func(file string) bool { return x.files[file].Strip }
	if c.set, err = openParquet(ctx, c.app, names, "", c.name); err != nil {
		return err
	}
	defer c.set.Close()
	for _, f := range x.set.Files() { // the plan is of the files as they were
		if err := f.Unchanged(); err != nil {
			return withCode(ExitFile, err)
		}
	}
	return c.carryOut(ctx)
}

// parse implements columnEdit.
func (x *fixRun) parse(args []string) ([]string, error) { return args, nil }

// prepare implements columnEdit.
func (x *fixRun) prepare([]*rule.File, bool) error { return nil }

// steps implements columnEdit.
func (x *fixRun) steps(_ context.Context, src *fileSource, i int, _ int64) ([]transform.Transform, []string, error) {
	return x.files[src.files[i].Name].Steps, nil, nil
}

// String implements columnEdit.
func (x *fixRun) String() string { return x.lint.fix.String() }

// sayLeft tells what is not mended and why.
func (x *fixRun) sayLeft(left []pipeline.Entry) {
	if x.lint.app.quiet {
		return
	}
	told := map[string]bool{}
	for _, e := range left {
		f := e.Findings[0]
		if x.lint.project.passes(f) {
			continue
		}
		line := fmt.Sprintf("left: %s%s %s: %s\n", column(f.Pos.Path), f.Rule.ID, f.Rule.Name, x.why(f))
		if told[line] {
			continue
		}
		if told[line] = true; len(told) > maxFileLines {
			fmt.Fprintln(x.lint.app.stderr, "left: more, for like reasons")
			return
		}
		fmt.Fprint(x.lint.app.stderr, line)
	}
}

// sayMended tells what was done to each file.
func (x *fixRun) sayMended() {
	if x.lint.app.quiet {
		return
	}
	lines := 0
	for _, f := range x.set.Files() {
		m := x.files[f.Name]
		if m == nil {
			continue
		}
		for _, d := range m.Done {
			if lines++; lines <= maxFileLines {
				fmt.Fprintf(x.lint.app.stderr, "mended: %s: %s\n", f.Name, doneText(d))
			}
		}
	}
	if lines > maxFileLines {
		fmt.Fprintf(x.lint.app.stderr, "mended: %s in all\n", counted(len(x.files), "file"))
	}
}

// doneText says what is mended.
func doneText(d mend.Done) string {
	s := fmt.Sprintf("%s%s %s: %s", column(d.Path), d.Rule.ID, d.Rule.Name, d.Does)
	if d.Rows > 0 {
		s += " (" + counted(int(d.Rows), "row") + ")"
	}
	return s
}

// why says why a finding is left.
func (x *fixRun) why(f rule.Finding) string {
	why := x.plan.Left[mend.Finding{Rule: f.Rule, File: f.Pos.File, Path: f.Pos.Path}]
	for _, m := range f.Rule.Mends {
		switch {
		case !m.Unsafe || x.lint.fix.unsafe:
		case why == "":
			return "--unsafe-fixes " + m.Does
		default:
			return why + "; --unsafe-fixes " + m.Does
		}
	}
	if why == "" || strings.Contains(why, f.Rule.Unmended) {
		return cmp.Or(why, f.Rule.Unmended)
	}
	return why + "; " + f.Rule.Unmended
}

func column(p schema.Path) string {
	if p == "" {
		return ""
	}
	return string(p) + ": "
}

// shownRows is how many of the rows of a file that change are shown.
const shownRows = 3

// show prints what would change.
func (x *fixRun) show(ctx context.Context, src *fileSource) error {
	w := x.lint.app.stdout
	for i, f := range src.files {
		m := x.files[f.Name]
		if m == nil {
			continue
		}
		*x.lint.fix.changes++
		fmt.Fprintf(w, "--- %s\n+++ %s\n", f.Name, f.Name)
		for _, d := range m.Done {
			fmt.Fprintf(w, "# %s\n", doneText(d))
		}
		showSchema(w, f.Schema, m.Schema)
		if m.Strip {
			fmt.Fprintln(w, "-metadata huggingface")
		}
		changes, err := x.plan.Changes(ctx, i, shownRows)
		if err != nil {
			return err
		}
		showChanges(w, changes)
	}
	x.sayLeft(x.plan.Found)
	return nil
}

// showSchema prints the leaves that come and go, and where none does the order, if it is another one.
func showSchema(w io.Writer, before, after *schema.Schema) {
	was, is := leafLines(before), leafLines(after)
	changed := false
	for _, line := range was {
		if !slices.Contains(is, line) {
			fmt.Fprintf(w, "-%s\n", line)
			changed = true
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			fmt.Fprintf(w, "+%s\n", line)
			changed = true
		}
	}
	if !changed && !slices.Equal(was, is) {
		fmt.Fprintf(w, "-columns %s\n+columns %s\n", strings.Join(before.Names(), ", "), strings.Join(after.Names(), ", "))
	}
}

func leafLines(s *schema.Schema) []string {
	var out []string
	for _, l := range s.Leaves() {
		out = append(out, string(l.Path)+": "+l.Type.String())
	}
	return out
}

func showChanges(w io.Writer, changes []mend.Change) {
	last := int64(-1)
	for _, c := range changes {
		if c.Row != last {
			fmt.Fprintf(w, "@@ row %d @@\n", c.Row)
			last = c.Row
		}
		switch {
		case c.Gone:
			fmt.Fprintln(w, "-the whole row")
		default:
			if c.Before != "" {
				fmt.Fprintf(w, "-%s: %s\n", c.Path, c.Before)
			}
			if c.After != "" {
				fmt.Fprintf(w, "+%s: %s\n", c.Path, c.After)
			}
		}
	}
}
