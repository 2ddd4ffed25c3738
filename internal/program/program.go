// Package program turns the steps of a job into what they do to the columns of one file, and carries it out.
//
//	Compile   steps + the file's columns → slots (compile.go, conform.go), once for each file
//	Resolve   slots + the null counts of a range of rows → which slots have nothing to do there (resolve.go)
//	Run       the slots' vectors, slice by slice of that range (run.go, slot.go, vector.go)
//
// A slot is where the values of one leaf come from; there is one Go type for each kind of slot. Copies, renames and drops are done
// when a program is compiled and cost nothing later. The package knows neither files nor shards: a planner asks a Resolved what
// would be decoded, and a worker hands a Run the batches that it has read.
package program

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Program is a job's steps resolved for the columns of one file.
type Program struct {
	in    *schema.Schema
	slots []slot
	steps []step

	builtSchema *schema.Schema // as the steps built it; the levels of slots are those of its leaves
	builtMaxDef []uint8        // by leaf
	slotOfLeaf  []int
	out         *schema.Schema // as it is written: the same leaves, of which more may be nullable
	judged      *schema.Schema // out and the derived columns after it
	outLeaves   []schema.Leaf  // of judged
	numOut      int            // of outLeaves: those of out
	// relevel maps, for each of outLeaves, levels as built to those of out; nil: they are the same.
	relevel [][]uint8
	// distinct says of each of outLeaves that it is made from the row's number, in the same way in all files of the split.
	distinct []bool
}

// In is the schema of the file.
func (p *Program) In() *schema.Schema { return p.in }

// Out is the schema of the rows that are written.
func (p *Program) Out() *schema.Schema { return p.out }

// Judged is the schema of the rows that rules see: Out, and the derived columns after it.
func (p *Program) Judged() *schema.Schema { return p.judged }

// Leaves are the leaves of Judged. Those of Out come first.
func (p *Program) Leaves() []schema.Leaf { return p.outLeaves }

// NumOut is the number of leaves of Out.
func (p *Program) NumOut() int { return p.numOut }

// Computes reports whether a step computes values.
func (p *Program) Computes() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { _, ok := s.(*compute); return ok })
}

// SetOutput sets the schema of the rows that are written: that of the steps with more of it nullable.
func (p *Program) SetOutput(out *schema.Schema) {
	p.out, p.judged = out, out
	if derived := p.builtSchema.Fields[len(out.Fields):]; len(derived) > 0 {
		p.judged = &schema.Schema{Fields: slices.Concat(out.Fields, derived)}
	}
	p.numOut = len(out.Leaves())
	p.outLeaves, p.relevel = p.judged.Leaves(), relevel(p.builtSchema.Fields, p.judged.Fields)
}

// A File is one file of a split.
type File struct {
	Name   string
	Schema *schema.Schema
}

// CompileSplit compiles steps for the files of a split. With oneSchema all programs put out the same schema, which it returns: what is
// nullable in one is so in all. Without, each keeps its own, and the first's is returned.
func CompileSplit(files []File, steps []transform.RowStep, o Options, oneSchema bool) ([]*Program, *schema.Schema, error) {
	steps, err := gather(files, steps, o)
	if err != nil {
		return nil, nil, err
	}
	var out *schema.Schema
	progs := make([]*Program, len(files))
	for i, f := range files {
		if progs[i], err = Compile(f.Schema, steps, o); err != nil {
			return nil, nil, inFile(f.Name, err)
		}
		switch {
		case out == nil:
			out = progs[i].out
		case oneSchema:
			if out, err = unify(out, progs[i].out); err != nil {
				return nil, nil, fmt.Errorf("%s: %w (as in %s)", f.Name, err, files[0].Name)
			}
		}
	}
	for _, p := range progs {
		if oneSchema {
			p.SetOutput(out)
		}
		p.distinct = make([]bool, len(p.outLeaves))
		for i, l := range p.outLeaves {
			n, ok := p.slots[p.slotOfLeaf[i]].kind.(rowNumber)
			p.distinct[i] = ok && numbered(progs, n, l.Path)
		}
	}
	return progs, out, nil
}

// gather gives every step that must know the schemas of all files the schemas that reach it, and returns the steps with those that take their places.
func gather(files []File, steps []transform.RowStep, o Options) ([]transform.RowStep, error) {
	for i, t := range steps {
		l, placed := t.(transform.Located)
		if placed {
			t = l.RowStep
		}
		g, ok := t.(transform.SplitStep)
		if !ok {
			continue
		}
		var in []transform.FileSchema
		for _, f := range files {
			prog, err := Compile(f.Schema, steps[:i], o)
			if err != nil {
				return nil, inFile(f.Name, err)
			}
			in = append(in, transform.FileSchema{Name: f.Name, Schema: prog.out})
		}
		made, err := g.Gather(in)
		if err != nil && placed {
			err = &transform.StepError{Where: l.Where, Verb: l.Verb, Err: err}
		}
		if err != nil {
			return nil, err
		}
		if placed {
			l.RowStep = made
			made = l
		}
		steps = append(append(steps[:i:i], made), steps[i+1:]...)
	}
	return steps, nil
}

// numbered reports whether, in every program, the leaf at path holds these row numbers.
func numbered(progs []*Program, n rowNumber, path schema.Path) bool {
	for _, p := range progs {
		i := slices.IndexFunc(p.outLeaves, func(l schema.Leaf) bool { return l.Path == path })
		if i < 0 || p.slots[p.slotOfLeaf[i]].kind != n {
			return false
		}
	}
	return true
}

// StepError is the error of a step that does not fit the columns of a file.
func StepError(file string, t transform.RowStep, err error) error {
	return inFile(file, located(t, err))
}

// inFile names the file whose columns the steps do not fit; a place that the user wrote comes first.
func inFile(name string, err error) error {
	var step *transform.StepError
	if errors.As(err, &step) {
		step.File = name
		return step
	}
	return fmt.Errorf("%s: %w", name, err)
}

// unify returns the schema that takes the rows of both: they have the same columns in the same order; one that is nullable
// in either is nullable. It is no schema.Merge: chunks of both files become columns of one file undecoded, so it finds no common type but holds
// the columns, which stand in one order, to the types as they are stored.
func unify(a, b *schema.Schema) (*schema.Schema, error) {
	fields, err := unifyFields("", a.Fields, b.Fields)
	return &schema.Schema{Fields: fields}, err
}

// Stored is a type without its fields and without what only Arrow knows (large_string, dictionary): types that are equal so are stored alike in Parquet.
func Stored(t schema.Type) schema.Type {
	t.Fields, t.Dictionary = nil, false
	if t.Layout != schema.Fixed {
		t.Layout = schema.Plain
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
		if x, y = Stored(x), Stored(y); !x.Equal(y) {
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

// relevel returns, for each leaf below fields a, the level in b of each of its definition levels; nil where they are equal. The
// trees differ only in what is nullable, and b is where a is.
func relevel(a, b []schema.Field) [][]uint8 {
	var out [][]uint8
	var walk func(a, b schema.Field, levels []uint8)
	walk = func(a, b schema.Field, levels []uint8) {
		top := levels[len(levels)-1]
		levels = slices.Clone(levels)
		step := func(inA, inB bool) {
			switch {
			case inA && inB:
				top++
				levels = append(levels, top)
			case inB: // always there
				top++
				levels[len(levels)-1] = top
			}
		}
		step(a.Nullable, b.Nullable)
		if isLeaf(a.Type.Kind) {
			for i, l := range levels {
				if int(l) != i {
					out = append(out, levels)
					return
				}
			}
			out = append(out, nil)
			return
		}
		if a.Type.Kind != schema.Struct {
			step(true, true)
		}
		for i := range a.Type.Fields {
			walk(a.Type.Fields[i], b.Type.Fields[i], levels)
		}
	}
	for i := range a {
		walk(a[i], b[i], []uint8{0})
	}
	return out
}

// plain takes from fields what only their file knew: they are written in the standard form.
func plain(fields []schema.Field) {
	for i := range fields {
		f := &fields[i]
		f.SourceElement = nil
		f.Type.Dictionary = false
		if f.Type.Layout != schema.Fixed || f.Type.Kind == schema.List {
			f.Type.Layout = schema.Plain
			f.Type.Size = 0
		}
		f.Type.Fields = slices.Clone(f.Type.Fields)
		plain(f.Type.Fields)
	}
}
