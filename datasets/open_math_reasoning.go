package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const openMathAsk = ` Please reason step by step, and put your final answer within \boxed{}.`

// openMathSplits are those of the validation sets.
var openMathSplits = []string{"aime24_test", "aime25_test"}

var _ = Add(Recipe{
	Name:  "open_math_reasoning_eval",
	Title: "AIME 2024 and 2025 to validate with, one turn, scored by rule",
	Doc: `
The rows of verl's recipe/open_math_reasoning/prepare_eval_dataset.py (verl-recipe, January 2026), value for value. Reads math-ai/aime24 (problem,
solution) and math-ai/aime25 (problem, answer). The ground truth is the solution or answer without the \boxed{…} around it, if it has one;
extra_info.answer has the unchanged text. extra_info.index counts from 0 in each split.

Mind: as the two files count alike, a trace cannot distinguish row 3 of one from row 3 of the other where a launch validates with both.
--index-scope run counts on over both.

A row whose problem is null is rejected, where the script dies; so is one whose solution is null, for which the script writes no ground truth.
`,
	Script: "recipe/open_math_reasoning/prepare_eval_dataset.py", Rows: rule.RL, Index: IndexOfRows, Differs: "a null solution is rejected", Splits: openMathSplits,
	Sources: []Source{
		{Key: "aime24", Folder: "math-ai/aime24", As: "aime24_test", Hub: "hf://datasets/math-ai/aime24", Splits: []string{"test"}, Inputs: openMathInputs("solution")},
		{Key: "aime25", Folder: "math-ai/aime25", As: "aime25_test", Hub: "hf://datasets/math-ai/aime25", Splits: []string{"test"}, Inputs: openMathInputs("answer")},
	},
	Steps: func(o Options) []Step {
		var steps []Step
		for i, source := range []string{"aime24", "aime25"} {
			steps = append(steps, only(openMathSplits[i], set("data_source", o.dataSource(source))))
		}
		if agent := o.agent("", "single_turn_agent"); agent != "" {
			steps = append(steps, set("agent_name", agent))
		}
		steps = append(steps, prompt("prompt", o.system(""), o.user("{{problem}}", "{{problem}}"+openMathAsk)), set("ability", "math"), set("reward_model.style", "rule"))
		for i, column := range []string{"solution", "answer"} {
			steps = append(steps, only(openMathSplits[i], step("extract", "from", column, "to", "reward_model.ground_truth", "method", "unbox")))
		}
		steps = append(steps, o.index("extra_info.index", openMathSplits)...)
		for i, column := range []schema.Path{"solution", "answer"} {
			steps = append(steps, only(openMathSplits[i], copyOf(column, "extra_info.answer")))
		}
		columns := []any{"data_source", "prompt", "ability", "reward_model", "extra_info"}
		if o.agent("", "single_turn_agent") != "" {
			columns = []any{"data_source", "agent_name", "prompt", "ability", "reward_model", "extra_info"}
		}
		return append(steps, copyOf("problem", "extra_info.question"), step("select", "path", columns))
	},
	Expects: []string{"RL404"},
	Examples: []Example{{Split: "aime24_test", In: `{"problem":"How many divisors has 60?","solution":"\\boxed{12}"}`,
		Out: `{"data_source":"aime24","prompt":[{"role":"user","content":"How many divisors has 60? Please reason step by step, and put your final answer within \\boxed{}."}],"ability":"math","reward_model":{"style":"rule","ground_truth":"12"},"extra_info":{"index":0,"answer":"\\boxed{12}","question":"How many divisors has 60?"}}`}},
	Sample: raw("open_math_reasoning_eval"),
})

func openMathInputs(answer string) func(string) []Input {
	return func(string) []Input {
		return Inputs(texts("problem", answer), "test.parquet", "test.jsonl", "data/test-*.parquet", "test-*.parquet")
	}
}

var _ = Add(Recipe{
	Name:  "open_math_reasoning_sft",
	Title: "OpenMathReasoning's chains of thought as conversations to imitate",
	Doc: `
The rows of verl's recipe/open_math_reasoning/prepare_nvidia-OpenMathReasoning_sft.py (verl-recipe, January 2026), value for value: of
nvidia/OpenMathReasoning (split cot) those with problem_type has_answer_extracted; the others are left out (filtered). The problem is the user's turn and the solution
the assistant's, with a loss_mask of 0 and 1; all other columns move into extra_info.

A row whose problem or solution is null is rejected; the script writes a message without content.
`,
	Script: "recipe/open_math_reasoning/prepare_nvidia-OpenMathReasoning_sft.py", Rows: rule.SFT, Index: NoIndex, Differs: "a null problem or solution is rejected",
	Splits: []string{"cot"},
	Sources: []Source{{As: "cot", Hub: "hf://datasets/nvidia/OpenMathReasoning", Splits: []string{"cot"}, Inputs: func(string) []Input {
		columns := append(texts("expected_answer", "problem_type", "problem_source", "generation_model", "pass_rate_72b_tir", "problem", "generated_solution", "inference_mode"),
			schema.NewField("used_in_kaggle", schema.BoolType))
		return Inputs(columns, "data/cot-*.parquet", "cot-*.parquet", "cot.parquet", "cot.jsonl")
	}}},
	NoUse: map[string]string{"data-source": "SFT rows are not scored", "index-start": "SFT rows are not traced", "index-scope": "SFT rows are not traced",
		"fixed": "SFT rows need neither agent_name nor an index"},
	Steps: func(o Options) []Step {
		turn := func(role, template string, mask int64) any {
			return args("role", role, "template", template, "loss_mask", mask)
		}
		messages := []any{turn("user", o.user("{{problem}}", "{{problem}}"), 0), turn("assistant", "{{generated_solution}}", 1)}
		if system := o.system(""); system != "" {
			messages = append([]any{turn("system", system, 0)}, messages...)
		}
		steps := []Step{
			step("filter", "where", `problem_type == "has_answer_extracted"`),
			step("prompt", "path", "messages", "messages", messages), drop("problem", "generated_solution"),
			step("nest", "into", "extra_info", "except", "messages"),
		}
		if o.Agent != "" {
			steps = append(steps, set("agent_name", o.Agent))
		}
		return steps
	},
	Examples: []Example{{Split: "cot",
		In:  `{"expected_answer":"12","problem_type":"has_answer_extracted","problem_source":"aops","generation_model":"m","pass_rate_72b_tir":"0.5","problem":"How many divisors has 60?","generated_solution":"<think>2²·3·5</think> \\boxed{12}","inference_mode":"cot","used_in_kaggle":true}`,
		Out: `{"messages":[{"role":"user","content":"How many divisors has 60?","loss_mask":0},{"role":"assistant","content":"<think>2²·3·5</think> \\boxed{12}","loss_mask":1}],"extra_info":{"expected_answer":"12","problem_type":"has_answer_extracted","problem_source":"aops","generation_model":"m","pass_rate_72b_tir":"0.5","inference_mode":"cot","used_in_kaggle":true}}`}},
	Sample: raw("open_math_reasoning_sft"),
})
