package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// sampleReads are what makes a sample the same as another, and behind them, of RL rows, the ground truth. Media count: the same
// words about another picture are another sample.
func sampleReads(p *rule.Pass) []schema.Path {
	var paths []schema.Path
	add := func(candidates ...schema.Path) bool {
		for _, c := range candidates {
			if has(p, c) {
				paths = append(paths, c)
				return true
			}
		}
		return false
	}
	found := false
	switch p.Env.Rows {
	case rule.SFT:
		found = add("messages[].content")
		add(messages.Elem().Field("tool_calls"))
	case rule.Preference:
		found = add(prompt) && add("chosen") && add("rejected")
	default:
		found = add(promptContent, prompt)
	}
	if !found {
		return nil
	}
	for _, m := range media {
		add(m.column)
	}
	if p.Env.Rows == rule.RL {
		paths = append(paths, groundTruth)
	}
	return paths
}

// samples emits, for each row, the hash of its sample and that of its ground truth; 0 for none.
type samples struct {
	*rule.Pass
	parts int // reads that make the sample
	truth int // the read of the ground truth; -1: none
	hash  rule.Hasher
}

func newSamples(p *rule.Pass) samples {
	n := len(sampleReads(p))
	s := samples{Pass: p, parts: n, truth: -1}
	if n > 0 && p.Env.Rows == rule.RL {
		s.parts, s.truth = n-1, n-1
	}
	return s
}

// Row implements rule.Checker.
func (c *samples) Row(r schema.Row) {
	if c.parts == 0 {
		return
	}
	c.hash.Reset()
	for i := range c.parts {
		v := r.At(i)
		if i == 0 && (v.IsNull() || v.Kind() == schema.List && !c.whole(v)) {
			return // no sample
		}
		c.hash.Value(v)
	}
	key := c.hash.Key()
	var truth uint64
	if c.truth >= 0 {
		if v := r.At(c.truth); !v.IsNull() && !v.IsMissing() {
			c.hash.Reset()
			c.hash.Value(v)
			truth = c.hash.Sum() | 1
		}
	}
	c.Emit(key, r, truth)
}

// whole reports whether the messages are all there: a prompt without its question equals others that lost theirs.
func (c *samples) whole(contents schema.Value) bool {
	for i := range contents.Len() {
		if contents.Elem(i).IsNull() && c.Env.Rows == rule.RL {
			return false // RL105
		}
	}
	return contents.Len() > 0
}

// samplePath is the column that a finding about a whole sample names.
func samplePath(rows rule.Kind) schema.Path {
	if rows == rule.SFT {
		return messages
	}
	return prompt
}
