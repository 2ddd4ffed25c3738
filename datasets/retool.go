package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	retoolScript = "recipe/retool/retool.py"
	retoolFormat = "\nThe answer format must be: \\boxed{'The final answer goes here.'}"
	retoolDoc    = `
The rows that the class CustomRLHFDataset of verl's recipe/retool/retool.py (verl-recipe, January 2026) makes of the dataset when a run starts, value for
value: prepared once, they need no class. The launch must not name the class then (data.custom_cls).
`
	retoolMind = `
Mind: these rows have no extra_info, so every row is traced as sample 0; --fixed adds extra_info.index. reward_model has no style: verl reads none.
A null answer is rejected; the class makes the text "None" of it, which no answer equals (--faithful does so too).
`
)

var _ = Add(Recipe{
	Name:  "retool_aime_2024",
	Title: "AIME 2024 for ReTool: validation with a code interpreter, run by tool_agent",
	Doc: retoolDoc + `
Reads Maxwell-Jia/AIME_2024 (ID, Problem, Solution, Answer).
` + retoolMind,
	Script: retoolScript, Rows: rule.RL, Agent: "tool_agent", Index: NoIndex, Differs: "a null answer is rejected", Splits: []string{"train"},
	Sources: []Source{{Hub: "hf://datasets/Maxwell-Jia/AIME_2024", Splits: []string{"train"}, Inputs: func(string) []Input {
		columns := append(texts("ID", "Problem", "Solution"), schema.NewField("Answer", schema.Int64Type))
		return Inputs(columns, "aime_2024_problems.parquet", "Maxwell-Jia/AIME_2024/aime_2024_problems.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
	}}},
	Steps:   func(o Options) []Step { return retoolAIME(o, "aime_2024", "Problem", "Answer") },
	Expects: retoolExpects,
	Examples: []Example{{Split: "train", In: `{"ID":"2099-I-1","Problem":"How many divisors has 60?","Solution":"s","Answer":12}`,
		Out: `{"data_source":"aime_2024","prompt":[{"role":"user","content":"How many divisors has 60?\nThe answer format must be: \\boxed{'The final answer goes here.'}"}],"ability":"MATH","reward_model":{"ground_truth":"12"},"agent_name":"tool_agent"}`}},
	Sample: raw("retool_aime_2024"),
})

var _ = Add(Recipe{
	Name:  "retool_aime_2025",
	Title: "AIME 2025 for ReTool: validation with a code interpreter, run by tool_agent",
	Doc: retoolDoc + `
Reads yentinglin/aime_2025 (problem, answer and others).
` + retoolMind,
	Script: retoolScript, Rows: rule.RL, Agent: "tool_agent", Index: NoIndex, Differs: "a null answer is rejected", Splits: []string{"train"},
	Sources: []Source{{Hub: "hf://datasets/yentinglin/aime_2025", Splits: []string{"train"}, Inputs: func(string) []Input {
		return Inputs(texts("problem", "answer"), "data/train-*.parquet", "yentinglin/aime_2025/data/train-*.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
	}}},
	Steps:   func(o Options) []Step { return retoolAIME(o, "aime_2025", "problem", "answer") },
	Expects: retoolExpects,
	Examples: []Example{{Split: "train", In: `{"problem":"How many diagonals has a decagon?","answer":"35"}`,
		Out: `{"data_source":"aime_2025","prompt":[{"role":"user","content":"How many diagonals has a decagon?\nThe answer format must be: \\boxed{'The final answer goes here.'}"}],"ability":"MATH","reward_model":{"ground_truth":"35"},"agent_name":"tool_agent"}`}},
	Sample: raw("retool_aime_2025"),
})

var _ = Add(Recipe{
	Name:  "retool_dapo",
	Title: "DAPO-Math-17k for ReTool: training with a code interpreter, run by tool_agent",
	Doc: retoolDoc + `
Reads BytedTsinghua-SIA/DAPO-Math-17k. The first message of the prompt gets the form of the answer appended; all columns of the source stay, and
agent_name comes after them. A row without a message, or whose first message has no content, is rejected, where the class dies. extra_info.index is
the source's: a UUID as text.
`,
	Script: retoolScript, Rows: rule.RL, Agent: "tool_agent", Index: IndexOfSource, Splits: []string{"train"},
	Sources: []Source{{Hub: "hf://datasets/BytedTsinghua-SIA/DAPO-Math-17k", Splits: []string{"train"}, Inputs: func(string) []Input {
		return Inputs(dapoColumns(schema.NewField("index", schema.StringType)), "data/dapo-math-17k.parquet", "BytedTsinghua-SIA/DAPO-Math-17k/data/dapo-math-17k.parquet",
			"dapo-math-17k.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
	}}},
	NoUse: map[string]string{"index-start": dapoNoUse["index-start"], "index-scope": dapoNoUse["index-scope"], "fixed": "agent_name and extra_info.index are there"},
	Steps: func(o Options) []Step {
		var steps []Step
		if suffix := o.user("", retoolFormat); suffix != "" {
			steps = append(steps, step("prompt", "from", "prompt", "path", "prompt", "suffix", suffix, "after_turn", "first"))
		}
		return append(steps, ready(o, o.agent("tool_agent", ""))...)
	},
	Examples: []Example{{Split: "train",
		In:  `{"data_source":"math_dapo","prompt":[{"content":"Find $\\gcd(84,126)$.","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"42","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":"f40ed15c-ac0a-51de-8dca-b98c1285b2c3"}}`,
		Out: `{"data_source":"math_dapo","prompt":[{"content":"Find $\\gcd(84,126)$.\nThe answer format must be: \\boxed{'The final answer goes here.'}","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"42","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":"f40ed15c-ac0a-51de-8dca-b98c1285b2c3"},"agent_name":"tool_agent"}`,
	}},
	Sample: raw("retool_dapo"),
})

// retoolExpects: without extra_info no row leads back from a trace.
var retoolExpects = []string{"RL401"}

// retoolAIME are the steps for both of AIME's datasets.
func retoolAIME(o Options, source, problem, answer string) []Step {
	ask := "{{" + problem + "}}"
	var steps []Step
	if o.Faithful {
		steps = append(steps, step("cast", "path", answer, "to", "string"), step("set", "path", answer, "value", "None", "if", "fill"))
	}
	steps = append(steps, set("data_source", o.dataSource(source)), prompt("prompt", o.system(""), o.user(ask, ask+retoolFormat)), set("ability", "MATH"),
		step("format", "path", "reward_model.ground_truth", "template", "{{"+answer+"}}"))
	columns := []any{"data_source", "prompt", "ability", "reward_model", "agent_name"}
	if o.Fixed {
		steps = append(steps, o.index("extra_info.index", []string{"train"})...)
		columns = []any{"data_source", "prompt", "ability", "reward_model", "extra_info", "agent_name"}
	}
	return append(steps, set("agent_name", o.agent("tool_agent", "")), step("select", "path", columns))
}
