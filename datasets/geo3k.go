package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	geo3kSource      = "hiyouga/geometry3k"
	geo3kInstruction = "{{problem}} You FIRST think about the reasoning process as an internal monologue and then provide the final answer. " +
		"The reasoning process MUST BE enclosed within <think> </think> tags. " +
		`The final answer MUST BE put in \boxed{}.`
	geo3kSystem = "You are a math expert. You are given a question and you need to solve it step by step. " +
		"Reasoning step by step before any tool call. " +
		"You should use the `calc_geo3k_reward` tool after step by step solving the question, " +
		"before generate final answer at least once and refine your answer if necessary. "
	geo3kDiffers = "images are passed through as they are; the script encodes them again"
)

const geo3kDoc = `
Reads hiyouga/geometry3k (images, problem, answer; the hub's set also has id, choices and ground_truth, which stay as columns). The
problem begins with <image>, where verl's dataset puts the image of the row. extra_info.index counts from 0 in each split.

Images are passed through as they are, undecoded: the script decodes them and encodes them again, so that its path is null, its
PNG has other bytes and the same pixels, and its JPEG and WebP have other pixels. A row whose image has no bytes, or bytes that
begin like no image, is rejected (no-image-bytes, not-an-image), where verl's script dies. The split validation is not written.
`

var _ = Add(Recipe{
	Name:  "geo3k",
	Title: "Geometry3K with images, one turn, scored by rule",
	Doc: `
The rows of verl's examples/data_preprocess/geo3k.py (verl@b178a3cd5, 2026-01-29), value for value but for the images.
` + geo3kDoc,
	Script: "examples/data_preprocess/geo3k.py", Rows: rule.RL, Index: IndexOfRows, Differs: geo3kDiffers, Splits: trainTest, Sources: geo3kSources,
	Steps:    func(o Options) []Step { return geo3kSteps(o, o.agent("", "single_turn_agent"), "", false) },
	Examples: []Example{{Split: "train", In: geo3kIn, Out: geo3kOut + geo3kUser + geo3kExtra + `}}`}},
	Sample:   raw("geo3k"),
})

var _ = Add(Recipe{
	Name:  "geo3k_multiturn_w_tool",
	Title: "Geometry3K with images, many turns with a tool, as verl ships it: without agent_name",
	Doc: `
The rows of verl's examples/data_preprocess/geo3k_multiturn_w_tool.py (verl@b178a3cd5, 2026-01-29), value for value but for the
images: those of geo3k with a system message that asks for the tool calc_geo3k_reward, and what creates it for each row.
` + geo3kDoc + `
Mind: these rows have no agent_name, so with verl's defaults single_turn_agent runs them and the tool is never offered. Use --fixed,
or --agent tool_agent, or launch with rollout.agent.default_agent_loop=tool_agent.
`,
	Script: "examples/data_preprocess/geo3k_multiturn_w_tool.py", Rows: rule.RL, Index: IndexOfRows, Differs: geo3kDiffers, Splits: trainTest, Sources: geo3kSources,
	Steps:   func(o Options) []Step { return geo3kSteps(o, o.agent("", "tool_agent"), geo3kSystem, true) },
	Expects: []string{"RL302"},
	Examples: []Example{{Split: "train", In: geo3kIn,
		Out: geo3kOut + `{"role":"system","content":"` + geo3kSystem + `"},` + geo3kUser + geo3kExtra + `,"need_tools_kwargs":true,"tools_kwargs":{"calc_geo3k_reward":{"create_kwargs":{"ground_truth":"3"}}}}}`}},
	Sample: raw("geo3k"),
})

var geo3kSources = []Source{{Hub: "hf://datasets/" + geo3kSource, Splits: trainTest, Inputs: func(split string) []Input {
	image := schema.StructOf(schema.NewField("bytes", schema.Type{Kind: schema.Binary}), schema.NewField("path", schema.StringType))
	columns := append([]schema.Field{schema.NewField("images", schema.ListOf(image))}, texts("problem", "answer")...)
	return Inputs(columns, "data/"+split+"-*.parquet", split+"-*.parquet", split+".parquet")
}}}

// geo3kSteps are those of both scripts.
func geo3kSteps(o Options, agent, system string, tool bool) []Step {
	steps := append([]Step{step("images", "path", "images")}, start(o, geo3kSource, agent)...)
	steps = append(steps, prompt("prompt", o.system(system), o.user("{{problem}}", geo3kInstruction)), set("ability", "math"),
		set("reward_model.style", "rule"), copyOf("answer", "reward_model.ground_truth"), split("extra_info.split"))
	steps = append(steps, o.index("extra_info.index", trainTest)...)
	steps = append(steps, copyOf("answer", "extra_info.answer"), copyOf("problem", "extra_info.question"))
	if tool {
		steps = append(steps, step("set", "path", "extra_info.need_tools_kwargs", "value", true),
			copyOf("answer", "extra_info.tools_kwargs.calc_geo3k_reward.create_kwargs.ground_truth"))
	}
	return append(steps, drop("problem", "answer"))
}

const (
	geo3kIn    = `{"images":[],"problem":"<image>Find $x$.","answer":"3"}`
	geo3kOut   = `{"images":[],"data_source":"hiyouga/geometry3k","prompt":[`
	geo3kUser  = `{"role":"user","content":"<image>Find $x$. You FIRST think about the reasoning process as an internal monologue and then provide the final answer. The reasoning process MUST BE enclosed within <think> </think> tags. The final answer MUST BE put in \\boxed{}."}]`
	geo3kExtra = `,"ability":"math","reward_model":{"style":"rule","ground_truth":"3"},"extra_info":{"split":"train","index":0,"answer":"3","question":"<image>Find $x$."`
)
