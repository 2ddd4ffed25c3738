package datasets

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const collabSeed = 42

// collabSystem is what collabllm's script says to the assistant, letter for letter (verl-recipe, collabllm/process_dataset.py).
const collabSystem = `The assistant is designed to be helpful, proactive, and highly interactive.

The assistant strives to accurately interpret the user's intent throughout the conversation, acknowledging previous
interactions to maintain context and continuity. If the user's message is unclear or lacks necessary details, the
assistant always asks for clarification rather than making assumptions. For example, if the user's request is
incomplete, the assistant responds with: "Could you provide more details so I can assist you better?"

The assistant asks specific follow-up questions and offers suggestions based on the user's needs, avoiding vague or
generic prompts. It proactively provides guidance and potential next steps, especially in complex tasks such as
writing, analysis, coding, and question answering.

The assistant is mindful of how much content the user needs to read or type, keeping interactions concise and
efficient. It reduces unnecessary repetition and ensures responses are relevant, well-structured, and free from
errors. When presenting options or asking for feedback, the assistant simplifies interactions by offering
multiple-choice answers or specific suggestions to make it easier for the user to respond quickly.

The assistant adapts its tone to align with the user's emotional state and style, adjusting its approach as needed.
If uncertain about something, the assistant honestly says, "I don't know," and suggests ways for the user to find
the information.

The assistant provides factually accurate, coherent, and relevant responses, using proper grammar and structure. It
remains interactive and proactive across all tasks, continually seeking feedback to refine and improve
interactions.`

// collabSplits are the parts of the dataset.
var collabSplits = []string{"train", "validation"}

var collabSources = []Source{{As: "train", Hub: "hf://datasets/collabllm/collabllm-multiturn-math-hard", Splits: []string{"train"}, Inputs: func(string) []Input {
	number := func(name string) schema.Field { return schema.NewField(name, schema.FloatType) }
	whole := func(name string) schema.Field { return schema.NewField(name, schema.Int64Type) }
	list := func(name string, t schema.Type) schema.Field { return schema.NewField(name, schema.ListOf(t)) }
	message := schema.StructOf(texts("content", "role")...)
	columns := append([]schema.Field{list("prompt", message)}, texts("completion")...)
	columns = append(columns, whole("conv_id"), number("score"))
	columns = append(columns, texts("single_turn_prompt", "single_turn_completion")...)
	columns = append(columns, schema.NewField("single_turn_metadata", schema.StructOf(texts("level", "type")...)), whole("turn_id"),
		list("sessions", schema.ListOf(message)), schema.NewField("rewards", schema.StructOf(list("MR", schema.FloatType), list("accuracy", schema.Int64Type),
			list("interactivity", schema.FloatType), list("token_amount", schema.FloatType))))
	return Inputs(columns, "data/train-*.parquet", "ds/data/train-*.parquet", "train-*.parquet", "train.parquet", "train.jsonl")
}}}

var _ = Add(Recipe{
	Name:  "collabllm_rl",
	Title: "CollabLLM: conversations with a simulated user, run by collabllm_agent",
	Doc: `
The rows of verl's recipe/collabllm/process_dataset.py --dataset_type rl (verl-recipe, January 2026), value for value but for the column index:
uuid4 draws another one in each run of the script, and here it is a UUID made of the seed, the split and the row. Reads
collabllm/collabllm-multiturn-math-hard.

Of rows with the same prompt the first is kept (the others: duplicate). A system message comes before each prompt. The ground truth is
single_turn_completion, or else completion. All other columns move into extra_info, with interaction_kwargs, which starts the simulated user.
A tenth of the rows, drawn as HF datasets' train_test_split(seed=42) draws them, is the split validation. A row whose prompt is null is
rejected, where the script dies.

Mind: collabllm_agent is an agent loop of the recipe, and data_source collabllm is scored by the recipe's own reward function; the launch must
register both (rollout.agent.agent_loop_config_path, custom_reward_function). index is a column of its own: extra_info has none, so every row is traced as sample 0; --fixed adds extra_info.index.
`,
	Script: "recipe/collabllm/process_dataset.py", Rows: rule.RL, Agent: "collabllm_agent", Index: NoIndex, Random: "which rows are validation, and their order",
	Seed: seedOf(collabSeed), Differs: "index is a UUID made of seed and row", Splits: collabSplits, Sources: collabSources,
	NoUse:    map[string]string{"instruction": "the prompts come from the source"},
	Steps:    collabRL,
	Expects:  []string{"RL013", "RL203", "RL303", "RL405"},
	Examples: []Example{{Split: "validation", In: collabIn, Out: collabRow(`{"prompt":[{"content":"SYSTEM","role":"system"},{"content":"What is 1+1?","role":"user"}],"ground_truth":"12","raw_prompt":[{"role":"system","content":"SYSTEM"},{"role":"user","content":"What is 1+1?"}],"extra_info":{"completion":"2.","conv_id":1,"score":0.5,"single_turn_completion":"12","single_turn_metadata":{"level":"Level 5","type":"Algebra"},"turn_id":0,"sessions":[[{"content":"Hi.","role":"user"}]],"rewards":{"MR":[0.5],"accuracy":[1],"interactivity":[0.25],"token_amount":[0.5]},"prompt":[{"role":"system","content":"SYSTEM"},{"role":"user","content":"What is 1+1?"}],"interaction_kwargs":{"name":"collabllm","single_turn_prompt":"What is 1+1?","task_desc":"solving math problems"}},"reward_model":{"style":"rule","ground_truth":"12"},"data_source":"collabllm","agent_name":"collabllm_agent","index":"8e507443-2113-47b3-8d2f-037979895bc3"}`)}},
	Sample:   raw("collabllm_rl"),
})

// collabRL are the steps of collabllm_rl. Rows are chosen and drawn first, so that a row that is rejected is so at its place.
func collabRL(o Options) []Step {
	seed := o.seed(collabSeed)
	steps := []Step{
		step("dedup", "by", "prompt"), drawn(seed, "validation", "train"),
		step("require", "path", "prompt"),
		step("coalesce", "from", []any{"single_turn_completion", "completion"}, "to", "ground_truth", "skip", "empty"),
		step("set", "path", "ground_truth", "value", "str:", "if", "fill"),
		step("nest", "into", "extra_info", "except", []any{"prompt", "ground_truth", "single_turn_prompt"}),
	}
	if system := o.system(collabSystem); system != "" {
		steps = append(steps, step("turn", "path", "prompt", "role", "system", "template", system, "at", "first"))
	}
	steps = append(steps, copyOf("prompt", "raw_prompt"), step("cast", "path", "raw_prompt", "to", "list<element: struct<role: string, content: string>>"),
		copyOf("raw_prompt", "extra_info.prompt"), set("extra_info.interaction_kwargs.name", "collabllm"),
		step("rename", "from", "single_turn_prompt", "to", "extra_info.interaction_kwargs.single_turn_prompt"),
		set("extra_info.interaction_kwargs.task_desc", "solving math problems"),
		set("reward_model.style", "rule"), copyOf("ground_truth", "reward_model.ground_truth"),
		set("data_source", o.dataSource("collabllm")), set("agent_name", o.agent("collabllm_agent", "")),
		step("uuid", "path", "index", "seed", fmt.Sprintf("collabllm_rl %d ${split}", seed)))
	if o.Fixed || o.IndexStart["train"] != 0 {
		steps = append(steps, o.index("extra_info.index", []string{"train"})...)
	}
	return append(steps, step("select", "path", []any{"prompt", "ground_truth", "raw_prompt", "extra_info", "reward_model", "data_source", "agent_name", "index"}))
}

var _ = Add(Recipe{
	Name:  "collabllm_sft",
	Title: "CollabLLM: the best conversations to imitate",
	Doc: `
The rows of verl's recipe/collabllm/process_dataset.py --dataset_type sft (verl-recipe, January 2026), value for value. Reads
collabllm/collabllm-multiturn-math-hard.

Of each conversation (conv_id) the row with the highest turn_id is kept, of several the one with the highest score (the others: duplicate).
A system message comes before its prompt and the completion, as the assistant's turn, behind it. prompt is the only column. The rows are put
into the order of conv_id; then a tenth of them, drawn as HF datasets' train_test_split(seed=42) draws them, is the split validation. A row
whose prompt or completion is null is rejected.

Mind: the messages are in a column called prompt; the launch must say so to the SFT trainer (data.messages_key=prompt).
`,
	Script: "recipe/collabllm/process_dataset.py", Rows: rule.SFT, Index: NoIndex, Random: "which rows are validation, and their order", Seed: seedOf(collabSeed),
	Differs: "a null completion is rejected", Splits: collabSplits, Sources: collabSources,
	NoUse: map[string]string{"data-source": "SFT rows are not scored", "index-start": "SFT rows are not traced", "index-scope": "SFT rows are not traced",
		"instruction": "the prompts come from the source", "fixed": "SFT rows need neither agent_name nor an index"},
	Steps: func(o Options) []Step {
		cut := drawn(o.seed(collabSeed), "validation", "train")
		cut.Args = append(cut.Args, args("by", "conv_id")...)
		steps := []Step{step("dedup", "by", "conv_id", "highest", "turn_id", "ties", "keep"), step("dedup", "by", "conv_id", "highest", "score"), cut}
		if system := o.system(collabSystem); system != "" {
			steps = append(steps, step("turn", "path", "prompt", "role", "system", "template", system, "at", "first"))
		}
		steps = append(steps, step("turn", "path", "prompt", "role", "assistant", "template", "{{completion}}"))
		if o.Agent != "" {
			return append(steps, set("agent_name", o.Agent), step("select", "path", []any{"prompt", "agent_name"}))
		}
		return append(steps, step("select", "path", "prompt"))
	},
	Expects:  []string{"RL801"},
	Examples: []Example{{Split: "validation", In: collabIn, Out: collabRow(`{"prompt":[{"content":"SYSTEM","role":"system"},{"content":"What is 1+1?","role":"user"},{"content":"2.","role":"assistant"}]}`)}},
	Sample:   raw("collabllm_sft"),
})

// collabRow is a row with the system message in place of SYSTEM.
func collabRow(row string) string {
	return strings.ReplaceAll(row, "SYSTEM", strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(collabSystem))
}

const (
	collabIn = `{"prompt":[{"content":"How many divisors has 60?","role":"user"}],"completion":"Which 60?","conv_id":0,"score":0.5,"single_turn_prompt":"How many divisors has 60?","single_turn_completion":"12","single_turn_metadata":{"level":"Level 5","type":"Algebra"},"turn_id":0,"sessions":[[{"content":"Hi.","role":"user"}]],"rewards":{"MR":[0.5],"accuracy":[1],"interactivity":[0.25],"token_amount":[0.5]}}` + "\n" +
		`{"prompt":[{"content":"What is 1+1?","role":"user"}],"completion":"2.","conv_id":1,"score":0.5,"single_turn_prompt":"What is 1+1?","single_turn_completion":"12","single_turn_metadata":{"level":"Level 5","type":"Algebra"},"turn_id":0,"sessions":[[{"content":"Hi.","role":"user"}]],"rewards":{"MR":[0.5],"accuracy":[1],"interactivity":[0.25],"token_amount":[0.5]}}`
)
