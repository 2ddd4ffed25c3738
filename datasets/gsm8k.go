package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/testdata/sample"
)

// What verl's five gsm8k scripts have in common (verl@b178a3cd5, 2026-01-29, examples/data_preprocess). The misspelt English
// of the prompts is theirs: a byte of it changed is another dataset.
const (
	gsm8kSource = "openai/gsm8k"

	gsm8kAsk      = "{{question}}"
	gsm8kQuoted   = `{{question}} Let's think step by step and output the final answer after "####".`
	gsm8kBacktick = "{{question}} Let's think step by step and output the final answer after `####`."

	gsm8kExpert = "You are a math expert. You are given a question and you need to solve it step by step. "
	gsm8kFormat = "Put your final answer in the format of `#### <answer>`."

	gsm8kToolSystem = gsm8kExpert + "Reasoning step by step before any tool call. " +
		"You should use the `calc_gsm8k_reward` tool after step by step solving the question, " +
		"before generate final answer at least once and refine your answer if necessary. " + gsm8kFormat
	gsm8kInteractionSystem = gsm8kExpert +
		"You should rethinking carefully if user point out your answer is wrong. " + gsm8kFormat
)

// gsm8kHub is config main of openai/gsm8k at the commit that public code pins (its main/test-00000-of-00001.parquet has
// the SHA-256 ee7b8da9e381df27…), so that the rows of a recipe are the same every day.
const gsm8kHub = "hf://datasets/openai/gsm8k@740312add88f781978c0658806c59bc2815b9866/main"

// gsm8kSplits are the splits of openai/gsm8k.
var gsm8kSplits = []string{"train", "test"}

const gsm8kDoc = `
Reads openai/gsm8k (config main: question, answer). The ground truth is what follows the first "#### " with a number after
it, commas left out; a row without one is rejected, where verl's script dies. extra_info.index counts from 0 in each split.
`

var _ = Add(Recipe{
	Name:  "gsm8k",
	Title: "GSM8K, one turn, scored by rule",
	Doc: `
The rows of verl's examples/data_preprocess/gsm8k.py (verl@b178a3cd5, 2026-01-29), value for value: the question with an
instruction as the only message, the ground truth for the scorer of data_source openai/gsm8k, the raw text in extra_info.
` + gsm8kDoc + `
No column says which agent loop runs the rows, so rollout.agent.default_agent_loop does: single_turn_agent, if the launch says
nothing else.
`,
	Rows: rule.RL, Splits: gsm8kSplits, Sources: gsm8kSources,
	Index: IndexOfRows, Script: "examples/data_preprocess/gsm8k.py",
	Steps: func(o Options) []Step {
		return gsm8kEnd(gsm8kRow(o, o.agent("", "single_turn_agent"), "", gsm8kQuoted))
	},
	Examples: []Example{{Split: "train", In: gsm8kIn, Out: gsm8kOut}},
	Sample:   sample.Files,
	RealRows: map[string]string{
		"train": "66d49df1d32f41fbcd0c9da26818a8974c6083d2633b26c849bde5ea563ef500",
		"test":  "a67596fd97297be2fea4043625646997230f089590fb034927ada6560ec12052",
	},
})

var _ = Add(Recipe{
	Name:  "gsm8k_multiturn_w_tool",
	Title: "GSM8K, many turns with a tool, as verl ships it: without agent_name",
	Doc: `
The rows of verl's examples/data_preprocess/gsm8k_multiturn_w_tool.py (verl@b178a3cd5, 2026-01-29), value for value: a system
message that asks for the tool calc_gsm8k_reward, and in extra_info what creates that tool for each row.
` + gsm8kDoc + `
Mind: these rows have no agent_name, so with verl's defaults single_turn_agent runs them and the tool is never offered: the
model trains on one turn, and nothing says so (verl issues 2986, 2966). Use gsm8k_tool_agent_loop, or --agent tool_agent, or
launch with rollout.agent.default_agent_loop=tool_agent. The tool itself is gone from verl since 0.8.0.
`,
	Rows: rule.RL, Splits: gsm8kSplits, Sources: gsm8kSources,
	Index: IndexOfRows, Script: "examples/data_preprocess/gsm8k_multiturn_w_tool.py",
	Steps:    func(o Options) []Step { return gsm8kTool(o, o.agent("", "tool_agent")) },
	Expects:  []string{"RL302"},
	Examples: []Example{{Split: "train", In: gsm8kIn, Out: gsm8kToolOut}},
	Sample:   sample.Files,
	RealRows: map[string]string{
		"train": "ebbb209c53cf619eb9f230b7f46e253670212983ba3b290a0567f08a20129bf0",
		"test":  "ddcc40cbcf1a75513fdf9c2881f68b4b4e053175d1831bae0004a1b9e88ee365",
	},
})

var _ = Add(Recipe{
	Name:  "gsm8k_tool_agent_loop",
	Title: "GSM8K, many turns with a tool, run by tool_agent",
	Doc: `
The rows of verl's examples/data_preprocess/gsm8k_tool_agent_loop.py (verl@b178a3cd5, 2026-01-29), value for value: those of
gsm8k_multiturn_w_tool with agent_name tool_agent after data_source, so every row is run by the loop that calls tools.
` + gsm8kDoc + `
Mind: the launch must name the tool (rollout.multi_turn.tool_config_path), and its function must be called
calc_gsm8k_reward, the key in tools_kwargs. verl 0.8.0 dropped the tool from its package and interaction_kwargs from its script.
`,
	Rows: rule.RL, Splits: gsm8kSplits, Sources: gsm8kSources,
	Agent: "tool_agent", Index: IndexOfRows, Script: "examples/data_preprocess/gsm8k_tool_agent_loop.py",
	Steps:    func(o Options) []Step { return gsm8kTool(o, o.agent("tool_agent", "")) },
	Examples: []Example{{Split: "test", In: gsm8kIn, Out: gsm8kAgentOut}},
	Sample:   sample.Files,
	RealRows: map[string]string{
		"train": "c4a92e82d349ccaa6e7b140f5c034cb2749b1c56bab506e2903142fa608ca26f",
		"test":  "bac9d940bb37d49656dae0e04259fdbc72b6fbdaf1e4b938de1bd7dbf16452ae",
	},
})

var _ = Add(Recipe{
	Name:  "gsm8k_multiturn_w_interaction",
	Title: "GSM8K, many turns with a simulated user, as verl ships it: without agent_name", Versions: "<0.8",
	Doc: `
The rows of verl's examples/data_preprocess/gsm8k_multiturn_w_interaction.py (verl@b178a3cd5, 2026-01-29), value for value: a
system message that asks for a second thought, and in extra_info what starts the interaction "gsm8k" for each row.
` + gsm8kDoc + `
Mind: these rows have no agent_name, so with verl's defaults single_turn_agent runs them and the interaction never starts: the
model trains on one turn, and nothing says so. Use --agent tool_agent. verl has interactions up to 0.7.1; 0.8.0 dropped them
and this script.
`,
	Rows: rule.RL, Splits: gsm8kSplits, Sources: gsm8kSources,
	Index: IndexOfRows, Script: "examples/data_preprocess/gsm8k_multiturn_w_interaction.py",
	Steps: func(o Options) []Step {
		steps := gsm8kRow(o, o.agent("", "tool_agent"), gsm8kInteractionSystem, gsm8kBacktick)
		return gsm8kEnd(append(steps, set("extra_info.interaction_kwargs.name", "gsm8k")), gsm8kInteraction(o)...)
	},
	Expects:  []string{"RL302"},
	Examples: []Example{{Split: "train", In: gsm8kIn, Out: gsm8kInteractionOut}},
	Sample:   sample.Files,
	RealRows: map[string]string{
		"train": "e4111c491742cb7cffe331b77f6465053f9e7acf28223ee1e87843ce28428e5b",
		"test":  "8664e8378429e92fab0fdbec0b0f15db1f751a2bb73c9490fa441b8838d48f67",
	},
})

var _ = Add(Recipe{
	Name:  "gsm8k_multiturn_sft",
	Title: "GSM8K as conversations to imitate",
	Doc: `
The rows of verl's examples/data_preprocess/gsm8k_multiturn_sft.py (verl@b178a3cd5, 2026-01-29), value for value: messages,
the question with an instruction from the user and the worked solution from the assistant. Reads openai/gsm8k (config main:
question, answer).

Mind: the solutions keep GSM8K's calculator annotations, <<48/2=24>>, and the model learns to write them. There is no
data_source and no index to change: SFT rows are neither scored nor traced.
`,
	Rows: rule.SFT, Splits: gsm8kSplits, Sources: gsm8kSources,
	Index: NoIndex, Script: "examples/data_preprocess/gsm8k_multiturn_sft.py",
	NoUse:    map[string]string{"data-source": "SFT rows are not scored", "index-start": "SFT rows are not traced", "index-scope": "SFT rows are not traced"},
	Steps:    gsm8kSFT,
	Examples: []Example{{Split: "train", In: gsm8kIn, Out: gsm8kSFTOut}},
	Sample:   sample.Files,
	RealRows: map[string]string{
		"train": "56a684b6a466aa7dbd4eac934c5b21b746628c293af9da3930997330234a8137",
		"test":  "8c7ba15fdc961ee80a2c682f454a113a5316f2d5137c2ba26626dfe37180f2be",
	},
})

// gsm8kSources is config main of openai/gsm8k: as the hub lays it out, and as the authors' repository has its files.
var gsm8kSources = []Source{{Hub: gsm8kHub, Splits: gsm8kSplits, Inputs: func(split string) []Input {
	fields := []schema.Field{schema.NewField("question", schema.StringType), schema.NewField("answer", schema.StringType)}
	return Inputs(fields, "main/"+split+"-*.parquet", split+"-*.parquet", split+".parquet", split+".jsonl", split+".jsonl.gz")
}}}

// gsm8kRow are the steps that the RL scripts have in common, in their order. Question and answer are copied, not computed, so they
// move undecoded.
func gsm8kRow(o Options, agent, system, user string) []Step {
	steps := []Step{set("data_source", o.dataSource(gsm8kSource))}
	if agent != "" {
		steps = append(steps, set("agent_name", agent))
	}
	steps = append(steps,
		prompt("prompt", o.system(system), o.user(gsm8kAsk, user)),
		set("ability", "math"),
		set("reward_model.style", "rule"),
		step("extract", "from", "answer", "to", "reward_model.ground_truth", "method", "gsm8k"),
		split("extra_info.split"),
	)
	steps = append(steps, o.index("extra_info.index", gsm8kSplits)...)
	return append(steps, copyOf("answer", "extra_info.answer"), copyOf("question", "extra_info.question"))
}

// gsm8kTool are the steps of both tool scripts.
func gsm8kTool(o Options, agent string) []Step {
	steps := gsm8kRow(o, agent, gsm8kToolSystem, gsm8kBacktick)
	steps = append(steps,
		step("set", "path", "extra_info.need_tools_kwargs", "value", true),
		copyOf("reward_model.ground_truth", "extra_info.tools_kwargs.calc_gsm8k_reward.create_kwargs.ground_truth"),
	)
	if o.Target.Within(">=0.8") { // 63dc08501, 2026-04-20: the scripts lost it with the feature
		return gsm8kEnd(steps)
	}
	return gsm8kEnd(steps, gsm8kInteraction(o)...)
}

// gsm8kInteraction writes what a simulated user gets: the prompt's user message again, and the ground truth.
func gsm8kInteraction(o Options) []Step {
	return []Step{
		step("format", "path", "extra_info.interaction_kwargs.query", "template", o.user(gsm8kAsk, gsm8kBacktick)),
		copyOf("reward_model.ground_truth", "extra_info.interaction_kwargs.ground_truth"),
	}
}

// gsm8kEnd drops the raw columns after the last steps.
func gsm8kEnd(steps []Step, last ...Step) []Step {
	return append(append(steps, last...), drop("question", "answer"))
}

// gsm8kSFT are the steps of the script for SFT.
func gsm8kSFT(o Options) []Step {
	var messages []any
	if s := o.system(""); s != "" {
		messages = append(messages, args("role", "system", "template", s))
	}
	messages = append(messages, args("role", "user", "template", o.user(gsm8kAsk, gsm8kQuoted)), args("role", "assistant", "template", "{{answer}}"))
	steps := []Step{step("prompt", "path", "messages", "messages", messages)}
	if o.Agent != "" {
		steps = append(steps, set("agent_name", o.Agent))
	}
	return gsm8kEnd(steps)
}

// The examples: one row of our own, and what verl's scripts make of it.
const (
	gsm8kIn = `{"question":"A hall has 30 rows of 40 seats. How many seats is that?","answer":"There are 30*40 = <<30*40=1200>>1,200 seats.\n#### 1,200"}`

	gsm8kExtra   = `"answer":"There are 30*40 = <<30*40=1200>>1,200 seats.\n#### 1,200","question":"A hall has 30 rows of 40 seats. How many seats is that?"`
	gsm8kPlain   = `"A hall has 30 rows of 40 seats. How many seats is that? Let's think step by step and output the final answer after \"####\"."`
	gsm8kTicked  = `"A hall has 30 rows of 40 seats. How many seats is that? Let's think step by step and output the final answer after ` + "`####`" + `."`
	gsm8kReward  = `"ability":"math","reward_model":{"style":"rule","ground_truth":"1200"}`
	gsm8kToolEnd = `"prompt":[{"role":"system","content":"` + gsm8kToolSystem + `"},{"role":"user","content":` + gsm8kTicked + `}],` + gsm8kReward

	gsm8kToolKwargs = `"need_tools_kwargs":true,"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"1200"}}},"interaction_kwargs":{"query":` + gsm8kTicked + `,"ground_truth":"1200"}`

	gsm8kOut            = `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":` + gsm8kPlain + `}],` + gsm8kReward + `,"extra_info":{"split":"train","index":0,` + gsm8kExtra + `}}`
	gsm8kToolOut        = `{"data_source":"openai/gsm8k",` + gsm8kToolEnd + `,"extra_info":{"split":"train","index":0,` + gsm8kExtra + `,` + gsm8kToolKwargs + `}}`
	gsm8kAgentOut       = `{"data_source":"openai/gsm8k","agent_name":"tool_agent",` + gsm8kToolEnd + `,"extra_info":{"split":"test","index":0,` + gsm8kExtra + `,` + gsm8kToolKwargs + `}}`
	gsm8kInteractionOut = `{"data_source":"openai/gsm8k","prompt":[{"role":"system","content":"` + gsm8kInteractionSystem + `"},{"role":"user","content":` + gsm8kTicked + `}],` + gsm8kReward + `,"extra_info":{"split":"train","index":0,` + gsm8kExtra + `,"interaction_kwargs":{"name":"gsm8k","query":` + gsm8kTicked + `,"ground_truth":"1200"}}}`
	gsm8kSFTOut         = `{"messages":[{"role":"user","content":` + gsm8kPlain + `},{"role":"assistant","content":"There are 30*40 = <<30*40=1200>>1,200 seats.\n#### 1,200"}]}`
)
