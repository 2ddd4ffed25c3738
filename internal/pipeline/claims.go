package pipeline

import (
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema/rule"
)

// claimed notes what a rule was given of an input leaf.
func (p *partRun) claimed(input int, ch rule.ColumnFacts) {
	if !p.doubt && !p.worker.plan.Job.TrustStatistics && (ch.Nulls >= 0 || ch.Dict != nil) {
		p.claims = append(p.claims, claim{input: input, nulls: ch.Nulls})
	}
}

// verify holds the claims about leaves that will not be decoded against their pages.
func (p *partRun) verify(decode []int) error {
	for i := range p.claims {
		c := &p.claims[i]
		if c.decoded = slices.Contains(decode, c.input); c.decoded {
			continue
		}
		nulls, err := p.worker.plan.facts.Nulls(p.rng, c.input)
		if err != nil {
			return err // it names the file
		}
		if c.nulls >= 0 && c.nulls != nulls {
			return errDoubt
		}
	}
	return nil
}

// count counts the nulls of the leaves that a claim is about.
func (p *partRun) count(b *record.Batch) {
	for i := range p.claims {
		c := &p.claims[i]
		if !c.decoded || c.nulls < 0 {
			continue
		}
		if v := b.Leaves[c.input].Vec; v != nil {
			c.counted += int64(v.Entries())
			if v.Values != nil {
				c.counted -= int64(v.Values.Len())
			}
		}
	}
}

// held returns errDoubt where a claim is not what was counted in all rows of the range.
func (p *partRun) held() error {
	for _, c := range p.claims {
		if c.decoded && c.nulls >= 0 && c.nulls != c.counted {
			return errDoubt
		}
	}
	return nil
}
