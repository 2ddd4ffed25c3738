package ruletest_test

import (
	"testing"

	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
	_ "github.com/rlprep/rlprep/schema/testdata/toy"
)

// TestToy runs the examples of a framework's only rule, with no other framework in the program.
func TestToy(t *testing.T) {
	if all := rule.All(); len(all) != 1 || all[0].Framework.Name != "toy" {
		t.Fatalf("%d rules are registered, want toy's alone", len(all))
	}
	ruletest.Run(t, rule.All())
}
