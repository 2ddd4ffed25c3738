package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL013", Name: "column-overwritten", Cites: []string{"verl@b178a3cd5 rl_dataset.py:344-361"}, Rows: rule.RL,
	Title: "verl overwrites a column of this name, or gives it its own meaning",
	Doc: `
RLHFDataset sets raw_prompt, index, tools_kwargs, interaction_kwargs and dummy_tensor, and the trainer sets uid and global_steps,
and ignore the values in the file. That is harmless, but the column is lost, and tools_kwargs belongs in extra_info. Three names that
people write on purpose are a warning. In 0.9 the V1 trainer reads __rollout_n__ as the number of rollouts of the row, instead of rollout.n
(executed on verl 0.9.1). RL019 reports values of it that are not numbers.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "verl overwrites it"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		for _, c := range f.Schema.Fields {
			level, what := overwritten(p, f.Schema, c)
			if level != rule.Off {
				p.Report(rule.Finding{Level: level, Pos: schema.FilePos(f.Name).At(schema.Path("").Field(c.Name)), Message: what})
			}
		}
	}),
	Unfixed: "training loses the column, but other programs may need it; rlprep drop removes it",
	Examples: []rule.Example{
		{Title: "tools_kwargs beside extra_info", Files: []string{`{"tools_kwargs":{"search":{"create_kwargs":{"q":"a"}}},"extra_info":{"index":0}}`}, Want: []string{"0 -1 tools_kwargs"}},
		{Title: "a custom uid", Files: []string{`{"uid":"9a6e"}`}, Want: []string{"0 -1 uid"}},
		{Title: "a number of rollouts", Files: []string{`{"__rollout_n__":4}`}, Want: []string{"0 -1 __rollout_n__"}},
		{Title: "other names", Files: []string{`{"id":"9a6e","level":3}`}},
		{Title: "__rollout_n__ in the older trainer", Files: []string{`{"__rollout_n__":4}`}, Target: "verl@0.8"},
		{Title: "a priority as a number", Files: []string{`{"priority":3}`}},
	},
})

// overwritten says at which level and why a column's name matters; Off where it does not.
func overwritten(p *rule.Pass, s *schema.Schema, c schema.Field) (rule.Level, string) {
	switch c.Name {
	case "tools_kwargs", "interaction_kwargs":
		if !given(s, extraInfo.Field(c.Name)) && c.Type.Kind != schema.Null {
			return rule.Warning, "verl overwrites it with extra_info." + c.Name + ", which is not there: it is lost"
		}
		return rule.Info, "verl overwrites it with extra_info." + c.Name
	case "raw_prompt", "dummy_tensor", "uid", "global_steps":
		return rule.Info, p.Consequence
	case "index":
		if kindOf(s, extraIndex) != schema.Missing { // else RL405
			return rule.Info, "verl overwrites it with extra_info.index"
		}
	case "__rollout_n__":
		if p.Env.Target.Trainer == trainerV1 && c.Type.Kind == schema.Int {
			return rule.Warning, "verl takes it as the number of rollouts of the row, in place of rollout.n"
		}
	}
	return rule.Off, ""
}
