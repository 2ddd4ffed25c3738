package judge

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
	Spread   rule.Spread
}

// Findings gathers findings by rule, level, file and column, in the order in which they come.
type Findings struct {
	Entries []Entry
	at      map[findingKey]int
}

type findingKey struct {
	rule  *rule.Rule
	level rule.Level
	file  string
	path  schema.Path
}

// NewFindings returns an empty list.
func NewFindings() *Findings { return &Findings{at: map[findingKey]int{}} }

func (f *Findings) entry(g rule.Finding) *Entry {
	k := findingKey{g.Rule, g.Level, g.Pos.File, g.Pos.Path}
	i, ok := f.at[k]
	if !ok {
		i = len(f.Entries)
		f.at[k] = i
		f.Entries = append(f.Entries, Entry{})
	}
	return &f.Entries[i]
}

// Add adds a finding.
func (f *Findings) Add(g rule.Finding) {
	e := f.entry(g)
	e.Count++
	if len(e.Findings) < maxShown {
		e.Findings = append(e.Findings, g)
	}
	if g.Pos.Row >= 0 && len(e.Rows) < maxRows {
		e.Rows = append(e.Rows, g.Pos.Row)
	}
	e.Spread.Add(g.Pos.Row, g.Value)
}

// Merge adds entries that were gathered elsewhere, later in the order of rows.
func (f *Findings) Merge(entries []Entry) {
	for _, g := range entries {
		e := f.entry(g.Findings[0])
		e.Count += g.Count
		e.Findings = append(e.Findings, g.Findings...)
		e.Rows = append(e.Rows, g.Rows...)
		e.Findings = e.Findings[:min(len(e.Findings), maxShown)]
		e.Rows = e.Rows[:min(len(e.Rows), maxRows)]
		e.Spread.Merge(g.Spread)
	}
}

// Worst is the highest level found.
func (f *Findings) Worst() rule.Level {
	w := rule.Off
	for _, e := range f.Entries {
		w = max(w, e.Findings[0].Level)
	}
	return w
}

// Sort sorts the entries by file as given, row and rule.
func (f *Findings) Sort(files []*rule.File) {
	index := map[string]int{}
	for i, file := range files {
		index[file.Name] = i
	}
	slices.SortStableFunc(f.Entries, func(a, b Entry) int {
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

// A savedEntry is how a record or a cache keeps an Entry: rules by their ids.
type savedEntry struct {
	Findings []savedFinding
	Count    int64
	Rows     []int64
	Spread   rule.Spread
}

func (e Entry) saved() savedEntry {
	s := savedEntry{Count: e.Count, Rows: e.Rows, Spread: e.Spread}
	for _, f := range e.Findings {
		s.Findings = append(s.Findings, savedFinding{f.Rule.ID, f.Level, f.Pos, f.Related, f.Message, f.Value})
	}
	return s
}

// entry is the entry that was saved. It fails where a rule does not exist.
func (s savedEntry) entry() (Entry, error) {
	e := Entry{Count: s.Count, Rows: s.Rows, Spread: s.Spread}
	for _, f := range s.Findings {
		r := rule.Find(f.Rule)
		if r == nil {
			return e, fmt.Errorf("record names unknown rule %q", f.Rule)
		}
		e.Findings = append(e.Findings, rule.Finding{Rule: r, Level: f.Level, Pos: f.Pos, Related: f.Related, Message: f.Message, Value: f.Value})
	}
	return e, nil
}

// MarshalJSON names the rule by its id.
func (e Entry) MarshalJSON() ([]byte, error) { return json.Marshal(e.saved()) }

// UnmarshalJSON finds the rule by its id.
func (e *Entry) UnmarshalJSON(b []byte) error {
	var s savedEntry
	err := json.Unmarshal(b, &s)
	if err == nil {
		*e, err = s.entry()
	}
	return err
}
