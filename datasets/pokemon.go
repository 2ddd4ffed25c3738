package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const pokemonSeed = 42

var _ = Add(Recipe{
	Name:  "pokemon",
	Title: "pictures with a question and an answer, as conversations to imitate",
	Doc: `
The rows of verl's examples/data_preprocess/pokemon.py (verl@b178a3cd5, 2026-01-29), value for value: the conversations of
llamafactory/pokemon-gpt4o-captions as messages, and the images as they are, undecoded. A tenth of the rows, drawn as HF datasets' train_test_split
draws them, is the split test.

The script seeds nothing, so each of its runs cuts otherwise. Here the seed is 42, unless --seed says another: numpy.random.seed(42) before
the script gives the same rows. A turn that is null, or not from human or gpt, is rejected, where the script dies (null-turn, unknown-role).
`,
	Script: "examples/data_preprocess/pokemon.py", Rows: rule.SFT, Index: NoIndex, Random: "which rows are test, and their order", Seed: seedOf(pokemonSeed),
	Differs: "the script is not seeded", Splits: trainTest,
	Sources: []Source{{Hub: "hf://datasets/llamafactory/pokemon-gpt4o-captions", Splits: []string{"train"}, Inputs: pokemonInputs}},
	NoUse: map[string]string{"data-source": "SFT rows are not scored", "index-start": "SFT rows are not traced", "index-scope": "SFT rows are not traced",
		"instruction": "the questions come from the source", "fixed": "SFT rows need neither agent_name nor an index"},
	Steps: func(o Options) []Step {
		steps := []Step{drawn(o.seed(pokemonSeed), "test", "train"), step("chat", "from", "conversations"), drop("conversations")}
		if o.System != nil && *o.System != "" {
			steps = append(steps, step("prompt", "from", "messages", "path", "messages", "system", o.system("")))
		}
		if o.Agent != "" {
			steps = append(steps, set("agent_name", o.Agent))
		}
		return steps
	},
	Examples: []Example{{Split: "test", In: `{"conversations":[{"from":"human","value":"<image>Who is it?"},{"from":"gpt","value":"A fox with 6 tails."}],"images":[]}` + "\n" +
		`{"conversations":[{"from":"human","value":"<image>Who is it?"},{"from":"gpt","value":"A seed."}],"images":[]}`,
		Out: `{"images":[],"messages":[{"role":"user","content":"<image>Who is it?"},{"role":"assistant","content":"A seed."}]}`}},
	Sample: raw("pokemon"),
})

func pokemonInputs(string) []Input {
	image := schema.StructOf(schema.NewField("bytes", schema.Type{Kind: schema.Binary}), schema.NewField("path", schema.StringType))
	columns := []schema.Field{schema.NewField("conversations", schema.ListOf(schema.StructOf(texts("from", "value")...))), schema.NewField("images", schema.ListOf(image))}
	return Inputs(columns, "pokemon_gpt4o_*.parquet", "data/train-*.parquet", "train-*.parquet", "train.parquet")
}

// drawn cuts a split as train_test_split(test_size=0.1, seed) does.
func drawn(seed int64, held, rest string) Step {
	return step("split", "into", args(held, 0.1, rest, 0.9), "how", "draw", "seed", seed)
}
