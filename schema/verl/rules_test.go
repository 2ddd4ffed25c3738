package verl_test

import (
	"testing"

	"github.com/rlprep/rlprep/internal/fix/fixtest"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
	_ "github.com/rlprep/rlprep/schema/verl"
)

// TestExamples runs every example of every rule of the package.
func TestExamples(t *testing.T) { ruletest.Run(t, rule.All()) }

// TestFixes plans the fixes of every bad example.
func TestFixes(t *testing.T) { fixtest.Run(t, rule.All()) }
