// Package baseline keeps the findings that a data set is known to have, so that a check fails only where there are more: counts of each rule,
// column and file, which may only fall.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// version is that of the file's form.
const version = 1

// A Place is what findings are counted by.
type Place struct {
	File   string // with slashes, from the folder of the baseline; hf:// addresses as they are
	Rule   string // id
	Column string // "": the whole file
}

// A Baseline is how many findings there are at each place: at least one.
type Baseline map[Place]int64

// An entry is a line of the file.
type entry struct {
	File   string `json:"file"`
	Rule   string `json:"rule"`
	Name   string `json:"name,omitempty"` // for people
	Column string `json:"column,omitempty"`
	Count  int64  `json:"count"`
}

// Parse reads a baseline. name is what errors call it.
func Parse(name string, text []byte) (Baseline, error) {
	var file struct {
		Version  int               `json:"version"`
		Findings []json.RawMessage `json:"findings"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s:%d: read baseline: %w", name, lineOf(text, err), err)
	}
	if file.Version != version {
		return nil, fmt.Errorf("%s: baseline of version %d: this rlprep reads version %d", name, file.Version, version)
	}
	b := Baseline{}
	for i, raw := range file.Findings {
		var e entry
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("%s: entry %d: read baseline: %w", name, i+1, err)
		}
		p := Place{e.File, e.Rule, e.Column}
		switch {
		case e.File == "" || e.Rule == "" || e.Count < 1:
			return nil, fmt.Errorf("%s: entry %d: file, rule and a count from 1 are needed", name, i+1)
		case b[p] != 0:
			return nil, fmt.Errorf("%s: entry %d: %s in %s is repeated", name, i+1, e.Rule, e.File)
		}
		b[p] = e.Count
	}
	return b, nil
}

// lineOf returns the line, from 1, at which JSON is wrong.
func lineOf(text []byte, err error) int {
	at := int64(0)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
}

// Bytes returns the baseline as a file, a line an entry, sorted. name gives the names of rules, for people.
func (b Baseline) Bytes(name func(rule string) string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"version\": %d,\n  \"findings\": [", version)
	for i, p := range b.Places() {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(marshal(entry{p.File, p.Rule, name(p.Rule), p.Column, b[p]}))
	}
	if len(b) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	return out.Bytes()
}

// marshal writes an entry as one line, with a blank behind each colon and comma between fields, text unescaped where JSON allows.
func marshal(e entry) []byte {
	text := func(s string) []byte {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(s) // a text can be written
		return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"file": %s, "rule": %s`, text(e.File), text(e.Rule))
	if e.Name != "" {
		fmt.Fprintf(&out, `, "name": %s`, text(e.Name))
	}
	if e.Column != "" {
		fmt.Fprintf(&out, `, "column": %s`, text(e.Column))
	}
	fmt.Fprintf(&out, `, "count": %d}`, e.Count)
	return out.Bytes()
}

// Places returns the places, sorted by file, rule and column.
func (b Baseline) Places() []Place {
	out := make([]Place, 0, len(b))
	for p := range b {
		out = append(out, p)
	}
	slices.SortFunc(out, func(x, y Place) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Column, y.Column))
	})
	return out
}

// A Change is how a place differs from the baseline.
type Change struct {
	Place
	Was, Is int64
}

// Compare says where now differs from b, in the order of Places: more is what fails, fewer what could be lowered. looked says whether now would
// hold what is found at a place; where it was not looked, nothing is said.
func (b Baseline) Compare(now Baseline, looked func(Place) bool) (more, fewer []Change) {
	for _, p := range now.Places() {
		if now[p] > b[p] {
			more = append(more, Change{p, b[p], now[p]})
		}
	}
	for _, p := range b.Places() {
		if now[p] < b[p] && looked(p) {
			fewer = append(fewer, Change{p, b[p], now[p]})
		}
	}
	return more, fewer
}

// Update returns the baseline that is to be written: now, and of b what was not looked at.
func (b Baseline) Update(now Baseline, looked func(Place) bool) Baseline {
	out := Baseline{}
	for p, n := range b {
		if !looked(p) {
			out[p] = n
		}
	}
	for p, n := range now {
		out[p] = n
	}
	return out
}
