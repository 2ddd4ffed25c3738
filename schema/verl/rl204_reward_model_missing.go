package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL204", Name: "reward-model-missing", Cites: []string{"verl@b178a3cd5 reward_manager/naive.py:43"}, Rows: rule.RL,
	Title: "a file has no reward_model struct",
	Doc: `
The reward managers read row["reward_model"]["ground_truth"] (reward_manager/naive.py). Without the column every sample fails with KeyError
'reward_model'. If the column is JSON in a string, every sample fails with TypeError: string indices must be integers (executed on verl
0.9.1). Both errors come after the models are loaded (verl issue 758).

Make it a struct: {"style": "rule", "ground_truth": "72"}.
`,
	Applies: byTrainer("KeyError 'reward_model'"),
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		field, ok := f.Schema.Lookup(rewardModel)
		switch {
		case !ok:
			p.Reportf(schema.FilePos(f.Name).At(rewardModel), schema.Value{}, "no such column: %s", p.Consequence)
		case field.Type.Kind == schema.Text || field.Type.Kind == schema.Binary:
			p.Reportf(schema.FilePos(f.Name).At(rewardModel), schema.Value{}, "%s instead of a struct: verl fails with TypeError: string indices must be integers", field.Type)
		case field.Type.Kind != schema.Struct && field.Type.Kind != schema.Null:
			p.Reportf(schema.FilePos(f.Name).At(rewardModel), schema.Value{}, "%s instead of a struct: verl fails with TypeError in every reward", field.Type)
		}
	}),
	Fixes: []rule.Fix{
		fixes.Unsafe(fixes.EachValue("takes the ground truth from the solution in extra_info.answer", allFromSolutions)),
		readJSON,
	},
	Unfixed: "the data has no solution to take it from, or the column has another type",
	Examples: []rule.Example{
		{Title: "no such column", Files: []string{`{"data_source":"openai/gsm8k","ground_truth":"72"}`}, Want: []string{"0 -1 reward_model"}, Unfixed: "the row has no solution in extra_info.answer"},
		{Title: "written with json.dumps", Files: []string{`{"reward_model":"{\"style\": \"rule\", \"ground_truth\": \"72\"}"}`}, Want: []string{"0 -1 reward_model"}},
		{Title: "a list of one", Files: []string{`{"reward_model":[{"style":"rule","ground_truth":"72"}]}`}, Want: []string{"0 -1 reward_model"}, Unfixed: "reward_model is list"},
		{Title: "in one file of two", Files: []string{`{"reward_model":{"style":"rule","ground_truth":"72"}}`, `{"id":7}`}, Want: []string{"1 -1 reward_model"}, Unfixed: "the row has no solution in extra_info.answer"},
		{Title: "lost, and the solution is there", Files: []string{`{"data_source":"openai/gsm8k","extra_info":{"answer":"It is 12 times 6.\n#### 72"}}`}, Want: []string{"0 -1 reward_model"}},
		{Title: "a struct", Files: []string{`{"reward_model":{"style":"rule","ground_truth":"72"}}`}},
	},
})
