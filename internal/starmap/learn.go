package starmap

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Probe is the step that stands for a Map while its columns are being found out: it runs the function on the first rows of the
// split, and lets no row wait for more.
type Probe struct {
	m          *Map
	in         *schema.Schema
	rows       int
	firstFault *transform.Fault // of rows that failed
	columns    []string
	shapes     []*shape
	some       bool // a row came out
}

// Probe returns the step to run on the first rows; Learn then takes what it found.
func (m *Map) Probe() *Probe { return &Probe{m: m} }

// Done reports whether enough rows were seen.
func (p *Probe) Done() bool { return p.rows >= sampleRows }

// FirstFault is the first row that failed, nil for none.
func (p *Probe) FirstFault() *transform.Fault { return p.firstFault }

// Some reports whether a row came out.
func (p *Probe) Some() bool { return p.some }

// Adopt takes the columns of another Map, of which rows came out.
func (m *Map) Adopt(other *Map) { m.learned = other.learned }

// Same reports whether both run the same script.
func (m *Map) Same(other *Map) bool {
	return m.prog.Name == other.prog.Name && m.place() == other.place()
}

// Plan implements transform.RowStep. The Func that it binds is not for several workers.
func (p *Probe) Plan(in *schema.Schema) (*transform.Plan, error) {
	names, paths, err := p.m.reads(in)
	if err != nil {
		return nil, err
	}
	if p.in == nil {
		p.in = in
	}
	star := stars(names)
	return &transform.Plan{Reads: paths, Bind: func() transform.Func {
		w := newWorker(p.m.prog)
		return func(row schema.Row, out *transform.Emitter) error {
			out.Emit()
			if p.Done() {
				return nil
			}
			p.rows++
			return p.see(w, row, star, in)
		}
	}}, nil
}

// see runs the function on a row and notes what comes out. A row that fails is left to the run, which has the user's tolerance; a bound,
// and kinds that do not agree, end it here.
func (p *Probe) see(w *worker, row schema.Row, names []starlark.Value, in *schema.Schema) error {
	found, err := p.m.run(w, row, names, nil)
	if err != nil {
		err = w.fault(err, row, "map-error", in.Names())
		var fault *transform.Fault
		if errors.As(err, &fault) {
			return err
		}
		var reject *transform.Reject
		if errors.As(err, &reject) && p.firstFault == nil {
			p.firstFault = &transform.Fault{Where: reject.Where, Number: row.Number(), Message: reject.Message, Pos: row.Pos()}
		}
		return nil
	}
	for _, o := range found {
		if err := p.note(o, row.Number(), in); err != nil {
			return &transform.Fault{Where: p.m.place(), Number: row.Number(), Message: err.Error()}
		}
	}
	return nil
}

// note takes one row that came out into account.
func (p *Probe) note(o outcome, number int64, in *schema.Schema) error {
	keys := p.keys(o, in)
	left := pystar.MaxSteps
	if !p.some {
		p.some = true
		p.columns = keys
		for _, k := range keys {
			p.shapes = append(p.shapes, &shape{name: k})
		}
	}
	for _, k := range keys {
		i := slices.Index(p.columns, k)
		if i < 0 && p.declares(k) {
			continue
		}
		if i < 0 && p.passing(k) { // the rows before left it as it is
			i = len(p.columns)
			p.columns, p.shapes = append(p.columns, k), append(p.shapes, &shape{name: k, passed: true})
		}
		if i < 0 {
			return fmt.Errorf("key %s is here, and not in the rows before it: give it in every row, or say its type by schema", k)
		}
		if err := p.shapes[i].observe(o.get(k), schema.Path("").Field(k), number, 0, &left); err != nil && !p.declares(k) {
			return err
		}
	}
	for i, c := range p.columns {
		if slices.Contains(keys, c) || p.declares(c) {
			continue
		}
		if p.shapes[i].passed = p.passing(c); !p.shapes[i].passed {
			return fmt.Errorf("key %s is missing, and the rows before have it: give it a value, or None", c)
		}
	}
	return nil
}

// passing reports whether a column goes on as it is in a row whose result does not set it.
func (p *Probe) passing(name string) bool {
	f, i := p.in.Column(name)
	return i >= 0 && p.m.passes(f)
}

func (p *Probe) declares(name string) bool {
	return slices.ContainsFunc(p.m.declared, func(f schema.Field) bool { return f.Name == name })
}

// keys are the columns that the function gives for a row, in HF datasets' order: those of the source first, then those that it set in the
// example, then those that it returned.
func (p *Probe) keys(o outcome, in *schema.Schema) []string {
	var out []string
	for _, f := range in.Fields {
		if v := o.get(f.Name); v != nil && !(p.m.passes(f) && has(o.result, f.Name) == (o.result == o.example)) {
			out = append(out, f.Name)
		}
	}
	for _, d := range []*starlark.Dict{o.example, o.result} {
		for _, k := range d.Keys() {
			if name, ok := starlark.AsString(k); ok && !slices.Contains(out, name) && !slices.Contains(in.Names(), name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func has(d *starlark.Dict, name string) bool {
	_, ok, _ := d.Get(starlark.String(name))
	return ok
}

// Learn takes what the probe found as the columns of the map.
func (m *Map) Learn(p *Probe) error {
	l := &learned{known: map[string]bool{}}
	for i, name := range p.columns {
		if p.declares(name) {
			continue
		}
		s, path := p.shapes[i], schema.Path("").Field(name)
		t := s.typ()
		if f, at := p.in.Column(name); at >= 0 && s.fits(f.Type) {
			t = f.Type
		} else if s.passed {
			return fmt.Errorf("%s: key %s: %s in some rows, and the source's %s in others, in which it is not set: give it one type", m.place(), path, s.typ(), f.Type)
		} else if err := s.writable(path); err != nil {
			return fmt.Errorf("%s: %w", m.place(), err)
		}
		l.names, l.types = append(l.names, name), append(l.types, t)
	}
	for _, f := range m.declared {
		l.names, l.types, l.known[f.Name] = append(l.names, f.Name), append(l.types, f.Type), true
	}
	m.sortColumns(p, l)
	if p.some {
		for _, f := range p.in.Fields {
			read := m.use.All || slices.Contains(m.use.Keys, f.Name)
			if read && !slices.Contains(l.names, f.Name) && !m.passes(f) {
				l.drops = append(l.drops, f.Name)
			}
		}
	}
	m.learned = l
	return nil
}

// sortColumns gives declared columns the place that they have in the rows; those of no row come last.
func (m *Map) sortColumns(p *Probe, l *learned) {
	rank := func(name string) int {
		if i := slices.Index(p.columns, name); i >= 0 {
			return i
		}
		return len(p.columns)
	}
	index := make([]int, len(l.names))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return rank(l.names[a]) - rank(l.names[b]) })
	names, types := make([]string, len(index)), make([]schema.Type, len(index))
	for i, k := range index {
		names[i], types[i] = l.names[k], l.types[k]
	}
	l.names, l.types = names, types
}
