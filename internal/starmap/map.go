package starmap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Map is a program's function as a step, for one split. Its columns are those that Learn finds in the first rows.
type Map struct {
	prog     *pystar.Program
	split    string
	declared []schema.Field
	fn       starlark.Callable
	params   int
	use      *pystar.Use
	learned  *learned
}

// NewMap makes the step that runs make_map_fn(split), or process_fn, on the rows of a split. declared are types that are not to be found
// out from the rows.
func NewMap(p *pystar.Program, split string, declared []schema.Field) (*Map, error) {
	m := &Map{prog: p, split: split, declared: declared}
	f, err := rowFunction(p, split)
	if err != nil {
		return nil, err
	}
	m.fn, m.use, m.params = f, p.Use(f), 1
	if g, ok := f.(*starlark.Function); ok {
		m.params = g.NumParams()
		if g.HasVarargs() || g.HasKwargs() || m.params < 1 || m.params > 2 {
			return nil, fmt.Errorf("%s: %s takes %d parameters, expected (example) or (example, idx)", g.Position(), g.Name(), m.params)
		}
	}
	return m, nil
}

// rowFunction returns the function that the script defines for the rows of a split.
func rowFunction(p *pystar.Program, split string) (starlark.Callable, error) {
	names := p.Names()
	if f := p.Function("process_fn"); f != nil && !slices.Contains(names, "make_map_fn") {
		return f, nil
	}
	maker := p.Function("make_map_fn")
	if maker == nil {
		return nil, fmt.Errorf("%s: no function make_map_fn(split) or process_fn(example, idx) (there are: %s)", p.Name, strings.Join(names, ", "))
	}
	w := p.Worker()
	v, err := w.Call(maker, starlark.Tuple{starlark.String(split)})
	if err != nil {
		return nil, w.StartFault(err)
	}
	f, ok := v.(starlark.Callable)
	if !ok {
		return nil, fmt.Errorf("%s: make_map_fn gave %s, expected the function that takes a row", p.Name, pystar.KindName(v))
	}
	f.Freeze()
	return f, nil
}

// learned is what the first rows say of the columns.
type learned struct {
	names []string // that the function gives, in order
	types []schema.Type
	known map[string]bool // declared: may be missing
	drops []string        // columns that it takes out
}

// reads are the columns that the function may touch.
func (m *Map) reads(in *schema.Schema) (names []string, paths []schema.Path, err error) {
	for _, f := range in.Fields {
		if !m.use.All && !slices.Contains(m.use.Keys, f.Name) {
			continue
		}
		p := schema.Path("").Field(f.Name)
		if err := readable(p, f.Type); err != nil {
			return nil, nil, err
		}
		names, paths = append(names, f.Name), append(paths, p)
	}
	return names, paths, nil
}

// passes reports whether a column that the function reads goes on as it is: it is plain, and nothing sets it.
func (m *Map) passes(f schema.Field) bool {
	plain := f.Type.Kind != schema.List && f.Type.Kind != schema.Struct
	return plain && !m.use.All && !slices.Contains(m.use.Changes, f.Name)
}

// An outcome is a row that came out of the function: what it returned over what it left in the example.
type outcome struct{ example, result *starlark.Dict }

func (o outcome) get(name string) starlark.Value {
	key := starlark.String(name)
	if v, ok, _ := o.result.Get(key); ok {
		return v
	}
	if o.result != o.example {
		if v, ok, _ := o.example.Get(key); ok {
			return v
		}
	}
	return nil
}

// run calls the function for a row.
func (m *Map) run(w *worker, in schema.Row, names []starlark.Value, out []outcome) ([]outcome, error) {
	example := starlark.NewDict(len(names))
	for i, n := range names {
		if err := example.SetKey(n, fromRow(in.At(i))); err != nil {
			return nil, err
		}
	}
	args := starlark.Tuple{example, nil}[:m.params]
	if m.params == 2 {
		args[1] = starlark.MakeInt64(in.Number())
	}
	v, err := w.call(m.fn, args)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case starlark.NoneType:
		return out[:0], nil
	case *starlark.Dict:
		return append(out[:0], outcome{example, x}), nil
	case *starlark.List:
		out = out[:0]
		for i := range x.Len() {
			d, ok := x.Index(i).(*starlark.Dict)
			if !ok {
				return nil, fmt.Errorf("the function gave a list with %s in it, expected dicts", pystar.KindName(x.Index(i)))
			}
			out = append(out, outcome{example, d})
		}
		return out, nil
	}
	return nil, fmt.Errorf("the function gave %s, expected a dict, None to leave the row out, or a list of dicts", pystar.KindName(v))
}

// place is where the function stands.
func (m *Map) place() string {
	if f, ok := m.fn.(*starlark.Function); ok {
		return f.Position().String()
	}
	return m.prog.Name
}

// reject is the rejection of a row that does not fit.
func (m *Map) reject(err error) error {
	return &transform.Reject{Reason: "map-type", Where: m.place(), Message: err.Error()}
}

// stars are names as keys of dicts, made once.
func stars(names []string) []starlark.Value {
	out := make([]starlark.Value, len(names))
	for i, n := range names {
		out[i] = starlark.String(n)
	}
	return out
}

// Plan says which columns are read, made and taken out. Learn must have been called, but for a schema declared in full.
func (m *Map) Plan(in *schema.Schema) (*transform.Plan, error) {
	if m.learned == nil {
		return nil, errors.New("the columns of the function are not known")
	}
	names, paths, err := m.reads(in)
	if err != nil {
		return nil, err
	}
	plan := &transform.Plan{Reads: paths}
	for i, n := range m.learned.names {
		plan.Puts = append(plan.Puts, transform.Put{Path: schema.Path("").Field(n), Type: m.learned.types[i], OnExisting: transform.Replace})
	}
	for _, n := range m.learned.drops {
		if _, i := in.Column(n); i >= 0 {
			plan.Drops = append(plan.Drops, schema.Path("").Field(n))
		}
	}
	columns := in.Names()
	plan.Bind = func() transform.Func {
		b := &binding{m: m, w: newWorker(m.prog), names: stars(names), keys: stars(m.learned.names), columns: columns}
		for i := range m.learned.types {
			b.made = append(b.made, newColumn(&m.learned.types[i]))
		}
		return b.row
	}
	return plan, nil
}

// A binding is the function at work in one worker.
type binding struct {
	m       *Map
	w       *worker
	names   []starlark.Value // of what is read
	keys    []starlark.Value // of what comes out
	made    []*column
	columns []string
	out     []outcome
	values  [][]schema.Value
}

func (b *binding) row(in schema.Row, e *transform.Emitter) error {
	var err error
	if b.out, err = b.m.run(b.w, in, b.names, b.out); err != nil {
		return b.w.fault(err, in, "map-error", b.columns)
	}
	b.values = b.values[:0]
	for _, o := range b.out {
		values, err := b.fill(o)
		var limit *pystar.LimitError
		switch {
		case errors.As(err, &limit):
			return &transform.Fault{Where: b.m.place(), Number: in.Number(), Message: limit.Error()}
		case err != nil:
			return b.m.reject(err)
		}
		b.values = append(b.values, values)
	}
	for _, values := range b.values { // all of them fit
		for i, v := range values {
			e.Set(i, v)
		}
		e.Emit()
	}
	if len(b.out) == 0 {
		e.Drop("map-none")
	}
	return nil
}

// fill makes the values of one row that came out.
func (b *binding) fill(o outcome) ([]schema.Value, error) {
	l := b.m.learned
	values := b.w.allocate(len(l.names))
	own := 0 // keys of the result that are columns
	for i, name := range l.names {
		v, ok, _ := o.result.Get(b.keys[i])
		if ok {
			own++
		} else if o.result != o.example {
			v, ok, _ = o.example.Get(b.keys[i])
		}
		if !ok {
			if !l.known[name] {
				return nil, fmt.Errorf("key %s is missing, and the first rows have it: give it a value, or None (HF datasets' map fails here too)", name)
			}
			values[i] = schema.NullValue
			continue
		}
		var err error
		if values[i], err = b.w.toRow(v, b.made[i], 0); err != nil {
			if e := (*typeError)(nil); errors.As(err, &e) {
				e.path = join(schema.Path("").Field(name), e.path)
			}
			return nil, err
		}
	}
	for _, name := range l.drops {
		if o.get(name) != nil {
			return nil, fmt.Errorf("key %s is there, and the first rows take it out: pop it in every row, or in none", name)
		}
	}
	if own < o.result.Len() {
		if err := b.strange(o.result, o.result == o.example); err != nil {
			return nil, err
		}
	}
	if o.example != o.result && (b.m.use.All || len(b.m.use.Changes) > 0) {
		return values, b.strange(o.example, true)
	}
	return values, nil
}

// strange returns an error for a key that is none that the first rows have, nor in the
// example a column of the source.
func (b *binding) strange(d *starlark.Dict, example bool) error {
	for _, k := range d.Keys() {
		name, ok := starlark.AsString(k)
		if !ok {
			return fmt.Errorf("the row has the key %s, expected text", pystar.Cut(k.String(), 40))
		}
		if !slices.Contains(b.m.learned.names, name) && !(example && slices.Contains(b.columns, name)) {
			return fmt.Errorf("key %s is new, and the first rows have it not: give it in every row, or say its type by schema", name)
		}
	}
	return nil
}
