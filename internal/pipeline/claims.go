package pipeline

import (
	"errors"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema/rule"
)

// errDoubt says that the footer lies about a leaf, so that rules must be given what its pages hold.
var errDoubt = errors.New("the footer lies")

// A claim is what the footer says of the nulls of an input leaf, as rules were given it. A footer can lie: a null_count of 0 would hide
// the nulls from every rule that asks for it. So a claim about a leaf that is decoded is held against the rows as they go by, and the pages
// of one that nobody decodes are counted. Where a claim is wrong the row group is done a second time, in doubt.
type claim struct {
	input   int
	nulls   int64 // -1: none about nulls
	counted int64 // in the rows that were decoded
	decoded bool
}

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
