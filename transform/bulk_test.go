package transform_test

import (
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
	"github.com/rlprep/rlprep/transform/transformtest"
	"pgregory.net/rapid"
)

// TestBulk compares, over texts of all kinds, what computes many rows at once with what computes one; transformtest does it for every step
// that it runs.
func TestBulk(t *testing.T) {
	in := &schema.Schema{Fields: []schema.Field{schema.NewField("question", schema.StringType), schema.NewField("answer", schema.StringType)}}
	typ := schema.StructOf(in.Fields...)
	text := rapid.SampledFrom([]string{"", "1+1?", "#### 2", "so #### 1,200\n", "####", "#### -", "#### -5.0 eggs", "café"})
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]transform.RowStep{
			transform.Extract{From: "answer", To: "truth", Find: transform.GSM8K, Remove: ","},
			transform.Extract{From: "answer", To: "truth", Find: transform.GSM8K},
			transform.Prompt{Messages: []transform.Message{{Role: "system", Template: "Be brief."}, {Role: "user", Template: "{{question}} Why?"}, {Role: "assistant", Template: "{{answer}}{{question}}"}}},
			transform.Prompt{Messages: []transform.Message{{Role: "user", Template: "{{question}}"}}},
		}).Draw(t, "step")
		table := &transformtest.Table{Schema: in}
		for i := range rapid.IntRange(1, 6).Draw(t, "rows") {
			values := []schema.Value{schema.TextValue(text.Draw(t, "question")), schema.TextValue(text.Draw(t, "answer"))}
			table.Rows, table.Numbers = append(table.Rows, schema.StructValue(&typ, values)), append(table.Numbers, int64(i))
		}
		if _, _, err := table.Apply(step); err != nil {
			t.Fatal(err)
		}
	})
}
