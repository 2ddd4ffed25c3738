package fix

import (
	"cmp"
	"fmt"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Finding is what all findings of a rule in a column of a file have in common.
type Finding struct {
	Rule *rule.Rule
	File string
	Path schema.Path
}

// A Done is one thing that is fixed in a file.
type Done struct {
	Rule *rule.Rule
	Path schema.Path // "": none
	Fix  *rule.Fix
	Rows int64 // in which it was found; 0: in the file as a whole
	// Change is what became of the types at Path, or of the order of the columns; "": nothing.
	Change string
}

// String says what is fixed: "agent_name: RL301 agent-name-null: fills the nulls (3 rows)".
func (d Done) String() string {
	s := fmt.Sprintf("%s %s: %s", d.Rule.ID, d.Rule.Name, cmp.Or(d.Change, d.Fix.Title))
	if d.Path != "" {
		s = string(d.Path) + ": " + s
	}
	if d.Rows > 0 {
		s += " (" + amount.Of(int(d.Rows), "row") + ")"
	}
	return s
}
