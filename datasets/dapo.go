package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

const dapoDoc = `
The rows come ready for training: data_source, prompt, ability and reward_model stay as they are, and extra_info gets the
ground truth for the tool code_interpreter (need_tools_kwargs, tools_kwargs). A row whose extra_info or reward_model is null is
rejected, where verl's script dies.

Mind: these rows have no agent_name, so with verl's defaults single_turn_agent runs them and the tool is never offered. Use --fixed,
or --agent tool_agent, or launch with rollout.agent.default_agent_loop=tool_agent.
`

var _ = Add(Recipe{
	Name:  "dapo_multiturn_w_tool",
	Title: "DAPO-Math-17k, many turns with a code interpreter, as verl ships it: without agent_name",
	Doc: `
The rows of verl's examples/data_preprocess/dapo_multiturn_w_tool.py (verl@b178a3cd5, 2026-01-29), value for value. Reads
BytedTsinghua-SIA/DAPO-Math-17k.
` + dapoDoc + `
extra_info.index is the source's: a UUID as text. The dataset has each problem a hundred times (1,791,700 rows).
`,
	Script: "examples/data_preprocess/dapo_multiturn_w_tool.py", Rows: rule.RL, Index: IndexOfSource, Splits: []string{"train"},
	Sources: []Source{{Hub: "hf://datasets/BytedTsinghua-SIA/DAPO-Math-17k", Splits: []string{"train"}, Inputs: func(string) []Input {
		return Inputs(dapoColumns(schema.NewField("index", schema.StringType)), "data/dapo-math-17k.parquet", "dapo-math-17k.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
	}}},
	NoUse: dapoNoUse, Steps: dapoSteps, Expects: []string{"RL302"},
	Examples: []Example{{Split: "train",
		In:  `{"data_source":"math_dapo","prompt":[{"content":"Find $\\gcd(84,126)$.","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"42","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":"f40ed15c-ac0a-51de-8dca-b98c1285b2c3"}}`,
		Out: `{"data_source":"math_dapo","prompt":[{"content":"Find $\\gcd(84,126)$.","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"42","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":"f40ed15c-ac0a-51de-8dca-b98c1285b2c3",` + dapoTools + `}}`,
	}},
	Sample: raw("dapo_multiturn_w_tool"),
})

var _ = Add(Recipe{
	Name:  "aime2024_multiturn_w_tool",
	Title: "AIME 2024 in DAPO's form, many turns with a code interpreter, as verl ships it: without agent_name",
	Doc: `
The rows of verl's examples/data_preprocess/aime2024_multiturn_w_tool.py (verl@b178a3cd5, 2026-01-29), value for value. Reads
BytedTsinghua-SIA/AIME-2024.
` + dapoDoc + `
extra_info.index and extra_info.split are the source's. The dataset has each of the 30 problems 32 times.
`,
	Script: "examples/data_preprocess/aime2024_multiturn_w_tool.py", Rows: rule.RL, Index: IndexOfSource, Splits: []string{"train"},
	Sources: []Source{{Hub: "hf://datasets/BytedTsinghua-SIA/AIME-2024", Splits: []string{"train"}, Inputs: func(string) []Input {
		columns := dapoColumns(schema.NewField("index", schema.Int64Type), schema.NewField("raw_problem", schema.StringType), schema.NewField("split", schema.Type{Kind: schema.Null}))
		return Inputs(columns, "data/aime-2024.parquet", "aime-2024.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
	}}},
	NoUse: dapoNoUse, Steps: dapoSteps, Expects: []string{"RL302"},
	Examples: []Example{{Split: "train",
		In:  `{"data_source":"math_dapo","prompt":[{"content":"How many divisors has 60?","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"12","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":1,"raw_problem":"How many divisors has 60?","split":null}}`,
		Out: `{"data_source":"math_dapo","prompt":[{"content":"How many divisors has 60?","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"12","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":1,"raw_problem":"How many divisors has 60?","split":null,"need_tools_kwargs":true,"tools_kwargs":{"code_interpreter":{"create_kwargs":{"ground_truth":"12"}}}}}`,
	}},
	Sample: raw("aime2024_multiturn_w_tool"),
})

const dapoTools = `"need_tools_kwargs":true,"tools_kwargs":{"code_interpreter":{"create_kwargs":{"ground_truth":"42"}}}`

var dapoNoUse = map[string]string{
	"index-start": "extra_info.index is the source's", "index-scope": "extra_info.index is the source's",
	"instruction": "the prompt comes from the source, with its own",
}

// dapoColumns are the columns of a dataset in DAPO's form, with these fields of extra_info.
func dapoColumns(extra ...schema.Field) []schema.Field {
	text := func(name string) schema.Field { return schema.NewField(name, schema.StringType) }
	return []schema.Field{text("data_source"), schema.NewField("prompt", schema.ListOf(schema.StructOf(text("content"), text("role")))), text("ability"),
		schema.NewField("reward_model", schema.StructOf(text("ground_truth"), text("style"))), schema.NewField("extra_info", schema.StructOf(extra...))}
}

// dapoSteps are those of both scripts.
func dapoSteps(o Options) []Step {
	steps := []Step{
		step("require", "path", []any{"extra_info", "reward_model"}),
		step("set", "path", "extra_info.need_tools_kwargs", "value", true),
		copyOf("reward_model.ground_truth", "extra_info.tools_kwargs.code_interpreter.create_kwargs.ground_truth"),
	}
	return append(steps, ready(o, o.agent("", "tool_agent"))...)
}

// ready are the steps for rows that come with data_source and prompt: what the user changes in them.
func ready(o Options, agent string) (steps []Step) {
	if o.DataSource != "" {
		s := set("data_source", o.DataSource)
		s.Args = append(s.Args, transform.Member{Name: "if", Value: "replace"})
		steps = append(steps, s)
	}
	if o.System != nil && *o.System != "" {
		steps = append(steps, step("prompt", "from", "prompt", "system", o.system("")))
	}
	if agent != "" {
		steps = append(steps, set("agent_name", agent))
	}
	return steps
}
