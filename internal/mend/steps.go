package mend

import (
	"errors"
	"strconv"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A computed is one column whose value is made row by row.
type computed struct {
	put   transform.Put
	reads []schema.Path
	value func(schema.Row) (v schema.Value, why string) // called by many workers; why: the row cannot be taken
}

// Plan implements transform.Transform.
func (c computed) Plan(*schema.Schema) (*transform.Plan, error) {
	return &transform.Plan{Reads: c.reads, Puts: []transform.Put{c.put}, Bind: func() transform.Func {
		return func(in schema.Row, out *transform.Emitter) error {
			v, why := c.value(in)
			if why != "" {
				return transform.Rejectf("", c.put.Path, schema.Value{}, "%s", why)
			}
			out.Set(0, v)
			out.Emit()
			return nil
		}
	}}, nil
}

// A planned is a transform that computes nothing.
type planned struct{ plan transform.Plan }

// Plan implements transform.Transform.
func (t planned) Plan(*schema.Schema) (*transform.Plan, error) {
	plan := t.plan
	return &plan, nil
}

// over returns a transform that writes the column at path over itself as put says.
func over(path schema.Path, put transform.Put) transform.Transform {
	put.Path, put.Copy, put.If = path, path, transform.Replace
	return planned{transform.Plan{Puts: []transform.Put{put}}}
}

// A refusing is a transform whose rejects are counted under the number of its group.
type refusing struct {
	transform.Transform
	group int
}

// Plan implements transform.Transform.
func (t refusing) Plan(in *schema.Schema) (*transform.Plan, error) {
	plan, err := t.Transform.Plan(in)
	if err != nil || plan.Bind == nil {
		return plan, err
	}
	bind := plan.Bind
	plan.Bind = func() transform.Func {
		f := bind()
		return func(in schema.Row, out *transform.Emitter) error {
			err := f(in, out)
			var reject *transform.Reject
			if errors.As(err, &reject) {
				reject.Reason = strconv.Itoa(t.group)
			}
			return err
		}
	}
	return plan, nil
}

// A dropper leaves out the rows in which a rule finds something at path, at its own level: the rule itself is asked.
type dropper struct {
	rule *rule.Rule
	env  *rule.Env
	path schema.Path
}

// Plan implements transform.Transform.
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
