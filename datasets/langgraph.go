package datasets

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform/draw"
)

const (
	langgraphSeed = 1
	langgraphAsk  = `We define a new math operator @, where you can only call an external tool to compute. Please put your final answer inside \boxed{} only in the last turn. Now answer the following questions:` + "\n" + `Compute {{expression}}`
)

var (
	langgraphTrain = Param{Name: "train_size", Default: 5000, Min: 1, Doc: "how many rows to train on"}
	langgraphTest  = Param{Name: "test_size", Default: 500, Min: 1, Doc: "how many rows to test with"}
)

var _ = Add(Recipe{
	Name:  "langgraph_agent",
	Title: "sums with an operator of its own, which only a tool can compute, run by math_expression",
	Doc: `
The rows of verl's recipe/langgraph_agent/example/create_dataset.py (verl-recipe, January 2026), value for value: the script draws expressions such
as 3 @ (5 @ 2), where a @ b is 3a-2b, and computes them. Nothing is read.

The script seeds nothing, so each of its runs draws other expressions. Here the seed is 1, unless --seed says another: random.seed(1) before the
script gives the same rows. The expressions to train on are drawn first, so train_size decides about those to test with too.

Mind: math_expression is an agent loop of the recipe's example; the launch must register it (rollout.agent.agent_loop_config_path), or name
another with --agent. Short expressions come out more than once, in both splits too (RL601, RL602).
`,
	Script: "recipe/langgraph_agent/example/create_dataset.py", Rows: rule.RL, Agent: "math_expression", Index: IndexOfRows, Random: "the expressions",
	Seed: seedOf(langgraphSeed), Differs: "the script is not seeded", Splits: trainTest,
	Sources: []Source{{Generated: true, Generate: langgraphRows, Splits: trainTest, Inputs: func(split string) []Input {
		return Inputs(append(texts("expression", "answer"), schema.NewField("calls", schema.Int64Type)), split+".jsonl")
	}}},
	Params: []Param{langgraphTrain, langgraphTest},
	NoUse:  map[string]string{"fixed": "agent_name and extra_info.index are there"},
	Steps: func(o Options) []Step {
		large := func(column string) Step { return step("cast", "path", column, "to", "large_string") } // as pandas 3 writes text
		steps := []Step{prompt("prompt", o.system(""), o.user("{{expression}}", langgraphAsk)), set("data_source", o.dataSource("lighteval/MATH")), large("data_source"),
			set("ability", "math"), large("ability"), set("reward_model.style", "lighteval/MATH"), copyOf("answer", "reward_model.ground_truth")}
		steps = append(steps, o.index("extra_info.index", trainTest)...)
		return append(steps, copyOf("expression", "extra_info.expression"), split("extra_info.split"), copyOf("calls", "extra_info.expected_tool_calls"),
			set("agent_name", o.agent("math_expression", "")), large("agent_name"), drop("expression", "answer", "calls"))
	},
	Expects: []string{"RL303", "RL601", "RL602"},
	Examples: []Example{{Split: "test", In: `{"expression":"3 @ 7","answer":"-5","calls":1}`,
		Out: `{"prompt":[{"role":"user","content":"We define a new math operator @, where you can only call an external tool to compute. Please put your final answer inside \\boxed{} only in the last turn. Now answer the following questions:\nCompute 3 @ 7"}],"data_source":"lighteval/MATH","ability":"math","reward_model":{"style":"lighteval/MATH","ground_truth":"-5"},"extra_info":{"index":0,"expression":"3 @ 7","split":"test","expected_tool_calls":1},"agent_name":"math_expression"}`}},
})

// langgraphRows draws the expressions of both splits. No verb makes rows of nothing, so this is a function.
func langgraphRows(o Options) map[string][]byte {
	r := draw.NewRandom(o.seed(langgraphSeed))
	out := map[string][]byte{}
	for i, n := range []int64{o.Param(langgraphTrain), o.Param(langgraphTest)} {
		var rows []byte
		for range n {
			text, value := langgraphExpression(r, 0)
			rows = fmt.Appendf(rows, `{"expression":%q,"answer":"%d","calls":%d}`+"\n", text, value, strings.Count(text, "@"))
		}
		out[trainTest[i]] = rows
	}
	return out
}

// langgraphExpression draws what generate_expression(depth) draws, with 2 or 3 terms of numbers from 1 to 9 and one level of parentheses,
// and returns the value: the operator takes its left side first.
func langgraphExpression(r *draw.Random, depth int) (text string, value int) {
	terms, values := make([]string, r.Int(2, 3)), [3]int{}
	for i := range terms {
		if depth < 1 && r.Float64() < 0.5 {
			terms[i], values[i] = langgraphExpression(r, depth+1)
			terms[i] = "(" + terms[i] + ")"
		} else {
			values[i] = int(r.Uniform(1, 10))
			terms[i] = fmt.Sprint(values[i])
		}
	}
	value = values[0]
	for _, v := range values[1:len(terms)] {
		r.Float64() // random.choices draws the operator, of which one alone has a weight
		value = 3*value - 2*v
	}
	return strings.Join(terms, " @ "), value
}
