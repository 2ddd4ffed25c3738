package baseline

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func named(id string) string { return "name-of-" + strings.ToLower(id) }

func TestForm(t *testing.T) {
	b := Baseline{{"b/x.parquet", "RL301", "agent_name"}: 12, {"a.jsonl", "RL402", ""}: 1, {"b/x.parquet", "RL101", `"odd <name>"`}: 3}
	const want = `{
  "version": 1,
  "findings": [
    {"file": "a.jsonl", "rule": "RL402", "name": "name-of-rl402", "count": 1},
    {"file": "b/x.parquet", "rule": "RL101", "name": "name-of-rl101", "column": "\"odd <name>\"", "count": 3},
    {"file": "b/x.parquet", "rule": "RL301", "name": "name-of-rl301", "column": "agent_name", "count": 12}
  ]
}
`
	if got := string(b.Bytes(named)); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := string(Baseline{}.Bytes(named)); got != "{\n  \"version\": 1,\n  \"findings\": []\n}\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "b.json:1: read baseline: unexpected end of JSON input",
		"{\n\"version\": 1,\n}":              "b.json:3: read baseline: invalid character",
		"{\"version\": 1,\n\"findings\": 3}": "b.json:2: read baseline: json: cannot unmarshal number",
		"{}":                                 "b.json: baseline of version 0: this rlprep reads version 1",
		`{"version": 2, "findings": []}`:     "b.json: baseline of version 2",
		`{"version": 1, "findings": [{"file": "a", "rule": "RL1", "count": 0}]}`:                                           "b.json: entry 1: file, rule and a count from 1 are needed",
		`{"version": 1, "findings": [{"file": "a", "rule": "RL1", "count": 1}, {"file": "a", "rule": "RL1", "count": 2}]}`: "b.json: entry 2: RL1 in a is repeated",
		`{"version": 1, "findings": [{"file": "a", "rule": "RL1", "cuont": 1}]}`:                                           `b.json: entry 1: read baseline: json: unknown field "cuont"`,
	} {
		if _, err := Parse("b.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// What is written is read back, the same bytes are written again, and after an update nothing is more.
func TestRoundTrip(t *testing.T) {
	place := rapid.Custom(func(t *rapid.T) Place {
		return Place{rapid.StringN(1, 3, -1).Draw(t, "file"), rapid.SampledFrom([]string{"RL1", "RL2"}).Draw(t, "rule"), rapid.StringN(0, 2, -1).Draw(t, "column")}
	})
	some := rapid.MapOfN(place, rapid.Int64Range(1, 5), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		b, now := Baseline(some.Draw(t, "before")), Baseline(some.Draw(t, "now"))
		text := b.Bytes(named)
		got, err := Parse("b.json", text)
		if err != nil || !maps.Equal(got, b) || !bytes.Equal(got.Bytes(named), text) {
			t.Fatalf("read back %v, %v", got, err)
		}
		looked := func(p Place) bool { return p.Rule == "RL1" || now[p] > 0 }
		more, fewer := b.Compare(now, looked)
		for _, c := range more {
			if c.Is <= c.Was || now[c.Place] != c.Is || b[c.Place] != c.Was {
				t.Fatalf("%+v is not more", c)
			}
		}
		for _, c := range fewer {
			if c.Is >= c.Was || !looked(c.Place) {
				t.Fatalf("%+v is not fewer", c)
			}
		}
		next := b.Update(now, looked)
		if more, fewer := next.Compare(now, looked); len(more)+len(fewer) > 0 {
			t.Fatalf("after the update: %v, %v", more, fewer)
		}
		for p, n := range b {
			if !looked(p) && next[p] != n {
				t.Fatalf("%v was not looked at, and is gone", p)
			}
		}
	})
	if !slices.IsSortedFunc((Baseline{{"b", "", ""}: 1, {"a", "", ""}: 1}).Places(), func(a, b Place) int { return strings.Compare(a.File, b.File) }) {
		t.Error("places are not sorted")
	}
}

// FuzzParse: whatever a file holds, it is read or refused under its name.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version": 1, "findings": [{"file": "a", "rule": "RL1", "name": "n", "column": "c", "count": 3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Parse("b.json", text)
		if err != nil && !strings.HasPrefix(err.Error(), "b.json:") {
			t.Errorf("error without a name: %v", err)
		}
		if err == nil {
			if again, err := Parse("b.json", b.Bytes(named)); err != nil || !maps.Equal(again, b) {
				t.Errorf("%v is read back as %v, %v", b, again, err)
			}
		}
	})
}
