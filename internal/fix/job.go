package fix

import (
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Job is what to fix.
type Job struct {
	Input   pipeline.Input // Parquet files
	Facts   pipeline.Facts
	Rules   []*rule.Rule
	Env     *rule.Env
	Unsafe  bool
	Workers int
	Passed  func(rule.Finding) bool // reports whether a finding is accepted, so it is not fixed; nil: none is
}

// check asks the fixes whether what the user has said for them is right.
func (j *Job) check() error {
	for _, r := range rule.All() {
		pass, ok := rule.NewPass(r, j.Env)
		if !ok {
			continue
		}
		for _, f := range r.Fixes {
			if f.Check == nil {
				continue
			}
			if err := f.Check(pass); err != nil {
				return &misuse.Error{Err: err}
			}
		}
	}
	return nil
}
