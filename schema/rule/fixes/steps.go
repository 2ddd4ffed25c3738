// Package fixes has the fixes that several rules use. Each function returns a rule.Fix of that kind; title says what it does to the
// data of the rule.
package fixes

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Computed is one column whose value is made row by row.
type Computed struct {
	Put   transform.Put
	Reads []schema.Path
	Value func(schema.Row) (v schema.Value, why string) // called by many workers; why: the row cannot be taken
}

// Plan implements transform.RowStep.
func (c Computed) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Reads: c.Reads, Puts: []transform.Put{c.Put}, Bind: func() transform.Func {
		return func(in schema.Row, out *transform.Emitter) error {
			v, why := c.Value(in)
			if why != "" {
				return transform.Rejectf("", c.Put.Path, schema.Value{}, "%s", why)
			}
			out.Set(0, v)
			out.Emit()
			return nil
		}
	}}, nil
}

// A planned is a transform that computes nothing.
type planned struct{ plan transform.Plan }

// Plan implements transform.RowStep.
func (t planned) Plan(*schema.Schema) (*transform.Plan, error) {
	plan := t.plan
	return &plan, nil
}

// over returns a transform that writes the column at path over itself as put says.
func over(path schema.Path, put transform.Put) transform.RowStep {
	put.Path, put.Copy, put.OnExisting = path, path, transform.Replace
	return planned{transform.Plan{Puts: []transform.Put{put}}}
}

// A dropper leaves out the rows in which a rule finds something at path, at its own level: the rule itself is asked.
type dropper struct {
	rule *rule.Rule
	env  *rule.Env
	path schema.Path
}

// Plan implements transform.RowStep.
func (d dropper) Plan(in *schema.Schema) (*transform.Plan, error) {
	pass, ok := rule.NewPass(d.rule, d.env)
	if !ok {
		return &transform.Plan{}, nil
	}
	pass.Schema = in
	reads := d.rule.Reads(pass)
	if len(reads) == 0 {
		return &transform.Plan{}, nil
	}
	return &transform.Plan{Reads: reads, Bind: func() transform.Func {
		pass, _ := rule.NewPass(d.rule, d.env)
		pass.Schema, pass.Task = in, &rule.Task{}
		found := false
		pass.Sink = func(f rule.Finding) { found = found || f.Pos.Path == d.path && f.Level >= pass.Level }
		checker := d.rule.New(pass)
		return func(in schema.Row, out *transform.Emitter) error {
			found = false
			if checker.Row(in); found {
				out.Drop(d.rule.ID)
				return nil
			}
			out.Emit()
			return nil
		}
	}}, nil
}
