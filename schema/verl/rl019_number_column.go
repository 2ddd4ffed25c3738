package verl

import (
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

// The columns that verl takes numbers from.
const (
	priority schema.Path = "priority"
	rolloutN schema.Path = "__rollout_n__"
)

var _ = framework.Add(rule.Rule{
	ID: "RL019", Name: "number-column-value", Rows: rule.RL,
	Title: "priority or __rollout_n__ is not a number in some rows",
	Doc: `
If the column priority exists, single_turn_agent calls int() on its value. The V1 trainer calls range() on __rollout_n__. A
text that is not a number fails with ValueError, and a null fails with TypeError: the column exists, so no default applies. tool_agent does
not read priority (all executed on verl 0.9.1).

Drop the column, or rename it.
`,
	Applies: since(">=0.9", byTrainer("TypeError or ValueError")),
	Reads:   reads(agentName, priority, rolloutN),
	New:     func(p *rule.Pass) rule.Checker { return &numberColumn{p} },
	Fixes:   []rule.Fix{fixes.Unsafe(fixes.DropColumn("drops the column"))},
	Examples: []rule.Example{
		{Title: "a priority in words", Files: []string{`{"priority":"high"}`}, Want: []string{"0 0 priority"}},
		{Title: "a priority in some rows", Files: []string{`{"agent_name":"single_turn_agent","priority":1}
{"agent_name":"single_turn_agent","priority":null}`}, Want: []string{"0 1 priority"}},
		{Title: "a number of rollouts, as text", Files: []string{`{"__rollout_n__":"4"}`}, Want: []string{"0 0 __rollout_n__"}},
		{Title: "a number of rollouts in some rows", Files: []string{`{"__rollout_n__":4}
{"__rollout_n__":null}`}, Want: []string{"0 1 __rollout_n__"}},
		{Title: "numbers", Files: []string{`{"priority":1,"__rollout_n__":4}`}},
		{Title: "a priority in digits", Files: []string{`{"priority":" 12 "}`}},
		{Title: "tool_agent does not look at priority", Files: []string{`{"agent_name":"tool_agent","priority":"high"}`}},
		{Title: "__rollout_n__ in the older trainer", Files: []string{`{"__rollout_n__":"4"}`}, Target: "verl@0.9-v0"},
		{Title: "before 0.9", Files: []string{`{"priority":"high"}`}, Target: "verl@0.8"},
	},
})

type numberColumn struct{ *rule.Pass }

// Prejudge implements rule.Checker.
func (c *numberColumn) Prejudge(k *rule.RowGroupFacts) bool {
	pr, n := k.At(1), k.At(2)
	return c.fine(pr, priority) && (c.Env.Target.Trainer != trainerV1 || c.fine(n, rolloutN))
}

// fine reports whether a column does not exist, or holds integers alone.
func (c *numberColumn) fine(k rule.ColumnFacts, path schema.Path) bool {
	return k.Missing || k.Nulls == 0 && kindOf(c.Schema, path) == schema.Int
}

// Row implements rule.Checker.
func (c *numberColumn) Row(r schema.Row) {
	if a := r.At(0); a.IsMissing() || a.Kind() == schema.Text && a.Text() == agents[0] {
		c.look(r, r.At(1), priority, isNumber)
	}
	if c.Env.Target.Trainer == trainerV1 {
		c.look(r, r.At(2), rolloutN, isWhole)
	}
}

func (c *numberColumn) look(r schema.Row, v schema.Value, path schema.Path, ok func(schema.Value) bool) {
	if !v.IsMissing() && !ok(v) {
		c.Reportf(r.Pos().At(path), v, "%s instead of a number: %s", v.Excerpt(40), c.Consequence)
	}
}

// isWhole reports whether Python's range takes v.
func isWhole(v schema.Value) bool { return v.Kind() == schema.Int || v.Kind() == schema.Bool }

// isNumber reports whether Python's int takes v.
func isNumber(v schema.Value) bool {
	if v.Kind() != schema.Text {
		return isWhole(v) || v.Kind() == schema.Float
	}
	_, err := strconv.ParseInt(strings.TrimSpace(v.Text()), 10, 64)
	return err == nil
}
