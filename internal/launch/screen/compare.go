package screen

import (
	"io"
	"slices"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/hydra"
)

// A Difference is a fact or a key whose value differs; nil where one side has none.
type Difference struct {
	Name string `json:"name"`
	A    *Value `json:"a"`
	B    *Value `json:"b"`
}

// Compare compares the facts, then every key that either of them sets.
func Compare(a, b *launch.Training) []Difference {
	out := []Difference{}
	compare := func(name string, x, y *Value) {
		if x == nil && y == nil || x != nil && y != nil && x.text() == y.text() {
			return
		}
		out = append(out, Difference{name, x, y})
	}
	x, y := newTraining(a, nil), newTraining(b, nil)
	at := func(m map[string]Value, name string) *Value {
		if v, ok := m[name]; ok {
			return &v
		}
		return nil
	}
	names := slices.Clone(x.names)
	for _, n := range y.names {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		compare(n, at(x.Facts, n), at(y.Facts, n))
	}
	keys := append(a.Config.Leaves(), b.Config.Leaves()...)
	slices.Sort(keys)
	value := func(t *launch.Training, key string) *Value {
		n := t.Config.Get(key)
		if n == nil {
			return nil
		}
		v := newValue(hydra.JSONValue(n.Any()), n.Source, "")
		return &v
	}
	for _, k := range slices.Compact(keys) {
		compare(k, value(a, k), value(b, k))
	}
	return out
}

// PrintDifferences writes what two launches do differently for a reader.
func PrintDifferences(w io.Writer, list []Difference) {
	for _, d := range list {
		escape.Fprintln(w, d.Name)
		for i, v := range []*Value{d.A, d.B} {
			if v == nil {
				escape.Fprintf(w, "  %s -\n", "ab"[i:i+1])
				continue
			}
			escape.Fprintf(w, "  %s %s  %s\n", "ab"[i:i+1], v.text(), v.From)
		}
	}
}
