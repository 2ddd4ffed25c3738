package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

const hellaswagSource = "Rowan/hellaswag"

// hellaswagSplits are in the order of the script.
var hellaswagSplits = []string{"train", "validation", "test"}

var _ = Add(Recipe{
	Name:  "hellaswag",
	Title: "HellaSwag, the beginning of a story as the prompt, four endings to choose from",
	Doc: `
verl cannot score these rows by itself: it has no reward function for data_source Rowan/hellaswag, and the prompt does not show the endings. Launch with
a reward function of your own (custom_reward_function) or a reward model.

The rows of verl's examples/data_preprocess/hellaswag.py (verl@b178a3cd5, 2026-01-29), value for value: the beginning of the story as the only message,
the endings in reward_model.choices and the number of the right one in reward_model.ground_truth. Reads Rowan/hellaswag; its ten columns stay.

Rows without a label are left out and counted (filtered); extra_info.index counts the others. The published test split has no labels, so nothing is left of
it and no test.parquet is written, where the script writes one without rows. A label that Python's int does not take is rejected (bad-cast), and a null in
the texts that the script joins (null-COLUMN): the script dies there.
`,
	Script: "examples/data_preprocess/hellaswag.py", Rows: rule.RL, Index: IndexOfRows, Splits: hellaswagSplits,
	Differs: "a split without rows has no file",
	Sources: []Source{{Hub: "hf://datasets/" + hellaswagSource, Splits: hellaswagSplits, Inputs: func(split string) []Input {
		columns := append([]schema.Field{schema.NewField("ind", schema.Type{Kind: schema.Int, Bits: 32})}, texts("activity_label", "ctx_a", "ctx_b", "ctx")...)
		columns = append(append(columns, schema.NewField("endings", schema.ListOf(schema.StringType))), texts("source_id", "split", "split_type", "label")...)
		return Inputs(columns, "data/"+split+"-*.parquet", split+"-*.parquet", split+".parquet", split+".jsonl", split+".jsonl.gz")
	}}},
	Steps:   hellaswag,
	Expects: []string{"RL203"},
	Examples: []Example{{Split: "validation",
		In:  `{"ind":3,"activity_label":"Skiing","ctx_a":"Two people hold poles.","ctx_b":"they","ctx":"Two people hold poles. they","endings":["fly. [title] Why","ski."],"source_id":"a","split":"val","split_type":"indomain","label":"1"}`,
		Out: `{"ind":3,"activity_label":"Skiing","ctx_a":"Two people hold poles.","ctx_b":"they","ctx":"Two people hold poles. they","endings":["fly. [title] Why","ski."],"source_id":"a","split":"val","split_type":"indomain","label":"1","data_source":"Rowan/hellaswag","prompt":[{"role":"user","content":"Skiing: Two people hold poles. They"}],"ability":"nlp","reward_model":{"style":"model","eval":"multiple_choice","ground_truth":1,"choices":["fly.. Why","ski."]},"extra_info":{"split":"validation","index":0}}`,
	}},
	Sample: raw("hellaswag"),
})

// hellaswag are the steps of the script.
func hellaswag(o Options) []Step {
	steps := []Step{
		step("filter", "where", "len(label) > 0"),
		step("require", "path", []any{"activity_label", "ctx_a", "ctx_b", "endings", "endings[]"}),
	}
	steps = append(steps, start(o, hellaswagSource, o.agent("", "single_turn_agent"))...)
	steps = append(steps, copyOf("ctx_b", "query_end"), step("case", "path", "query_end", "to", "capitalize"),
		step("format", "path", "query", "template", "{{activity_label}}: {{ctx_a}} {{query_end}}"))
	steps = append(append(steps, tidied("query")...), prompt("prompt", o.system(""), o.user("{{query}}", "{{query}}")),
		set("ability", "nlp"), set("reward_model.style", "model"), set("reward_model.eval", "multiple_choice"),
		copyOf("label", "reward_model.ground_truth"),
		step("cast", "path", "reward_model.ground_truth", "to", "int64", "numbers", "python"),
		copyOf("endings", "reward_model.choices"))
	steps = append(append(steps, tidied("reward_model.choices[]")...), split("extra_info.split"))
	for _, s := range o.index("extra_info.index", hellaswagSplits) {
		s.Args = append(s.Args, transform.Member{Name: "of", Value: "kept"})
		steps = append(steps, s)
	}
	return append(steps, drop("query", "query_end"))
}

// tidied are the script's changes to a text: brackets are what is left of WikiHow's form.
func tidied(path string) []Step {
	return []Step{
		step("trim", "path", path),
		step("replace", "path", path, "text", " [title]", "with", ". "),
		step("replace", "path", path, "pattern", `\[.*?\]`),
		step("replace", "path", path, "text", "  ", "with", " "),
	}
}
