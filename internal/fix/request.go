package fix

import (
	"context"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

var _ rule.FixRequest = (*request)(nil)

// Rule implements rule.FixRequest.
func (r *request) Rule() *rule.Rule { return r.Finding.Rule }

// Env implements rule.FixRequest.
func (r *request) Env() *rule.Env { return r.planner.job.Env }

// Path implements rule.FixRequest.
func (r *request) Path() schema.Path { return r.Finding.Path }

// File implements rule.FixRequest.
func (r *request) File() int { return r.file }

// Dataset implements rule.FixRequest.
func (r *request) Dataset() []int { return r.dataset }

// Facts implements rule.FixRequest.
func (r *request) Facts(file int) *rule.File { return r.planner.files[file] }

// Scan implements rule.FixRequest.
func (r *request) Scan(ctx context.Context, file int, reads []schema.Path, see func(schema.Row)) error {
	return r.planner.scan(ctx, file, reads, see)
}

// Misfit implements rule.FixRequest.
func (r *request) Misfit(file int, t transform.RowStep) string {
	if _, err := t.Plan(r.planner.files[file].Schema); err != nil {
		return err.Error()
	}
	return ""
}

// Add implements rule.FixRequest.
func (r *request) Add(file int, path schema.Path, t transform.RowStep) {
	p := r.planner
	found := Finding{r.Finding.Rule, p.files[file].Name, r.Finding.Path}
	done := Done{Rule: found.Rule, Path: path, Fix: r.fix, Rows: p.counts[found]}
	p.steps[file] = append(p.steps[file], step{RowStep: counted{t, r.group}, done: done, group: r.group})
	p.touched[file] = append(p.touched[file], path)
}

// StripMetadata implements rule.FixRequest.
func (r *request) StripMetadata(file int) {
	steps := r.planner.steps[file]
	steps[len(steps)-1].strip = true
}
