package verl

import (
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL012", Name: "column-reserved", Cites: []string{"verl@b178a3cd5 agent_loop.py:475-521"}, Rows: rule.RL,
	Title: "a column has the name of an argument of verl's agent loop",
	Doc: `
Every top-level column of a row becomes a keyword argument of _run_agent_loop, AgentLoop.run and _agent_loop_postprocess
(agent_loop.py), so a column with the name of one of their own arguments fails: TypeError 'got multiple values for argument'.
self, sampling_params and trajectory since 0.6, trace and output since 0.7, validate since 0.8; session_id in the V1 trainer of
0.9. In V1, the columns prompts, responses, response_mask, rm_scores, extra_fields and a num_turns of text also replace the output of the loop
('str' object has no attribute 'size'). With a column validate, whatever its values, V1 stores the results where the trainer does not
look, and waits forever (executed on verl 0.9.1).

Drop the column, or rename it.
`,
	Applies: []rule.Severity{
		{Versions: ">=0.6", Level: rule.Error, Consequence: "verl fails with TypeError: got multiple values for argument, in every row"},
	},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for _, c := range f.Schema.Fields {
			if !slices.Contains(arguments(p.Env.Target), c.Name) {
				continue
			}
			at := schema.FilePos(f.Name).At(schema.Path("").Field(c.Name))
			if c.Name == "validate" && p.Env.Target.Trainer == trainerV1 {
				p.Reportf(at, schema.Value{}, "a column of this name, whatever it holds: the trainer waits for results that never come")
				continue
			}
			if c.Name == "extra_fields" && c.Type.Kind == schema.Struct {
				continue // it has a get, as what it replaces
			}
			if c.Name == "num_turns" && c.Type.Kind != schema.Text {
				continue // a number is counted, whoever wrote it
			}
			if slices.Contains(outputs, c.Name) {
				p.Reportf(at, schema.Value{}, "a column of this name takes the place of what the agent loop puts out: verl fails with AttributeError, in every row")
				continue
			}
			p.Reportf(at, schema.Value{}, "a column of this name: %s", p.Consequence)
		}
	}),
	Fixes: []rule.Fix{fixes.Unsafe(fixes.DropColumn("drops the column"))},
	Examples: []rule.Example{
		{Title: "a reasoning trace kept from the source", Files: []string{`{"prompt":[{"role":"user","content":"Hi"}],"trace":"Let me think."}`}, Want: []string{"0 -1 trace"}},
		{Title: "outputs of another model", Files: []string{`{"output":"72","trajectory":"a"}`}, Want: []string{"0 -1 output", "0 -1 trajectory"}},
		{Title: "validate", Files: []string{`{"validate":false}`}, Want: []string{"0 -1 validate"}},
		{Title: "answers of another model, in V1", Files: []string{`{"responses":["72"]}`}, Want: []string{"0 -1 responses"}},
		{Title: "outputs of a run, in V1", Files: []string{`{"rm_scores":[0.5],"response_mask":[1],"num_turns":"2"}`}, Want: []string{"0 -1 rm_scores", "0 -1 response_mask", "0 -1 num_turns"}},
		{Title: "a number of turns", Files: []string{`{"num_turns":2}`}},
		{Title: "session_id, in V1", Files: []string{`{"session_id":"a"}`}, Want: []string{"0 -1 session_id"}},
		{Title: "session_id, in the older trainer", Files: []string{`{"session_id":"a"}`}, Target: "verl@0.9-v0"},
		{Title: "trace, up to 0.6", Files: []string{`{"trace":"a"}`}, Target: "verl@0.6"},
		{Title: "extra_fields that is a struct, as the loop's own", Files: []string{`{"extra_fields":{"level":3}}`}},
		{Title: "inside extra_info", Files: []string{`{"extra_info":{"trace":"a","output":"b"},"level":"easy"}`}},
	},
})

// outputs are fields of a trajectory that the V1 trainer reads after a row's columns have replaced them (agent_loop_tq.py,
// _agent_loop_postprocess, 0.9.1).
var outputs = []string{"prompts", "responses", "response_mask", "rm_scores", "num_turns", "extra_fields"}

// arguments are the names that the target's agent loop passes itself.
func arguments(t rule.Target) []string {
	names := itemsFor(t, loopArguments)
	if t.Trainer == trainerV1 {
		names = append(names, "session_id")
		names = append(names, outputs...)
	}
	return names
}
