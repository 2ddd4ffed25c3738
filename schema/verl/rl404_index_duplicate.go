package verl

import (
	"iter"
	"strconv"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL404", Name: "index-duplicate", Rows: rule.RL,
	Title: "rows of a split share their extra_info.index",
	Doc: `
A trace identifies the row by extra_info.index alone, so traces do not distinguish rows that share it. If two of them are neighbours in a
batch, rollout_n continues from one to the other. Preprocess scripts count from 0 in each file, so the indexes of joined files collide. The
same index in train and validation is fine, since traces distinguish the two. The V1 trainer of 0.9 traces nothing (executed on verl
0.9.1).
`,
	Applies: traced("traces cannot distinguish these rows"),
	Reads:   reads(extraIndex),
	New:     whenTraced(func(p *rule.Pass) rule.Checker { return &indexDuplicate{Pass: p} }),
	Fixes:   []rule.Fix{fixes.Unsafe(renumberIndex("gives the later of the rows numbers that no other row of the split has"))},
	Unfixed: "non-integer indexes cannot be renumbered",
	Examples: []rule.Example{
		{Title: "two rows", Files: []string{`{"extra_info":{"index":3}}
{"extra_info":{"index":4}}
{"extra_info":{"index":3}}`}, Want: []string{"0 0 extra_info.index", "0 2 extra_info.index"}},
		{Title: "each file counts from 0", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":{"index":1}}`, `{"extra_info":{"index":0}}`}, Want: []string{"0 0 extra_info.index", "1 0 extra_info.index"}},
		{Title: "texts", Files: []string{`{"extra_info":{"index":"a"}}
{"extra_info":{"index":"a"}}`}, Want: []string{"0 0 extra_info.index", "0 1 extra_info.index"}, Unfixed: "no next number"},
		{Title: "0 in every row", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":{"index":0}}
{"extra_info":{"index":0}}`}, Want: []string{"0 0 extra_info.index", "0 1 extra_info.index", "0 2 extra_info.index"}},
		{Title: "consecutive numbers", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":{"index":1}}`, `{"extra_info":{"index":2}}`}},
		{Title: "train and validation", Files: []string{`{"extra_info":{"index":0}}`}, Val: []string{`{"extra_info":{"index":0}}`}},
		{Title: "nulls: another rule reports them", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":{"index":null}}
{"extra_info":{"index":null}}`}},
	},
})

type indexDuplicate struct {
	*rule.Pass
	hash rule.Hasher
}

// Prejudge implements rule.Checker.
func (c *indexDuplicate) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return at.Missing || at.Distinct || at.Nulls == k.Rows
}

// isText marks an emitted value that is no number.
const indexIsText = 1 << 63

// Row implements rule.Checker.
func (c *indexDuplicate) Row(r schema.Row) {
	v := r.At(0)
	c.hash.Reset()
	switch {
	case v.Kind() == schema.Int && v.Int() >= 0:
		c.hash.Uint(uint64(v.Int()))
		c.Emit(c.hash.Key(), r, uint64(v.Int()))
	case v.Kind() == schema.Int, v.Kind() == schema.Text:
		c.hash.Value(v)
		c.Emit(c.hash.Key(), r, indexIsText)
	}
}

// Group implements rule.Checker.
func (c *indexDuplicate) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	repeats(hits, func(h, first rule.Hit) {
		f := rule.Finding{Pos: h.Pos().At(extraIndex), Related: []schema.Pos{first.Pos().At(extraIndex)}}
		if h.Value&indexIsText == 0 {
			f.Value = strconv.FormatUint(h.Value, 10)
		}
		f.Message = "another row of the split has the same index: " + c.Consequence
		c.Report(f)
	})
}
