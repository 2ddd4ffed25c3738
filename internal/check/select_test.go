package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl"
)

// A prefix selects all rules whose ids begin with it; what is ignored is left out, also by its name.
func TestSelect(t *testing.T) {
	all, err := Select(nil, nil)
	if err != nil || len(all) != len(rule.All()) {
		t.Fatalf("%d rules of %d: %v", len(all), len(rule.All()), err)
	}
	some, err := Select([]string{"RL3"}, []string{"RL301"})
	if err != nil || len(some) < 2 {
		t.Fatalf("%d rules: %v", len(some), err)
	}
	for _, r := range some {
		if !strings.HasPrefix(r.ID, "RL3") || r.ID == "RL301" {
			t.Errorf("%s is selected", r.ID)
		}
	}
	one, err := Select([]string{"RL301", "RL302"}, []string{rule.Find("RL301").Name})
	if err != nil || len(one) != 1 || one[0].ID != "RL302" {
		t.Errorf("by name: %v, %v", one, err)
	}
	if _, err := Select(nil, []string{"RL30I"}); !errors.As(err, new(*misuse.Error)) {
		t.Errorf("unknown name: %v", err)
	}
}
