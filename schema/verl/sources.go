package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// sources judges the ground truths of a file: Reads[0] is data_source, Reads[1] what is judged.
type sources struct {
	*rule.Pass
	// clean reports whether no value of the chunk can be at fault with the scorer.
	clean func(s *Scorer, truth rule.ColumnFacts) bool
	// row judges one row whose data_source has a scorer.
	row func(c *sources, r schema.Row, s *Scorer)

	custom *bool  // a reward function of the user's scores every source; nil: not asked yet
	last   string // the data_source of the row before, and its scorer: most files have one
	scorer *Scorer
}

// Prejudge implements rule.Checker: where the dictionary has all sources, each is asked once.
func (c *sources) Prejudge(k *rule.RowGroupFacts) bool {
	source, truth := k.At(0), k.At(1)
	if source.Missing || truth.Missing {
		return true
	}
	if source.Dict == nil {
		return false
	}
	for _, v := range source.Dict {
		if s := c.known(v); s != nil && !c.clean(s, truth) {
			return false
		}
	}
	return true
}

// Row implements rule.Checker.
func (c *sources) Row(r schema.Row) {
	v := r.At(0)
	if v.Kind() != schema.Text {
		return
	}
	if c.scorer == nil || v.Text() != c.last {
		if c.scorer = c.known(v); c.scorer == nil {
			return
		}
		c.last = v.Clone().Text()
	}
	c.row(c, r, c.scorer)
}

// known returns the built-in scorer of v; nil where there is none or where the user says that a scorer of their own takes
// the source.
func (c *sources) known(v schema.Value) *Scorer {
	if c.custom == nil {
		custom := scoresAll(c.Pass)
		c.custom = &custom
	}
	if *c.custom || v.Kind() != schema.Text || rule.Known(v.Text(), nil, c.Env.KnownSources) {
		return nil
	}
	return ScorerFor(v.Text())
}

// scoresAll reports whether the launch has a reward function of the user's, which then scores every data_source.
func scoresAll(p *rule.Pass) bool {
	l := launchOf(p)
	if l == nil {
		return false
	}
	path, _ := l.Reward()
	return path != ""
}
