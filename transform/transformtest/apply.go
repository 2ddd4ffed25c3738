package transformtest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Rejection is a row that a step could not take.
type Rejection struct {
	Step   int
	Number int64
	Err    *transform.Reject
}

// Apply carries out steps one after the other. A row that a step rejects goes no further and is returned beside the
// table; an error is a Plan that fails or a Func that breaks its contract.
func (t *Table) Apply(steps ...transform.RowStep) (*Table, []Rejection, error) {
	var rejected []Rejection
	for i, s := range steps {
		if b, ok := s.(transform.Barrier); ok {
			rows, err := barrier([]*Table{t}, b)
			if err != nil {
				return nil, rejected, fmt.Errorf("step %d: %w", i, err)
			}
			t = &Table{Schema: t.Schema}
			for _, one := range rows {
				t.Schema, t.Rows, t.Numbers = one.Schema, append(t.Rows, one.Rows...), append(t.Numbers, one.Numbers...)
			}
			continue
		}
		plan, err := s.Plan(t.Schema)
		if err != nil {
			return nil, rejected, fmt.Errorf("step %d: %w", i, err)
		}
		next, bad, err := t.run(plan)
		if err != nil {
			return nil, rejected, fmt.Errorf("step %d: %w", i, err)
		}
		for _, r := range bad {
			r.Step = i
			rejected = append(rejected, r)
		}
		t = next
	}
	return t, rejected, nil
}

// run carries out one plan.
func (t *Table) run(plan *transform.Plan) (*Table, []Rejection, error) {
	if err := t.check(plan); err != nil {
		return nil, nil, err
	}
	if plan.Conform != nil {
		out, err := t.shape(plan.Conform)
		return out, nil, err
	}
	out := &Table{Schema: t.Schema.Clone()}
	for _, p := range plan.Puts {
		p.Type = t.putType(p)
		out.Schema.Fields = putField(out.Schema.Fields, p.Path.Steps(), p)
	}
	whole := schema.StructOf(out.Schema.Fields...)
	final := &Table{Schema: &schema.Schema{Fields: dropFields("", out.Schema.Fields, plan.Drops)}}
	if plan.Order != nil {
		slices.SortStableFunc(final.Schema.Fields, func(a, b schema.Field) int {
			return cmp.Compare(slices.Index(plan.Order, a.Name), slices.Index(plan.Order, b.Name))
		})
	}
	left := schema.StructOf(final.Schema.Fields...)
	var f transform.Func
	if plan.Bind != nil {
		f = plan.Bind()
	}
	var rejected []Rejection
	bulk := newBulk(plan)
	for i := range t.Rows {
		computed, reject, err := t.compute(plan, f, i)
		if err != nil {
			return nil, nil, err
		}
		bulk.add(t.View(i, plan.Reads), computed, reject)
		if reject != nil {
			rejected = append(rejected, Rejection{Number: t.Numbers[i], Err: reject})
		}
		for _, values := range computed {
			row := put(t.Rows[i], plan.Puts, values, &whole)
			if row, err = fit(row, &left); err != nil {
				return nil, nil, err
			}
			final.Rows, final.Numbers = append(final.Rows, row), append(final.Numbers, t.Numbers[i])
		}
	}
	if err := bulk.compare(); err != nil {
		return nil, nil, err
	}
	return final, rejected, nil
}

// putType is the type of what p puts.
func (t *Table) putType(p transform.Put) schema.Type {
	switch {
	case p.Const != nil:
		return p.Type
	case p.Seq != nil:
		return schema.Int64Type
	case p.Copy != "" && p.Retype.Kind != schema.Missing:
		return p.Retype
	case p.Copy != "":
		f, _ := t.Schema.Lookup(p.Copy)
		return f.Type
	}
	return p.Type
}

// shape returns the rows as those of another schema.
func (t *Table) shape(to *schema.Schema) (*Table, error) {
	out := &Table{Schema: to, Numbers: t.Numbers}
	whole := schema.StructOf(to.Fields...)
	for _, r := range t.Rows {
		row, err := fit(r, &whole)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// ApplyFiles carries out one step on the files of a split and returns their rows, one file after the other.
func ApplyFiles(files []*Table, step transform.RowStep) (lines []string, rejected []Rejection, err error) {
	if g, ok := step.(transform.SplitStep); ok {
		var in []transform.FileSchema
		for i, f := range files {
			in = append(in, transform.FileSchema{Name: fmt.Sprintf("in-%d.jsonl", i), Schema: f.Schema})
		}
		if step, err = g.Gather(in); err != nil {
			return nil, nil, err
		}
	}
	if b, ok := step.(transform.Barrier); ok {
		if files, err = barrier(files, b); err != nil {
			return nil, nil, err
		}
		for _, f := range files {
			lines = append(lines, f.Lines()...)
		}
		return lines, nil, nil
	}
	for _, f := range files {
		plan, err := step.Plan(f.Schema)
		if err != nil {
			return nil, nil, err
		}
		out, bad, err := f.run(plan)
		if err != nil {
			return nil, nil, err
		}
		lines, rejected = append(lines, out.Lines()...), append(rejected, bad...)
	}
	return lines, rejected, nil
}

// check returns an error for a plan that the engine could not carry out.
func (t *Table) check(plan *transform.Plan) error {
	for _, p := range slices.Concat(plan.Reads, plan.Drops) {
		if _, ok := t.Schema.Lookup(p); !ok {
			return fmt.Errorf("plan names %q, which is not there", p)
		}
	}
	computes := false
	for _, p := range plan.Puts {
		f, ok := t.Schema.Lookup(p.Copy)
		switch {
		case p.Copy == "" && (p.Retype.Kind != schema.Missing || p.MapText != nil):
			return fmt.Errorf("plan has Retype or MapText for %q, which copies nothing", p.Path)
		case p.Copy != "" && !ok:
			return fmt.Errorf("plan copies %q, which is not there", p.Copy)
		case p.MapText != nil && (p.Copy != p.Path || f.Type.Kind != schema.Text):
			return fmt.Errorf("plan has MapText for %q, which is no text that is copied over itself", p.Path)
		case p.Retype.Kind != schema.Missing && (p.Retype.Kind != schema.Text || f.Type.Kind != schema.Binary && f.Type.Kind != schema.Text):
			return fmt.Errorf("plan makes %q, which is %s, a %s: they are not stored alike", p.Copy, f.Type, p.Retype)
		}
		if _, ok := t.Schema.Lookup(p.Path); ok && p.OnExisting == transform.Refuse {
			return fmt.Errorf("column %q is there already", p.Path)
		}
		computes = computes || (p.Const == nil && p.Seq == nil && p.Copy == "")
	}
	if computes && plan.Bind == nil {
		return errors.New("nothing computes what the plan puts")
	}
	return nil
}

// compute returns, for each row that comes out of row i, a value a Put. f is nil where the plan computes nothing.
func (t *Table) compute(plan *transform.Plan, f transform.Func, i int) ([][]schema.Value, *transform.Reject, error) {
	values := make([]schema.Value, len(plan.Puts))
	for k, p := range plan.Puts {
		switch {
		case p.Const != nil:
			values[k] = *p.Const
		case p.Seq != nil:
			values[k] = schema.IntValue(t.Numbers[i] + p.Seq.Start)
		case p.Copy != "":
			values[k] = copied(at(t.Rows[i], p.Copy.Steps(), 0), p)
		}
	}
	if f == nil {
		return [][]schema.Value{values}, nil, nil
	}
	var out [][]schema.Value
	e := transform.NewEmitter(len(plan.Puts), func(set []schema.Value) {
		row := slices.Clone(values)
		for k := range row {
			if row[k].IsMissing() {
				row[k] = set[k].Clone()
			}
		}
		out = append(out, row)
	})
	_, _, err := e.Run(f, t.View(i, plan.Reads))
	var reject *transform.Reject
	if errors.As(err, &reject) {
		return nil, reject, nil
	}
	return out, nil, err
}

// copied is a value that p copies: with each of its texts mapped, and of the type Retype.
func copied(v schema.Value, p transform.Put) schema.Value {
	switch v.Kind() {
	case schema.List:
		elems := make([]schema.Value, v.Len())
		for i := range elems {
			elems[i] = copied(v.Elem(i), p)
		}
		return schema.ListValue(elems)
	case schema.Text, schema.Binary:
		text := v.Text()
		if p.MapText != nil {
			text = string(p.MapText(nil, text))
		}
		kind := v.Kind()
		if p.Retype.Kind != schema.Missing {
			kind = p.Retype.Kind
		}
		return schema.OpaqueValue(kind, text)
	}
	return v
}

// putField returns fields with the column of p at steps.
func putField(fields []schema.Field, steps []string, p transform.Put) []schema.Field {
	i := slices.IndexFunc(fields, func(f schema.Field) bool { return f.Name == steps[0] })
	if len(steps) == 1 {
		f := schema.NewField(steps[0], p.Type)
		if i >= 0 {
			fields[i] = f
			return fields
		}
		if a := slices.IndexFunc(fields, func(f schema.Field) bool { return p.After != "" && f.Name == p.After.Base() }); a >= 0 {
			return slices.Insert(fields, a+1, f)
		}
		return append(fields, f)
	}
	if i < 0 {
		fields, i = append(fields, schema.NewField(steps[0], schema.StructOf())), len(fields)
	}
	switch {
	case steps[1] == schema.Elem && len(steps) == 2:
		fields[i].Type.Fields[0].Type = p.Type
		return fields
	case steps[1] == schema.Elem:
		fields[i].Type.Fields[0].Type.Fields = putField(fields[i].Type.Fields[0].Type.Fields, steps[2:], p)
		return fields
	}
	fields[i].Type.Fields = putField(fields[i].Type.Fields, steps[1:], p)
	return fields
}

// dropFields returns fields without those that drops name.
func dropFields(parent schema.Path, fields []schema.Field, drops []schema.Path) []schema.Field {
	var out []schema.Field
	for _, f := range fields {
		p := parent.Field(f.Name)
		if slices.Contains(drops, p) {
			continue
		}
		f.Type = dropInType(p, f.Type, drops)
		out = append(out, f)
	}
	return out
}

func dropInType(p schema.Path, t schema.Type, drops []schema.Path) schema.Type {
	switch t.Kind {
	case schema.Struct:
		t.Fields = dropFields(p, t.Fields, drops)
	case schema.List:
		e := t.Fields[0]
		e.Type = dropInType(p.Elem(), e.Type, drops)
		t.Fields = []schema.Field{e}
	}
	return t
}

// put returns row with the values of puts in it, as a value of t.
func put(row schema.Value, puts []transform.Put, values []schema.Value, t *schema.Type) schema.Value {
	for k, p := range puts {
		fill := p.OnExisting == transform.Fill
		old := at(row, p.Path.Steps(), 0)
		if fill && !old.IsNull() && !old.IsMissing() {
			continue
		}
		row = putValue(row, t, p.Path.Steps(), values[k], fill)
	}
	return row
}

// putValue returns v, a struct that may lack fields of t, as one of t, with val at steps. A parent that is null stays so
// unless fill is set. Inside a list val is one value an element.
func putValue(v schema.Value, t *schema.Type, steps []string, val schema.Value, fill bool) schema.Value {
	if len(steps) == 0 {
		return val
	}
	if v.IsNull() && !fill {
		return v
	}
	if steps[0] == schema.Elem {
		elems := make([]schema.Value, v.Len())
		for i := range elems {
			elems[i] = putValue(v.Elem(i), &t.Fields[0].Type, steps[1:], val.Elem(i), fill)
		}
		return schema.ListValue(elems)
	}
	elems := make([]schema.Value, len(t.Fields))
	for i, f := range t.Fields {
		old := v.Field(f.Name)
		switch {
		case f.Name != steps[0] && old.IsMissing():
			elems[i] = schema.NullValue
		case f.Name != steps[0]:
			elems[i] = old
		case len(steps) == 1:
			elems[i] = val
		default:
			elems[i] = putValue(old, &t.Fields[i].Type, steps[1:], val, fill)
		}
	}
	return schema.StructValue(t, elems)
}
