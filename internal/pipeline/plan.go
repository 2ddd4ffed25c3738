package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// groupBytes is the size, uncompressed, up to which parts are joined into one row group where it is made afresh.
const groupBytes = 64 << 20

// A UsageError is a job that cannot be done as asked.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// NewPlan resolves the steps for every file and cuts the input into tasks. How it cuts depends on sizes and options alone.
func NewPlan(j *Job) (*Plan, error) {
	p := &Plan{Job: j, Schemas: map[string]*schema.Schema{}, programs: map[string]map[int]*program{}}
	if j.FootersOnly && j.Sink == nil && j.Steps == nil { // no row is read: nothing to prepare
		return p, nil
	}
	for _, s := range j.Splits {
		if err := p.compile(s); err != nil {
			return nil, err
		}
		if err := p.cut(s); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// compile makes the programs of a split and gives them one schema.
func (p *Plan) compile(s Split) error {
	files := p.Job.Source.Files()
	var steps []transform.Transform
	if p.Job.Steps != nil {
		steps = p.Job.Steps(s.Name)
	}
	tight := slices.ContainsFunc(s.Files, func(f int) bool { return files[f].Format == "parquet" })
	steps, err := p.gather(s, steps, tight)
	if err != nil {
		return err
	}
	progs := map[int]*program{}
	for _, f := range s.Files {
		prog, err := compile(files[f].Schema, steps, tight, p.Job.Keep)
		if err != nil {
			return inFile(files[f].Name, err)
		}
		progs[f] = prog
		if p.Schemas[s.Name] == nil {
			p.Schemas[s.Name] = prog.out
		}
		if p.Job.Sink == nil {
			continue
		}
		merged, err := unify(p.Schemas[s.Name], prog.out)
		if err != nil {
			return &UsageError{fmt.Errorf("%s: %w (as in %s)", files[f].Name, err, files[s.Files[0]].Name)}
		}
		p.Schemas[s.Name] = merged
	}
	if p.Job.Sink != nil {
		for _, prog := range progs {
			prog.settle(p.Schemas[s.Name], prog.from)
		}
	}
	p.programs[s.Name] = progs
	for _, prog := range progs {
		prog.distinct = make([]bool, len(prog.leaf))
		for i, l := range prog.leaf {
			prog.distinct[i] = numbered(progs, prog.slots[prog.from[i]].seq, l.Path)
		}
	}
	return nil
}

// numbered reports whether, in every program, the leaf at path holds the numbers of the rows from one start.
func numbered(progs map[int]*program, seq *record.Seq, path schema.Path) bool {
	for _, p := range progs {
		i := slices.IndexFunc(p.leaf, func(l schema.Leaf) bool { return l.Path == path })
		if seq == nil || i < 0 || p.slots[p.from[i]].seq == nil || *p.slots[p.from[i]].seq != *seq {
			return false
		}
	}
	return seq != nil
}

// inFile names the file whose columns the steps do not fit; a place that the user wrote comes first.
func inFile(name string, err error) error {
	var step *transform.StepError
	if errors.As(err, &step) {
		step.File = name
		return &UsageError{step}
	}
	return &UsageError{fmt.Errorf("%s: %w", name, err)}
}

// unify returns the schema that takes the rows of both: they have the same columns in the same order; one that is nullable
// in either is nullable.
func unify(a, b *schema.Schema) (*schema.Schema, error) {
	fields, err := unifyFields("", a.Fields, b.Fields)
	return &schema.Schema{Fields: fields}, err
}

// stored is a type without its fields and without what is only said for Arrow (large_string, dictionary): Parquet stores it alike.
func stored(t schema.Type) schema.Type {
	t.Fields, t.Dictionary = nil, false
	if t.Form != schema.Fixed {
		t.Form = schema.Plain
	}
	return t
}

func unifyFields(at schema.Path, a, b []schema.Field) ([]schema.Field, error) {
	out := slices.Clone(a)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return nil, fmt.Errorf("column %q: the other file of the split has none; step unify of a pipeline gives the files one schema", at.Field(b[i].Name))
		case i >= len(b) || a[i].Name != b[i].Name:
			return nil, fmt.Errorf("expected column %q; step unify of a pipeline gives the files one schema", at.Field(a[i].Name))
		}
		x, y := a[i].Type, b[i].Type
		fields := x.Fields
		if x, y = stored(x), stored(y); !x.Equal(y) {
			return nil, fmt.Errorf("column %q is %s, expected %s; step unify of a pipeline gives the files one type", at.Field(b[i].Name), b[i].Type, a[i].Type)
		}
		var err error
		if fields, err = unifyFields(at.Field(a[i].Name), fields, b[i].Type.Fields); err != nil {
			return nil, err
		}
		out[i].Type.Fields = fields
		out[i].Nullable = a[i].Nullable || b[i].Nullable
	}
	return out, nil
}

// outFiles shows the rules the files as they will be: each input file with the columns that come out of it. Where nothing is
// written a file is what it is: the program has its types in their plain form, but string beside large_string is a fault.
func (p *Plan) outFiles() []*rule.File {
	in := p.Job.Source.Files()
	var out []*rule.File
	for _, s := range p.Job.Splits {
		for _, f := range s.Files {
			g := *in[f]
			if p.Job.Sink != nil || p.Job.Written != nil && p.Job.Written(f) { // written anew: what the footer said otherwise is gone
				g.Schema = p.programs[s.Name][f].out
				g.Metadata, g.ArrowFault, g.RowGroups = nil, "", nil
				g.Format, g.Written = "parquet", true
			}
			out = append(out, &g)
		}
	}
	return out
}
