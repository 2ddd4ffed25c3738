package ruletest

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/testdata/toy" // a framework must be registered
)

// A shortSighted checker finds the text "bad" in the first rows, or row groups, alone.
type shortSighted struct {
	*rule.Pass
	rows, groups int // that it looks at
}

// Prejudge implements rule.Checker.
func (c *shortSighted) Prejudge(*rule.RowGroupFacts) bool {
	c.groups--
	return c.groups < 0
}

// Row implements rule.Checker.
func (c *shortSighted) Row(r schema.Row) {
	if c.rows--; c.rows >= 0 && r.At(0).Text() == "bad" {
		c.Reportf(r.Pos().At("a"), r.At(0), "it is bad")
	}
}

// TestMutation: a rule whose example is right, and which overlooks the same fault further on, is found out.
func TestMutation(t *testing.T) {
	for _, c := range []struct {
		rows, groups int
		fails        bool
	}{{99, 99, false}, {3, 99, true}, {99, 2, true}} {
		r := &rule.Rule{ID: "TOY999", Framework: rule.All()[0].Framework, Rows: "pairs", Applies: []rule.Severity{{Level: rule.Error}},
			Reads: func(*rule.Pass) []schema.Path { return []schema.Path{"a"} },
			New:   func(p *rule.Pass) rule.Checker { return &shortSighted{p, c.rows, c.groups} }}
		e := rule.Example{Files: []string{`{"a":"good"}` + "\n" + `{"a":"bad"}`}, Want: []string{"0 1 a"}}
		if got, err := findings(r, e, fullStats); err != nil || len(got) != 1 {
			t.Fatalf("%+v: the example gives %v, %v", c, got, err)
		}
		err := checkMutation(r, e, fullStats)
		if (err != nil) != c.fails || err != nil && !strings.Contains(err.Error(), "amid rows without a fault: got []") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
