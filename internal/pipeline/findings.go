package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// maxShown is how many findings of a kind are kept whole; of the others only the rows, up to maxRows, and the count.
const (
	maxShown = 3
	maxRows  = 10
)

// An Entry is all findings of one rule, level, file and column.
type Entry struct {
	Findings []rule.Finding // the first maxShown, in order
	Count    int64
	Rows     []int64 // of the first maxRows findings that have one
}

// findings gathers them by rule, file, column and level, in the order in which they come.
type findings struct {
	at      map[findingKey]int
	entries []Entry
}

type findingKey struct {
	rule  *rule.Rule
	level rule.Level
	file  string
	path  schema.Path
}

func newFindings() *findings { return &findings{at: map[findingKey]int{}} }

func (f *findings) entry(g rule.Finding) *Entry {
	k := findingKey{g.Rule, g.Level, g.Pos.File, g.Pos.Path}
	i, ok := f.at[k]
	if !ok {
		i = len(f.entries)
		f.at[k] = i
		f.entries = append(f.entries, Entry{})
	}
	return &f.entries[i]
}

func (f *findings) add(g rule.Finding) {
	e := f.entry(g)
	e.Count++
	if len(e.Findings) < maxShown {
		e.Findings = append(e.Findings, g)
	}
	if g.Pos.Row >= 0 && len(e.Rows) < maxRows {
		e.Rows = append(e.Rows, g.Pos.Row)
	}
}

func (f *findings) merge(entries []Entry) {
	for _, g := range entries {
		e := f.entry(g.Findings[0])
		e.Count += g.Count
		e.Findings = append(e.Findings, g.Findings...)
		e.Rows = append(e.Rows, g.Rows...)
		e.Findings = e.Findings[:min(len(e.Findings), maxShown)]
		e.Rows = e.Rows[:min(len(e.Rows), maxRows)]
	}
}

// worst is the highest level found.
func worst(entries []Entry) rule.Level {
	w := rule.Off
	for _, e := range entries {
		w = max(w, e.Findings[0].Level)
	}
	return w
}

// order sorts entries by file as given, row and rule.
func order(entries []Entry, files []*rule.File) {
	index := map[string]int{}
	for i, f := range files {
		index[f.Name] = i
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		p, q := a.Findings[0].Pos, b.Findings[0].Pos
		return cmp.Or(cmp.Compare(index[p.File], index[q.File]), cmp.Compare(p.Row, q.Row),
			cmp.Compare(a.Findings[0].Rule.ID, b.Findings[0].Rule.ID), cmp.Compare(p.Path, q.Path))
	})
}

// savedFinding is how a record keeps a finding.
type savedFinding struct {
	Rule    string
	Level   rule.Level
	Pos     schema.Pos
	Related []schema.Pos `json:",omitempty"`
	Message string
	Value   string `json:",omitempty"`
}

// finding is the finding that was saved, of the rule that it names.
func (f savedFinding) finding(r *rule.Rule) rule.Finding {
	return rule.Finding{Rule: r, Level: f.Level, Pos: f.Pos, Related: f.Related, Message: f.Message, Value: f.Value}
}

// MarshalJSON names the rule by its id.
func (e Entry) MarshalJSON() ([]byte, error) {
	s := savedEntry{Count: e.Count, Rows: e.Rows}
	for _, f := range e.Findings {
		s.Findings = append(s.Findings, savedFinding{f.Rule.ID, f.Level, f.Pos, f.Related, f.Message, f.Value})
	}
	return json.Marshal(s)
}

type savedEntry struct {
	Findings []savedFinding
	Count    int64
	Rows     []int64
}

// UnmarshalJSON finds the rule by its id.
func (e *Entry) UnmarshalJSON(b []byte) error {
	var s savedEntry
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	e.Count, e.Rows = s.Count, s.Rows
	for _, f := range s.Findings {
		r := rule.Find(f.Rule)
		if r == nil {
			return fmt.Errorf("record names unknown rule %q", f.Rule)
		}
		e.Findings = append(e.Findings, f.finding(r))
	}
	return nil
}
