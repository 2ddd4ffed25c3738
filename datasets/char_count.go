package datasets

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform/draw"
)

const charCountSeed = 1

var (
	charCountTotal = Param{Name: "total_number", Default: 10000, Min: 2, Doc: "how many rows, of which nine tenths are to train on"}
	charCountMin   = Param{Name: "min_length", Default: 5, Min: 1, Doc: "the least number of letters of a word"}
	charCountMax   = Param{Name: "max_length", Default: 20, Min: 1, Doc: "the greatest number of letters of a word"}

	charCountSplits = []string{"sft_train", "sft_test", "rl_train", "rl_test"}
)

var _ = Add(Recipe{
	Name:  "char_count",
	Title: "count a letter in a word: rows to imitate, and the same rows scored by rule",
	Doc: `
Mind: data_source char_count is scored by the recipe's own reward function; the launch must register it (custom_reward_function). The rows to
imitate have the columns prompt and response, which verl 0.9's SFT trainer does not read: it takes messages. All files are checked as rows of
RL, so RL102, RL201 and RL204 speak of sft_train and sft_test. Short words come out more than once, in both splits too (RL601, RL602).

The rows of verl's recipe/char_count/create_dataset.py (verl-recipe, January 2026), value for value: the script draws words such as a-b-a and asks how
often a letter is in them. Nothing is read. sft_train and sft_test are its folder sft, rl_train and rl_test its folder rl.

The script seeds nothing, so each of its runs draws other words. Here the seed is 1, unless --seed says another: random.seed(1) before the
script gives the same rows. No row has agent_name or extra_info.index; --fixed adds both to the rows of rl_train and rl_test.
`,
	Script: "recipe/char_count/create_dataset.py", Rows: rule.RL, Index: NoIndex, Random: "the words, and the order of the rows", Seed: seedOf(charCountSeed),
	Differs: "the script is not seeded", Splits: charCountSplits,
	Sources: []Source{{Generated: true, Generate: charCountRows, Splits: charCountSplits, Inputs: func(split string) []Input {
		return Inputs(texts("question", "response"), split+".jsonl")
	}}},
	Params: []Param{charCountTotal, charCountMin, charCountMax},
	Steps:  charCountSteps, Expects: []string{"RL102", "RL201", "RL203", "RL204", "RL401", "RL601", "RL602"},
	Examples: []Example{{Split: "rl_test", In: `{"question":"How many a are there in word a-b?","response":"a = a.\nb != a.\n\\boxed{1} a in a-b."}`,
		Out: `{"prompt":[{"role":"user","content":"How many a are there in word a-b?"}],"data_source":"char_count","ability":"other","reward_model":{"style":"rule","ground_truth":"1"},"extra_info":{"response":"a = a.\nb != a.\n\\boxed{1} a in a-b."}}`}},
})

func charCountSteps(o Options) (steps []Step) {
	large := func(column string) Step { return step("cast", "path", column, "to", "large_string") } // as pandas 3 writes text
	both := func(list []Step, splits []string) {
		for _, s := range list {
			s.Splits = splits
			steps = append(steps, s)
		}
	}
	sft, rl := charCountSplits[:2], charCountSplits[2:]
	both([]Step{step("rename", "from", "question", "to", "prompt"), large("prompt"), large("response")}, sft)
	agent := o.agent("", "single_turn_agent")
	list := []Step{prompt("prompt", o.system(""), o.user("{{question}}", "{{question}}")), set("data_source", o.dataSource("char_count")), large("data_source"),
		set("ability", "other"), large("ability"), set("reward_model.style", "rule"),
		step("extract", "from", "response", "to", "reward_model.ground_truth", "method", "boxed"), copyOf("response", "extra_info.response")}
	if o.Fixed || o.IndexStart["rl_train"] != 0 {
		list = append(list, o.index("extra_info.index", rl)...)
	}
	if agent != "" {
		list = append(list, set("agent_name", agent))
	}
	both(append(list, drop("question", "response")), rl)
	return steps
}

// charCountRows draws the rows. No verb makes rows of nothing, so this is a function.
func charCountRows(o Options) map[string][]byte {
	r := draw.NewRandom(o.seed(charCountSeed))
	least, most := int(o.Param(charCountMin)), int(o.Param(charCountMax))
	rows := make([]string, o.Param(charCountTotal))
	for i := range rows {
		rows[i] = charCountRow(r, least, max(least, most))
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	train := int(0.9 * float64(len(rows)))
	one, two := []byte(strings.Join(rows[:train], "")), []byte(strings.Join(rows[train:], ""))
	return map[string][]byte{"sft_train": one, "sft_test": two, "rl_train": one, "rl_test": two}
}

// charCountRow draws what create_prompt_response draws: a word with so many of a letter, and the answer step by step.
func charCountRow(r *draw.Random, least, most int) string {
	letter := func() byte { return byte('a' + r.Int(0, 25)) }
	word := make([]byte, r.Int(least, most))
	count := r.Int(1, len(word))
	target := letter()
	for i := range word {
		word[i] = target
		for i >= count && word[i] == target {
			word[i] = letter()
		}
	}
	r.Shuffle(len(word), func(i, j int) { word[i], word[j] = word[j], word[i] })
	text := strings.Join(strings.Split(string(word), ""), "-")
	var answer strings.Builder
	for _, c := range word {
		sign := "="
		if c != target {
			sign = "!="
		}
		fmt.Fprintf(&answer, "%c %s %c.\n", c, sign, target)
	}
	fmt.Fprintf(&answer, "\\boxed{%d} %c in %s.", count, target, text)
	return fmt.Sprintf(`{"question":"How many %c are there in word %s?","response":%q}`+"\n", target, text, answer.String())
}
