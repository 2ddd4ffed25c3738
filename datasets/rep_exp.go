package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	repExpSeed = 7
	repExpAsk  = ` Let's think step by step and output the final answer within \boxed{}.`
)

var repExpRows = Param{Name: "train_size", Default: 4096, Demo: 8, Min: 1, Doc: "how many rows are drawn to train on"}

var _ = Add(Recipe{
	Name:  "rep_exp_dapo_with_aime",
	Title: "a sample of DAPO to train on and AIME 2024 to validate with, one turn, scored by rule",
	Doc: `
The rows of verl's recipe/rep_exp/data_preprocess/dapo_with_aime.py (verl-recipe, January 2026), value for value. Reads
ftajwar/deduplicated_dapo_dataset (prompt, answer), of which train_size rows are drawn as numpy.random.choice draws them, and both parts of
MathArena's AIME 2024 (problem, answer), which become the split dev.

The script seeds nothing, so each of its runs draws other rows. Here the seed is 7, unless --seed says another: numpy.random.seed(7) before
the script gives the same rows. extra_info.index counts the rows of the split; extra_info.split of the rows of dev is "test", as the script has
it. Columns of the source that the script does not read stay.

A row whose question or answer is null is rejected; the script dies of the one, and makes the text "None" of the other (--faithful does so too).
`,
	Script: "recipe/rep_exp/data_preprocess/dapo_with_aime.py", Rows: rule.RL, Index: IndexOfRows, Random: "which rows to train on", Seed: seedOf(repExpSeed),
	Differs: "a null answer is rejected; the script is not seeded", Splits: []string{"train", "dev"},
	Sources: []Source{
		{Key: "dapo", As: "train", Hub: "hf://datasets/ftajwar/deduplicated_dapo_dataset", Splits: []string{"train"}, Inputs: repExpInputs("prompt", schema.StringType)},
		{Key: "a1", As: "dev", Hub: "hf://datasets/MathArena/aime_2024_I", Splits: []string{"train"}, Inputs: repExpInputs("problem", schema.Int64Type)},
		{Key: "a2", As: "dev", Hub: "hf://datasets/MathArena/aime_2024_II", Splits: []string{"train"}, Inputs: repExpInputs("problem", schema.Int64Type)},
	},
	Params: []Param{repExpRows},
	Steps: func(o Options) []Step {
		steps := []Step{{Verb: "shuffle", Args: args("seed", o.seed(repExpSeed), "rows", o.Param(repExpRows), "generator", "legacy"), Splits: []string{"train"}}}
		if o.Faithful {
			steps = append(steps, step("cast", "path", "answer", "to", "string"), step("set", "path", "answer", "value", "None", "if", "fill"))
		}
		steps = append(steps, start(o, "math_dapo", o.agent("", "single_turn_agent"))...)
		steps = append(steps, only("train", asked(o, "prompt")), only("dev", asked(o, "problem")), set("ability", "math"), set("reward_model.style", "rule"),
			step("format", "path", "reward_model.ground_truth", "template", "{{answer}}"),
			only("train", set("extra_info.split", "train")), only("dev", set("extra_info.split", "test")))
		steps = append(steps, o.index("extra_info.index", []string{"train", "dev"})...)
		return append(steps, only("train", drop("answer")), only("dev", drop("problem", "answer")))
	},
	Examples: []Example{
		{Split: "dev", In: `{"problem":"How many divisors has 60?","answer":12}`,
			Out: `{"data_source":"math_dapo","prompt":[{"role":"user","content":"How many divisors has 60? Let's think step by step and output the final answer within \\boxed{}."}],"ability":"math","reward_model":{"style":"rule","ground_truth":"12"},"extra_info":{"split":"test","index":0}}`},
	},
	Sample: raw("rep_exp_dapo_with_aime"),
})

// asked is the prompt of a question in that column, which it replaces where it is called prompt.
func asked(o Options, column string) Step {
	ask := "{{" + column + "}}"
	s := prompt("prompt", o.system(""), o.user(ask, ask+repExpAsk))
	if column == "prompt" {
		s.Args = append(s.Args, args("if", "replace")...)
	}
	return s
}

// only is a step for the rows of one split.
func only(split string, s Step) Step {
	s.Splits = []string{split}
	return s
}

func seedOf(n int64) *int64 { return &n }

func repExpInputs(question string, answer schema.Type) func(string) []Input {
	columns := append(texts(question), schema.NewField("answer", answer))
	return func(string) []Input {
		return Inputs(columns, "data/train-*.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
	}
}
