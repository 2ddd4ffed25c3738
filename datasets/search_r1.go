package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	searchR1System = "You are a helpful and harmless assistant."
	searchR1User   = "Answer the given question. You must conduct reasoning inside <think> and </think> " +
		"first every time you get new information. After reasoning, if you find you lack " +
		"some knowledge, you can call a search engine by <tool_call> query </tool_call> " +
		"and it will return the top searched results between <tool_response> and " +
		"</tool_response>. You can search as many times as your want. If you find no " +
		"further external knowledge needed, you can directly provide the answer inside " +
		"<answer> and </answer>, without detailed illustrations. For example, " +
		"<answer> Beijing </answer>. Question: {{question}}"
)

var _ = Add(Recipe{
	Name:  "preprocess_search_r1_dataset",
	Alias: "search_r1",
	Title: "Search-R1 (NQ and HotpotQA), many turns with a search tool, as verl ships it: without agent_name",
	Doc: `
The rows of verl's examples/data_preprocess/preprocess_search_r1_dataset.py (verl@b178a3cd5, 2026-01-29), value for value. Reads
PeterJinGo/nq_hotpotqa_train. The question follows a long instruction; data_source gets searchR1_ in front, by which verl finds its scorer; extra_info
is built again, with what creates the tool search for each row.

The ground truth is reward_model.ground_truth ({target: […]}), or golden_answers in files without the column reward_model: then reward_model has the null
type, verl has no ground truth to score with, and every
sample drops out of its batch (RL205).

A null question is rejected, and a null reward_model in a file that has the column: the script writes no file of that split then, and exits with 0. A null
data_source is rejected too; the script makes "searchR1_nan" of it (--faithful does so). A metadata without any value has the null type, as pandas writes it.

Mind: these rows have no agent_name, so with verl's defaults single_turn_agent runs them and nothing is ever searched. Use --fixed, or --agent tool_agent,
or launch with rollout.agent.default_agent_loop=tool_agent. The tool's function must be called search, the key in tools_kwargs.
`,
	Script: "examples/data_preprocess/preprocess_search_r1_dataset.py", Rows: rule.RL, Index: IndexOfRows, Splits: trainTest,
	Differs: "a null data_source is rejected; a bad row does not lose its split",
	Sources: []Source{{Hub: "hf://datasets/PeterJinGo/nq_hotpotqa_train", Splits: trainTest, Inputs: func(split string) []Input {
		target := schema.StructOf(schema.NewField("target", schema.ListOf(schema.StringType)))
		columns := append(texts("question", "data_source", "ability"), schema.NewField("golden_answers", schema.ListOf(schema.StringType)),
			schema.NewField("reward_model", schema.StructOf(schema.NewField("ground_truth", target), schema.NewField("style", schema.StringType))))
		return Inputs(columns, split+".parquet", split+"-*.parquet", "data/"+split+"-*.parquet", split+".jsonl", split+".jsonl.gz")
	}}},
	Steps:   searchR1,
	Expects: []string{"RL205", "RL302"},
	Examples: []Example{{Split: "train",
		In:  `{"question":"who built the red bridge?","golden_answers":["Ana Ruiz"],"data_source":"nq","ability":"fact-reasoning","reward_model":{"ground_truth":{"target":["Ana Ruiz"]},"style":"rule"}}`,
		Out: `{"data_source":"searchR1_nq","prompt":[{"role":"system","content":"You are a helpful and harmless assistant."},{"role":"user","content":"Answer the given question. You must conduct reasoning inside <think> and </think> first every time you get new information. After reasoning, if you find you lack some knowledge, you can call a search engine by <tool_call> query </tool_call> and it will return the top searched results between <tool_response> and </tool_response>. You can search as many times as your want. If you find no further external knowledge needed, you can directly provide the answer inside <answer> and </answer>, without detailed illustrations. For example, <answer> Beijing </answer>. Question: who built the red bridge?"}],"ability":"fact-reasoning","reward_model":{"ground_truth":{"target":["Ana Ruiz"]},"style":"rule"},"extra_info":{"index":0,"need_tools_kwargs":true,"question":"who built the red bridge?","split":"train","tools_kwargs":{"search":{"create_kwargs":{"ground_truth":{"target":["Ana Ruiz"]},"question":"who built the red bridge?","data_source":"searchR1_nq"}}}},"metadata":null}`,
	}},
	Sample: raw("preprocess_search_r1_dataset"),
})

// searchR1 are the steps of the script. extra_info is made under another name, as a file may have one of its own.
func searchR1(o Options) []Step {
	const info = "new_extra_info"
	kwargs := schema.Path(info + ".tools_kwargs.search.create_kwargs")
	steps := []Step{
		step("set", "path", "metadata", "value", "null:null", "if", "keep"),
		step("untype", "path", "metadata"),
		step("require", "path", "reward_model", "absent", "ok"),
		step("set", "path", "reward_model", "value", "null:null", "if", "keep"),
	}
	if o.Faithful {
		steps = append(steps, step("set", "path", "data_source", "value", "nan", "if", "fill"))
	}
	if o.DataSource != "" {
		steps = append(steps, ready(Options{DataSource: o.DataSource}, "")...)
	} else {
		steps = append(steps, step("format", "path", "data_source", "template", "searchR1_{{data_source}}", "if", "replace"))
	}
	messages := prompt("prompt", o.system(searchR1System), o.user("{{question}}", searchR1User))
	messages.Args = append(messages.Args, args("if", "replace")...)
	steps = append(steps, messages)
	columns := []any{"data_source", "prompt", "ability", "reward_model", info, "metadata"}
	if agent := o.agent("", "tool_agent"); agent != "" {
		steps = append(steps, set("agent_name", agent))
		columns = []any{"data_source", "agent_name", "prompt", "ability", "reward_model", info, "metadata"}
	}
	steps = append(steps, o.index(info+".index", trainTest)...)
	return append(steps,
		step("set", "path", info+".need_tools_kwargs", "value", true),
		copyOf("question", info+".question"),
		split(info+".split"),
		step("copy", "from", []any{"reward_model.ground_truth", "golden_answers"}, "to", string(kwargs.Field("ground_truth"))),
		copyOf("question", kwargs.Field("question")),
		copyOf("data_source", kwargs.Field("data_source")),
		step("select", "path", columns),
		step("rename", "from", info, "to", "extra_info"),
	)
}
