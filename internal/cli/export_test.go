package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/ruletest"
)

// TestExportExamples writes the examples of all rules, for verl 0.9, to the file that RLPREP_EXPORT names; verl.sh has verl
// itself judge them.
func TestExportExamples(t *testing.T) {
	var text []byte
	shown := 0
	for _, r := range rule.All() {
		for i := range r.Examples {
			e, err := ruletest.Export(r, i, rule.DefaultTarget())
			if err != nil {
				t.Fatalf("%s, example %d: %v", r.ID, i, err)
			}
			e.Set = fmt.Sprintf("%s-%d", r.ID, i)
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			text = append(append(text, line...), '\n')
			if e.Skip == "" {
				shown++
			}
		}
	}
	if shown < 200 {
		t.Errorf("%d examples can be shown to verl, expected 200", shown)
	}
	if name := os.Getenv("RLPREP_EXPORT"); name != "" {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
