package datasets

import "github.com/rlprep/rlprep/schema/rule"

const (
	fullHHSource = "Dahoas/full-hh-rlhf"
	fullHHScript = "examples/data_preprocess/full_hh_rlhf.py"
	fullHHDoc    = `
Reads Dahoas/full-hh-rlhf (prompt, response, chosen, rejected), of which the scripts take the split train alone. A prompt is a whole conversation as text:
"\n\nHuman: …\n\nAssistant:".
`
)

var fullHHSources = []Source{{Hub: "hf://datasets/" + fullHHSource, Splits: []string{"train"}, Inputs: func(string) []Input {
	return Inputs(texts("prompt", "response", "chosen", "rejected"), "data/train-*.parquet", "train-*.parquet", "train.parquet", "train.jsonl", "train.jsonl.gz")
}}}

// pairNoUse says why rows of text have no use for options of RL rows.
var pairNoUse = map[string]string{
	"agent": "no agent loop runs its rows", "data-source": "its rows are not scored by rule", "index-start": "its rows are not traced",
	"index-scope": "its rows are not traced", "system": "its prompts are text, not messages", "instruction": "the prompt comes from the source",
	"fixed": "only a trainer of one's own reads its rows as they are",
}

var _ = Add(Recipe{
	Name:  "full_hh_rlhf_sft",
	Title: "Anthropic HH as prompts and answers to imitate, the rejected ones too",
	Doc: `
verl 0.9.1 cannot train these rows as they are: its SFT dataset reads messages, and these are prompt and response, as the dataset class of earlier versions read
them. 'rlprep init pipeline --from full_hh_rlhf_sft' writes a pipeline to change: a step prompt makes messages of both.

The rows of verl's examples/data_preprocess/full_hh_rlhf.py --split sft (verl@b178a3cd5, 2026-01-29), value for value: each source row gives two, the
chosen answer and the rejected one, both to be imitated.
` + fullHHDoc,
	Script: fullHHScript, Rows: rule.SFT, Index: NoIndex, Splits: []string{"train"}, Sources: fullHHSources, NoUse: pairNoUse,
	Steps: func(Options) []Step {
		return []Step{
			step("list", "from", []any{"chosen", "rejected"}, "to", "response", "if", "replace"),
			step("explode", "path", "response"),
			step("select", "path", []any{"prompt", "response"}),
			step("cast", "path", "prompt", "to", "large_string"), // as pandas 3 writes text
			step("cast", "path", "response", "to", "large_string"),
		}
	},
	Examples: []Example{{Split: "train", In: fullHHIn, Out: `{"prompt":"\n\nHuman: Hi.\n\nAssistant:","response":" Hello!"}` + "\n" + `{"prompt":"\n\nHuman: Hi.\n\nAssistant:","response":" No."}`}},
	Sample:   raw("full_hh_rlhf_sft"),
})

var _ = Add(Recipe{
	Name:  "full_hh_rlhf_rm",
	Title: "Anthropic HH as pairs of answers, to train a reward model",
	Doc: `
verl 0.9.1 cannot train these rows: it has no trainer for reward models.

The rows of verl's examples/data_preprocess/full_hh_rlhf.py --split rm (verl@b178a3cd5, 2026-01-29), value for value: prompt, chosen and rejected as text.
train is the first 75 % of the source's split train, and test the last 25 %, each rounded to the nearest row.
` + fullHHDoc,
	Script: fullHHScript, Rows: rule.Preference, Index: NoIndex, Splits: trainTest, Sources: fullHHSources, NoUse: pairNoUse,
	Steps: func(Options) []Step {
		steps := []Step{step("slice", "into", args("train", ":75%", "test", "-25%:")), step("select", "path", []any{"prompt", "chosen", "rejected"})}
		for _, c := range []string{"prompt", "chosen", "rejected"} {
			steps = append(steps, step("cast", "path", c, "to", "large_string")) // as pandas 3 writes text
		}
		return steps
	},
	Examples: []Example{{Split: "train", In: fullHHIn, Out: `{"prompt":"\n\nHuman: Hi.\n\nAssistant:","chosen":" Hello!","rejected":" No."}`}},
	Sample:   raw("full_hh_rlhf_sft"),
})

var _ = Add(Recipe{
	Name:  "full_hh_rlhf_rl",
	Title: "Anthropic HH as prompts for RL with a reward model",
	Doc: `
verl cannot score these rows by rule: it has no reward function for data_source Dahoas/full-hh-rlhf. Launch with a reward model.

The rows of verl's examples/data_preprocess/full_hh_rlhf.py --split rl (verl@b178a3cd5, 2026-01-29), value for value: the whole conversation as the only
message, and the answer in reward_model.ground_truth, which a reward model does not read. chosen and rejected stay as columns. extra_info.index counts
from 0.
` + fullHHDoc,
	Script: fullHHScript, Rows: rule.RL, Index: IndexOfRows, Splits: []string{"train"}, Sources: fullHHSources,
	Steps: func(o Options) []Step {
		messages := prompt("prompt", o.system(""), o.user("{{prompt}}", "{{prompt}}"))
		messages.Args = append(messages.Args, args("if", "replace")...)
		steps := append([]Step{messages}, start(o, fullHHSource, o.agent("", "single_turn_agent"))...)
		steps = append(steps, set("ability", "alignment"), set("reward_model.style", "model"), copyOf("response", "reward_model.ground_truth"), split("extra_info.split"))
		return append(append(steps, o.index("extra_info.index", []string{"train"})...), drop("response"))
	},
	Expects:  []string{"RL203"},
	Examples: []Example{{Split: "train", In: fullHHIn, Out: `{"prompt":[{"role":"user","content":"\n\nHuman: Hi.\n\nAssistant:"}],"chosen":" Hello!","rejected":" No.","data_source":"Dahoas/full-hh-rlhf","ability":"alignment","reward_model":{"style":"model","ground_truth":" Hello!"},"extra_info":{"split":"train","index":0}}`}},
	Sample:   raw("full_hh_rlhf_sft"),
})

const fullHHIn = `{"prompt":"\n\nHuman: Hi.\n\nAssistant:","response":" Hello!","chosen":" Hello!","rejected":" No."}`
