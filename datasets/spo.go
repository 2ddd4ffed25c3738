package datasets

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	dapoProcessedHub = "hf://datasets/open-r1/DAPO-Math-17k-Processed"
	spoAsIs          = "rows are cut into files as they are"
	spoIn            = `{"prompt":"Find $\\gcd(84,126)$.","solution":"42","data_source":"math_dapo","source_prompt":[{"content":"Solve: $\\gcd(84,126)$","role":"user"}],` + spoRest
	spoRest          = `"ability":"MATH","reward_model":{"ground_truth":"42","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":"f40ed15c-ac0a-51de-8dca-b98c1285b2c3"}}`
)

var spoSubsets = Param{Name: "num_subsets", Default: 5, Min: 1, Doc: "how many files"}

var _ = Add(Recipe{
	Name:  "spo_split",
	Title: "DAPO-Math-17k cut into subsets, to estimate the values of its prompts beforehand",
	Doc: `
Mind: prompt is a text here, not a list of messages, so no trainer of verl takes these files as they are. verl's recipe reads them with a class
of its own (data.custom_cls), which makes the rows of spo_dapo.

The rows of verl's recipe/spo/estimate_offline_values/split_dapo_into_subsets.py (verl-recipe, January 2026), value for value: those of
open-r1/DAPO-Math-17k-Processed (config en) as they are, cut into num_subsets files of rows that follow each other. Where the rows do not
divide, the first files have one row more.
`,
	Script: "recipe/spo/estimate_offline_values/split_dapo_into_subsets.py", Rows: rule.RL, Index: IndexOfSource,
	Splits:  []string{"subset_0", "subset_1", "subset_2", "subset_3", "subset_4"},
	Sources: []Source{{Hub: dapoProcessedHub, Splits: []string{"train"}, Inputs: dapoProcessed("en")}},
	Params:  []Param{spoSubsets},
	NoUse: map[string]string{"agent": spoAsIs, "data-source": spoAsIs, "index-start": spoAsIs, "index-scope": spoAsIs, "system": spoAsIs,
		"instruction": spoAsIs, "fixed": spoAsIs},
	Steps: func(o Options) []Step {
		var names []any
		for i := range o.Param(spoSubsets) {
			names = append(names, fmt.Sprintf("subset_%d", i))
		}
		return []Step{step("split", "into", names, "how", "blocks")}
	},
	Expects:  []string{"RL102"},
	Examples: []Example{{Split: "subset_0", In: spoIn, Out: spoIn}},
	Sample:   raw("spo_split"),
})

var _ = Add(Recipe{
	Name:  "spo_dapo",
	Title: "DAPO-Math-17k for SPO: training with a code interpreter, run by spo_tool_agent",
	Doc: `
The rows that the class CustomRLHFDataset of verl's recipe/spo/spo_retool.py (verl-recipe, January 2026) makes when a run starts, value for value:
prepared once, they need no class. The launch must not name the class then (data.custom_cls). Reads open-r1/DAPO-Math-17k-Processed (config
all).

The prompt becomes one message with the form of the answer behind it; all other columns stay, and agent_name comes after them. A row whose prompt
is null is rejected, where the class dies. extra_info.index is the source's: a UUID as text.

Mind: spo_tool_agent is an agent loop of the recipe; the launch must register it (rollout.agent.agent_loop_config_path), or name another with
--agent.
`,
	Script: "recipe/spo/spo_retool.py", Rows: rule.RL, Agent: "spo_tool_agent", Index: IndexOfSource, Splits: []string{"train"},
	Sources: []Source{{Hub: dapoProcessedHub, Splits: []string{"train"}, Inputs: dapoProcessed("all")}},
	NoUse:   map[string]string{"index-start": dapoNoUse["index-start"], "index-scope": dapoNoUse["index-scope"], "fixed": "agent_name and extra_info.index are there"},
	Steps: func(o Options) []Step {
		ask := o.user("{{prompt}}", "{{prompt}}"+retoolFormat)
		message := step("prompt", "path", "prompt", "user", ask, "if", "replace")
		if o.system("") != "" {
			message = step("prompt", "path", "prompt", "system", o.system(""), "user", ask, "if", "replace")
		}
		o.System = nil
		return append([]Step{message}, ready(o, o.agent("spo_tool_agent", ""))...)
	},
	Expects: []string{"RL303"},
	Examples: []Example{{Split: "train", In: spoIn,
		Out: `{"prompt":[{"role":"user","content":"Find $\\gcd(84,126)$.\nThe answer format must be: \\boxed{'The final answer goes here.'}"}],"solution":"42","data_source":"math_dapo","source_prompt":[{"content":"Solve: $\\gcd(84,126)$","role":"user"}],"ability":"MATH","reward_model":{"ground_truth":"42","style":"rule-lighteval/MATH_v2"},"extra_info":{"index":"f40ed15c-ac0a-51de-8dca-b98c1285b2c3"},"agent_name":"spo_tool_agent"}`}},
	Sample: raw("spo_dapo"),
})

// dapoProcessed are the files of a config of open-r1/DAPO-Math-17k-Processed: as the hub has them, or in a folder of several datasets.
func dapoProcessed(config string) func(string) []Input {
	message := schema.ListOf(schema.StructOf(texts("content", "role")...))
	columns := append(texts("prompt", "solution", "data_source"), schema.NewField("source_prompt", message), schema.NewField("ability", schema.StringType),
		schema.NewField("reward_model", schema.StructOf(texts("ground_truth", "style")...)), schema.NewField("extra_info", schema.StructOf(texts("index")...)))
	return func(string) []Input {
		return Inputs(columns, config+"/train-*.parquet", "open-r1/DAPO-Math-17k-Processed/"+config+"/train-*.parquet", "dapo/"+config+"/train-*.parquet",
			"train-*.parquet", "train.parquet", "train.jsonl")
	}
}
