package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	mathSource      = "DigitalLearningGmbH/MATH-lighteval"
	mathInstruction = `{{problem}} Let's think step by step and output the final answer within \boxed{}.`
)

var _ = Add(Recipe{
	Name:  "math_dataset",
	Title: "MATH, one turn, scored by rule",
	Doc: `
The rows of verl's examples/data_preprocess/math_dataset.py (verl@b178a3cd5, 2026-01-29), value for value: the problem with an
instruction as the only message, and the ground truth for the scorer of data_source DigitalLearningGmbH/MATH-lighteval. Reads that
dataset (problem, level, solution, type); level and type stay as columns.

The ground truth is the content of the last \boxed{…} of the solution. If the solution has "\boxed " with a blank anywhere, that is taken in
place of braces, and its text ends at the next $ sign. A solution without a box, or with one that is not closed, is rejected (no-boxed, unclosed-boxed), where verl's script
dies. extra_info.index counts from 0 in each split.
`,
	Script: "examples/data_preprocess/math_dataset.py", Rows: rule.RL, Index: IndexOfRows, Splits: trainTest,
	Sources: []Source{{Hub: "hf://datasets/" + mathSource, Splits: trainTest, Inputs: func(split string) []Input {
		return Inputs(texts("problem", "level", "solution", "type"), "data/"+split+"-*.parquet", split+"-*.parquet", split+".parquet", split+".jsonl", split+".jsonl.gz")
	}}},
	Steps: func(o Options) []Step {
		steps := start(o, mathSource, o.agent("", "single_turn_agent"))
		steps = append(steps, prompt("prompt", o.system(""), o.user("{{problem}}", mathInstruction)), set("ability", "math"), set("reward_model.style", "rule"),
			step("extract", "from", "solution", "to", "reward_model.ground_truth", "method", "boxed"), split("extra_info.split"))
		steps = append(steps, o.index("extra_info.index", trainTest)...)
		return append(steps, drop("problem", "solution"))
	},
	Examples: []Example{{Split: "train",
		In:  `{"problem":"Compute $\\frac12+\\frac13$.","level":"Level 2","solution":"It is $\\boxed{\\frac{5}{6}}$.","type":"Prealgebra"}`,
		Out: `{"level":"Level 2","type":"Prealgebra","data_source":"DigitalLearningGmbH/MATH-lighteval","prompt":[{"role":"user","content":"Compute $\\frac12+\\frac13$. Let's think step by step and output the final answer within \\boxed{}."}],"ability":"math","reward_model":{"style":"rule","ground_truth":"\\frac{5}{6}"},"extra_info":{"split":"train","index":0}}`,
	}},
	Sample: raw("math_dataset"),
})

// trainTest are the splits of many datasets.
var trainTest = []string{"train", "test"}

// texts are columns of text.
func texts(names ...string) []schema.Field {
	out := make([]schema.Field, len(names))
	for i, n := range names {
		out[i] = schema.NewField(n, schema.StringType)
	}
	return out
}

// start are the first steps of most RL rows: data_source, and agent_name where there is one.
func start(o Options, source, agent string) []Step {
	steps := []Step{set("data_source", o.dataSource(source))}
	if agent != "" {
		steps = append(steps, set("agent_name", agent))
	}
	return steps
}
