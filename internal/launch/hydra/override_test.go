package hydra

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestOverrides holds the parser to what hydra-core 1.3.8 makes of 300 overrides (testdata/overrides.jsonl; no want: it refuses);
// make conformance asks hydra-core itself about many more.
func TestOverrides(t *testing.T) {
	text, err := os.ReadFile("testdata/overrides.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var c struct {
			In   string
			Want *struct {
				Op, Key string
				Package *string
				Value   any
			}
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		o, err := Parse(c.In)
		if (err == nil) != (c.Want != nil) {
			t.Errorf("%q: %v, hydra: %v", c.In, err, c.Want)
			continue
		}
		if err != nil {
			continue
		}
		b, err := json.Marshal(JSONValue(o.Value))
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(c.Want.Value)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if b, _ = json.Marshal(got); string(b) != string(want) || o.Op != c.Want.Op || o.Key != c.Want.Key || o.At != (c.Want.Package != nil) {
			t.Errorf("%q: %s %s %s, hydra: %s %s %s", c.In, o.Op, o.Key, b, c.Want.Op, c.Want.Key, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a.b=1", "+a={x:[1,'y'],2:${z}}", "~a", "a@b=null", `a="\\\"x"`, "a=b,c", "a=int(3)", "=", "a=[1", "x=\\,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := Parse(s)
		if err != nil {
			return
		}
		if _, err := json.Marshal(JSONValue(o.Value)); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	})
}
