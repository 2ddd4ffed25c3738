package verl

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL313", Name: "tool-selection-type", Rows: rule.RL,
	Title: "extra_info.tool_selection is not a list of names",
	Doc: `
Since 0.8 the tool agent offers a row only the tools in extra_info.tool_selection (tool_agent_loop.py, run): {name: … for name in
tool_selection if name in self.tools}. Python iterates over a text letter by letter, so it finds no tool, and the row runs without any. Of a
struct Python iterates over the names of the fields and ignores the values. The row is then offered every tool that the struct has a field
for, also if the value is false or null (both executed on verl 0.9.1). verl ignores names that no tool has.
`,
	Applies: []rule.Severity{{Versions: ">=0.8", Level: rule.Error, Consequence: "the row runs without any tool"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		const path schema.Path = "extra_info.tool_selection"
		field, ok := f.Schema.Lookup(path)
		if !ok || field.Type.Kind == schema.Null {
			return
		}
		t := field.Type
		if t.Kind == schema.List && (t.Fields[0].Type.Kind == schema.Text || t.Fields[0].Type.Kind == schema.Null) {
			return
		}
		found := rule.Finding{Pos: schema.FilePos(f.Name).At(path), Message: fmt.Sprintf("%s instead of a list of texts: ", t) + p.Consequence}
		if t.Kind == schema.Struct {
			found.Level = min(p.Level, rule.Warning)
			found.Message = "a struct instead of a list of texts: every row is offered the tool of every field, whatever its value"
		}
		p.Report(found)
	}),
	Unfixed: "the data does not show which tools the row needs",
	Examples: []rule.Example{
		{Title: "a text", Files: []string{`{"extra_info":{"tool_selection":"calc_gsm8k_reward"}}`}, Want: []string{"0 -1 extra_info.tool_selection"}},
		{Title: "a struct of booleans", Files: []string{`{"extra_info":{"tool_selection":{"calc_gsm8k_reward":true}}}`}, Want: []string{"0 -1 extra_info.tool_selection"}},
		{Title: "a list", Files: []string{`{"extra_info":{"tool_selection":["calc_gsm8k_reward"]}}`}},
		{Title: "before 0.8 nothing reads it", Target: "verl@0.7", Files: []string{`{"extra_info":{"tool_selection":"calc_gsm8k_reward"}}`}},
	},
})
