package transform

import (
	"slices"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"pgregory.net/rapid"
)

// TestBulk compares what computes many rows at once with what computes one.
func TestBulk(t *testing.T) {
	in := &schema.Schema{Fields: []schema.Field{schema.NewField("question", schema.StringType), schema.NewField("answer", schema.StringType)}}
	text := rapid.SampledFrom([]string{"", "1+1?", "#### 2", "so #### 1,200\n", "####", "#### -", "#### -5.0 eggs", "café"})
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]RowStep{
			Extract{From: "answer", To: "truth", Find: GSM8K, Remove: ","},
			Extract{From: "answer", To: "truth", Find: GSM8K},
			Prompt{Messages: []Message{{"system", "Be brief."}, {"user", "{{question}} Why?"}, {"assistant", "{{answer}}{{question}}"}}},
			Prompt{Messages: []Message{{"user", "{{question}}"}}},
		}).Draw(t, "step")
		plan, err := step.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{schema.TextValue(text.Draw(t, "one")), schema.TextValue(text.Draw(t, "other"))}[:len(plan.Reads)]
		}), 1, 6).Draw(t, "rows")

		f, all := plan.Bind(), true
		want := make([][]string, len((&schema.Schema{Fields: []schema.Field{{Name: "c", Type: plan.Puts[0].Type}}}).Leaves()))
		out := NewEmitter(1, func(v []schema.Value) { flatten(v[0], want) })
		for _, r := range rows {
			if _, _, err := out.Run(f, r); err != nil {
				all = false
			}
		}
		reads := make([]schema.Texts, len(plan.Reads))
		for i := range reads {
			var c schema.TextColumn
			for _, r := range rows {
				c.Bytes = append(c.Bytes, r[i].Text()...)
				c.End()
			}
			reads[i] = schema.NewTexts(c.Bytes, c.Offsets())
		}
		got := make([]*schema.TextColumn, len(want))
		for i := range got {
			got[i] = &schema.TextColumn{}
		}
		if done := plan.Bulk()(reads, len(rows), got); done != all {
			t.Fatalf("bulk: %v, one by one: %v", done, all)
		}
		for i := 0; all && i < len(got); i++ {
			var texts []string
			for k, of := 0, schema.NewTexts(got[i].Bytes, got[i].Offsets()); k < of.Len(); k++ {
				texts = append(texts, of.At(k))
			}
			if !slices.Equal(texts, want[i]) {
				t.Fatalf("leaf %d: got %q, want %q", i, texts, want[i])
			}
		}
	})
}

// flatten appends the texts of a value, or of a list of structs, to those of its leaves.
func flatten(v schema.Value, leaves [][]string) {
	switch v.Kind() {
	case schema.List:
		for i := range v.Len() {
			flatten(v.Elem(i), leaves)
		}
	case schema.Struct:
		for i := range v.Len() {
			flatten(v.Elem(i), leaves[i:i+1])
		}
	default:
		leaves[0] = append(leaves[0], string(append([]byte(nil), v.Text()...)))
	}
}
