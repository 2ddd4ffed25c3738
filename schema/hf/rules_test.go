package hf_test

import (
	"testing"

	"github.com/rlprep/rlprep/internal/fix/fixtest"
	_ "github.com/rlprep/rlprep/schema/hf"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
)

// TestExamples runs every example of every rule of the package.
func TestExamples(t *testing.T) { ruletest.Run(t, rule.All()) }

// TestFixes plans the fixes of every bad example.
func TestFixes(t *testing.T) { fixtest.Run(t, rule.All()) }
