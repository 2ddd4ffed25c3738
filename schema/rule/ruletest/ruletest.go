// Package ruletest runs the examples of rules. It is for the tests of schema/hf, schema/verl and other folders of rules.
package ruletest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// How much a run knows of the chunks before it reads rows.
type knowledge uint8

const (
	rowsOnly  knowledge = iota // Prejudge is not called
	noStats                    // Prejudge is called without statistics
	fullStats                  // nulls and dictionaries are known
	byColumn                   // as noStats, and the rows that are left are looked at by the column first
)

// Run runs every example of every rule, each four times: by rows only, with chunks that nothing is known of, with
// chunks whose nulls and dictionaries are known, and with rows that are decoded before the rule is asked. All must give what the example wants,
// and so must the example's rows amid further rows without a fault.
func Run(t *testing.T, rules []*rule.Rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.ID, func(t *testing.T) {
			checkRule(t, r)
			for i, e := range r.Examples {
				for _, k := range []knowledge{rowsOnly, noStats, fullStats, byColumn} {
					got, err := findings(r, e, k)
					if err != nil {
						t.Fatalf("example %d (%s): %v", i, e.Title, err)
					}
					checkExample(t, i, e, k, got)
					if err := checkMutation(r, e, k); err != nil {
						t.Errorf("example %d (%s), knowledge %d: %v", i, e.Title, k, err)
					}
				}
			}
		})
	}
}

func checkExample(t *testing.T, i int, e rule.Example, k knowledge, got []rule.Finding) {
	t.Helper()
	lines := make([]string, len(got))
	for j, f := range got {
		lines[j] = position(e, f.Pos)
		if f.Message == "" || strings.HasSuffix(f.Message, ".") || strings.Contains(f.Message, "%!") {
			t.Errorf("example %d (%s): message %q", i, e.Title, f.Message)
		}
	}
	want := slices.Clone(e.Want)
	slices.Sort(lines)
	slices.Sort(want)
	if !slices.Equal(lines, want) {
		t.Errorf("example %d (%s), knowledge %d: got findings %q, want %q", i, e.Title, k, lines, want)
		for _, f := range got {
			t.Logf("  %s: %s %s", f.Pos, f.Message, f.Value)
		}
	}
}

// position writes p as Example.Want does: file number, row, path.
func position(e rule.Example, p schema.Pos) string {
	if p.File == launchName {
		return strings.TrimSpace(fmt.Sprintf("launch %d %s", max(p.Line, 0), p.Path))
	}
	ts, _ := tables(e)
	for i, t := range ts {
		if t.file.Name == p.File {
			return strings.TrimSpace(fmt.Sprintf("%d %d %s", i, p.Row, p.Path))
		}
	}
	return "no such file " + p.File
}

var (
	idForm   = regexp.MustCompile(`^[A-Z]{2,5}[0-9]{3}$`)
	nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	citeForm = regexp.MustCompile(`^[a-z]+@[0-9a-z.]+ [\w./]+\.py:[0-9]+(-[0-9]+)?$`)
)

func checkRule(t *testing.T, r *rule.Rule) {
	t.Helper()
	if !idForm.MatchString(r.ID) || !nameForm.MatchString(r.Name) {
		t.Errorf("id %q or name %q is not of the form RL000 (letters and three digits), fault-in-words", r.ID, r.Name)
	}
	if r.Title == "" || strings.HasSuffix(r.Title, ".") || len(strings.TrimSpace(r.Doc)) < 80 {
		t.Errorf("title or doc is missing: %q", r.Title)
	}
	if len(r.Applies) == 0 || r.New == nil {
		t.Error("no Applies or no New")
	}
	checkFramework(t, r)
	checkFixes(t, r)
	for _, c := range r.Cites {
		if !citeForm.MatchString(c) {
			t.Errorf("cite %q is not of the form PROJECT@VERSION FILE.py:LINE", c)
		}
	}
	bad, good := 0, 0
	for _, e := range r.Examples {
		if len(e.Want) > 0 {
			bad++
		} else {
			good++
		}
	}
	if bad == 0 || good == 0 {
		t.Errorf("%d bad and %d good examples, want one of each at least", bad, good)
	}
}

// checkFramework holds a rule to the versions, trainers and kinds of rows of its framework.
func checkFramework(t *testing.T, r *rule.Rule) {
	t.Helper()
	var versions, trainers []string
	for _, v := range r.Framework.Versions {
		versions, trainers = append(versions, v.Name), append(trainers, v.Trainers...)
	}
	for _, s := range r.Applies {
		for _, c := range strings.Fields(s.Versions) {
			if v := strings.TrimLeft(c, "<>="); !slices.Contains(versions, v) {
				t.Errorf("it applies to %q: %s has no version %s (%v)", s.Versions, r.Framework.Name, v, versions)
			}
		}
		if s.Trainer != "" && !slices.Contains(trainers, s.Trainer) {
			t.Errorf("it applies to trainer %s: %s has none of that name (%v)", s.Trainer, r.Framework.Name, trainers)
		}
	}
	if len(versions) == 0 {
		return // a loader's rule may look at the rows of any framework
	}
	if err := r.Framework.Latest().CheckKind(r.Rows); err != nil {
		t.Error(err)
	}
}

// checkFixes asks for a fix, or for the reason why there is none.
func checkFixes(t *testing.T, r *rule.Rule) {
	t.Helper()
	if len(r.Fixes) == 0 && r.Unfixed == "" {
		t.Error("neither Fixes nor, in Unfixed, the reason why 'lint --fix' leaves what it finds")
	}
	for _, f := range r.Fixes {
		if f.Plan == nil || f.Title == "" || strings.HasSuffix(f.Title, ".") || f.DropsRows && !f.Unsafe {
			t.Errorf("fix %q: no Plan, no Title (a clause without a full stop), or it leaves rows out and is not Unsafe", f.Title)
		}
	}
	for i, e := range r.Examples {
		if e.Unfixed != "" && (len(r.Fixes) == 0 || len(e.Want) == 0) {
			t.Errorf("example %d (%s): Unfixed of a good example, or of a rule without Fixes", i, e.Title)
		}
	}
}

// Findings runs r over the files of an example as a run over footers, row groups and rows would.
func Findings(r *rule.Rule, e rule.Example) ([]rule.Finding, error) { return findings(r, e, fullStats) }

func findings(r *rule.Rule, e rule.Example, k knowledge) ([]rule.Finding, error) {
	env, err := Environment(r, e)
	if err != nil {
		return nil, err
	}
	ts, err := tables(e)
	if err != nil {
		return nil, err
	}
	found, _ := run(r, env, ts, k)
	return found, nil
}

// Environment is what an example says of the run: target, kind of rows, launch.
func Environment(r *rule.Rule, e rule.Example) (*rule.Env, error) {
	env := &rule.Env{Target: r.Framework.Latest(), Rows: r.Rows}
	if env.Target == (rule.Target{}) {
		env.Target = rule.DefaultTarget()
	}
	if e.Target != "" {
		t, err := rule.ParseTarget(e.Target)
		if err != nil {
			return nil, err
		}
		env.Target = t
	}
	if env.Rows == rule.Any {
		if env.Rows = e.Rows; env.Rows == rule.Any {
			env.Rows = rule.RL
		}
	}
	if e.Launch != "" {
		env.Launch = newLaunch(e.Launch)
	}
	return env, nil
}

// run returns what a rule finds, and whether it compares rows by keys.
func run(r *rule.Rule, env *rule.Env, ts []*table, k knowledge) (out []rule.Finding, keyed bool) {
	sink := func(f rule.Finding) { out = append(out, f) }
	p, ok := rule.NewPass(r, env)
	if !ok {
		return nil, false
	}
	p.Sink = sink
	files := make([]*rule.File, len(ts))
	for i, t := range ts {
		files[i] = t.file
	}
	r.New(p).Files(files)

	hits := map[rule.Key][]rule.Hit{}
	var keys []rule.Key
	if r.Reads != nil {
		for _, t := range ts {
			p, _ := rule.NewPass(r, env)
			p.Sink, p.Schema, p.Task = sink, t.file.Schema, &rule.Task{}
			p.Out = func(key rule.Key, row schema.Row, value uint64) {
				if hits[key] == nil {
					keys = append(keys, key)
				}
				hits[key] = append(hits[key], rule.Hit{File: t.file, Row: row.Number(), Value: value})
			}
			runRows(r, p, t, k)
		}
	}
	p, _ = rule.NewPass(r, env)
	p.Sink = sink
	group := r.New(p)
	for _, key := range keys {
		if r.JudgeSingletons || len(hits[key]) > 1 {
			group.Group(key, slices.Values(hits[key]))
		}
	}
	return out, len(keys) > 0
}

// runRows judges the rows of a file, in row groups of two.
func runRows(r *rule.Rule, p *rule.Pass, t *table, k knowledge) {
	reads := r.Reads(p)
	c := r.New(p)
	const group = 2
	for from := 0; from < len(t.rows); from += group {
		to := min(from+group, len(t.rows))
		chunks := &rule.RowGroupFacts{Rows: int64(to - from), Pos: schema.FilePos(t.file.Name), At: func(i int) rule.ColumnFacts {
			if _, ok := t.file.Schema.Lookup(reads[i]); ok && k != fullStats {
				return rule.ColumnFacts{Nulls: -1}
			}
			return t.chunk(reads[i], from, to)
		}}
		if k != rowsOnly && c.Prejudge(chunks) {
			continue
		}
		for n := from; n < to; n++ {
			row := t.row(n, reads)
			for _, i := range chunks.Answered {
				row.at[i] = schema.Value{}
			}
			if k != byColumn || t.wants(c, row, reads) {
				c.Row(row)
			}
		}
	}
}

// wants asks a checker whether it must see a row, as a run of rows of which the columns are at hand.
func (t *table) wants(c rule.Checker, r *row, reads []schema.Path) bool {
	s, scans := c.(rule.Scanner)
	if !scans {
		return !c.Prejudge(&rule.RowGroupFacts{Rows: 1, Slice: true, Pos: r.Pos(), At: func(i int) rule.ColumnFacts { return t.chunk(reads[i], int(r.n), int(r.n)+1) }})
	}
	for i, p := range reads {
		f, ok := t.file.Schema.Lookup(p)
		if !s.Scans(i) || !ok {
			continue
		}
		if f.Type.Kind != schema.Text || len(s.Scan(i, textsIn(r.at[i]), nil)) > 0 {
			return true
		}
	}
	return false
}

// textsIn returns the texts of a value, one behind the other.
func textsIn(v schema.Value) schema.Texts {
	var all []byte
	offsets := []int32{0}
	var add func(v schema.Value)
	add = func(v schema.Value) {
		if v.Kind() == schema.List {
			for i := range v.Len() {
				add(v.Elem(i))
			}
		} else if v.Kind() == schema.Text {
			all = append(all, v.Text()...)
			offsets = append(offsets, int32(len(all)))
		}
	}
	add(v)
	return schema.NewTexts(all, offsets)
}
