// Package transform says what a step of a pipeline is. A RowStep is a Plan, made once from the schema, and where values must be computed a
// Func, called for each row; constants, row numbers, copies and drops cost nothing a row. stages.go has the steps that must see more than one
// row. One file adds one verb (set.go, prompt.go …), with its doc and its examples, and registers itself with Add.
package transform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// A RowStep rewrites rows. Plan is called once for each schema that reaches it, before any row; an error names the column
// that is missing or of the wrong type. A column that no Plan names is carried undecoded.
type RowStep interface {
	Plan(in *schema.Schema) (*Plan, error)
}

// A Plan is what a transform does to the columns. Drops are carried out after Puts.
type Plan struct {
	Reads []schema.Path // what Func sees, in this order
	Drops []schema.Path
	Puts  []Put
	// Order is the order of all columns that are left, where it is to be another one; nil: as they come.
	Order []string
	// Conform is the whole output schema, in order, of a step that does nothing else: an absent column becomes null, a column of another
	// type is converted to the type here, which holds all its values (schema.Type; a double may not hold an integer: that ends the run).
	// It has all columns of the file. Nil: none.
	Conform *schema.Schema
	// Bind makes the Func; it is called once a worker, so scratch may live in its closure. Nil: nothing to compute, and every
	// row goes on. A Plan may have a Func and compute no Put: it chooses rows.
	Bind func() Func
	// Bulk, set beside Bind or nil, makes what computes the Puts of many rows at once where all that is read is text. It is called once a worker.
	Bulk func() Bulk
}

// A Put is one column or leaf that a transform writes. Missing parents become structs. At most one of Const, Seq and Copy is
// set, and the first that is set counts; where none is, the value is computed by Func.
type Put struct {
	Path       schema.Path
	After      schema.Path // the sibling after which a new column comes; "": at the end of its parent
	Type       schema.Type // of Const and computed values; Seq is int64, Copy has the type of what it copies
	OnExisting ConflictPolicy
	Const      *schema.Value
	Seq        *Seq
	Copy       schema.Path
	// KeepLayout writes a whole column of computed values as large_string or large_binary where Type says so, not in the standard form.
	KeepLayout bool
	// Retype is the new type of a leaf that is copied. Both types are stored alike: text for bytes that are UTF-8. The zero Type: its own.
	Retype schema.Type
	// MapText appends what becomes of a text to dst: of every text of a leaf that is copied over itself; nulls stay. It is called by many
	// workers. Nil: texts stay.
	MapText func(dst []byte, text string) []byte
}

// A Seq is the number of the source row within its split, plus Start.
type Seq struct{ Start int64 }

// ConflictPolicy says what happens where the path of a Put exists already.
type ConflictPolicy uint8

// The policies. The pipeline knows whether a column holds only the constant that is put; Plan does not.
const (
	Refuse     ConflictPolicy = iota // an error that names --replace
	AllowEqual                       // leaves the column alone where every row holds exactly this value, else Refuse
	Replace                          // replaces all values, in place
	Fill                             // nulls only
)

// A Func computes the Puts of one row: it calls out.Set for each and out.Emit for each row that comes out, or out.Drop. It
// depends on nothing but the row: no clock, no IO, no state. An error (Rejectf) rejects the row.
type Func func(in schema.Row, out *Emitter) error

// A Bulk does what the Func of its Plan does, for many rows at once: reads has the texts of each of Plan.Reads, one a row; out is for
// those of each leaf of the Puts, in order, all of them text, as many for every row, each ended by End. It returns false where the rows must be
// taken one by one, since not each of them gives one row; what it has written is thrown away then.
type Bulk func(reads []schema.Texts, rows int, out []*schema.TextColumn) bool

// An Emitter takes what a Func computes for one row.
type Emitter struct {
	values []schema.Value
	emit   func([]schema.Value)
	reason string
	count  int
}

// NewEmitter returns an emitter for n Puts; emit is called at each Emit with a value a Put, valid until it returns.
func NewEmitter(n int, emit func([]schema.Value)) *Emitter {
	return &Emitter{values: make([]schema.Value, n), emit: emit}
}

// Set gives Puts[put] of the next Emit the value v. A Put that is not set is null.
func (e *Emitter) Set(put int, v schema.Value) { e.values[put] = v }

// Emit puts out a row with what was Set, and clears it.
func (e *Emitter) Emit() {
	e.emit(e.values)
	for i := range e.values {
		e.values[i] = schema.NullValue
	}
	e.count++
}

// Drop leaves the row out, on purpose; it is counted under reason.
func (e *Emitter) Drop(reason string) { e.reason = reason }

// Run calls f for one row and returns how many rows came out and the reason of a drop, "" for none.
func (e *Emitter) Run(f Func, in schema.Row) (n int, reason string, err error) {
	for i := range e.values {
		e.values[i] = schema.NullValue
	}
	e.count, e.reason = 0, ""
	if err := f(in, e); err != nil {
		return e.count, "", err
	}
	if e.count == 0 && e.reason == "" {
		return 0, "filtered", nil
	}
	return e.count, e.reason, nil
}

// A Reject is a row that a transform cannot take.
type Reject struct {
	Reason  string // for counting: "no-answer-marker"
	Where   string // the place in the user's own code, "fn.star:12:9"; "": none
	Path    schema.Path
	Message string
	Value   string // the value found, cut
}

func (r *Reject) Error() string { return r.Message }

// Rejectf returns a Reject for the value v (Missing: none to show) at path.
func Rejectf(reason string, path schema.Path, v schema.Value, format string, args ...any) error {
	r := &Reject{Reason: reason, Path: path, Message: fmt.Sprintf(format, args...)}
	if !v.IsMissing() {
		r.Value = v.Excerpt(120)
	}
	return r
}

// A Verb is a kind of transform as users name it in list, explain and pipelines, with its doc and its examples.
type Verb struct {
	Name     string
	Title    string // one line, no capital, no full stop
	Doc      string // plain text
	Args     []Arg
	Short    string // the argument that is meant where a pipeline file gives a plain value in place of arguments; "": none
	New      func(Args) (RowStep, error)
	Examples []Example
}

// An Arg is one argument of a verb.
type Arg struct {
	Name, Type, Doc string
	Required        bool
	Values          []string // where the argument is one of a few words
}

// Args are the arguments of one use of a verb, as JSON decodes them (numbers as json.Number); mappings may be Objects.
type Args map[string]any

// An Object is a mapping whose members stand in the order in which they were written.
type Object []Member

// A Member is one key of an Object with its value.
type Member struct {
	Name  string
	Value any
}

// mapping returns v as an Object; keys of a Go map are sorted, as they have no order. It reports whether v is a mapping.
func mapping(v any) (Object, bool) {
	switch m := v.(type) {
	case Object:
		return m, true
	case map[string]any:
		out := make(Object, 0, len(m))
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, Member{name, m[name]})
		}
		return out, true
	}
	return nil, false
}

// A Located is a step with the place where a user wrote it, for messages.
type Located struct {
	RowStep
	Where string // "pipeline.yaml:7:5"
	Verb  string
}

// Bare returns the step itself, without its place.
func Bare(t RowStep) RowStep {
	if l, ok := t.(Located); ok {
		return l.RowStep
	}
	return t
}

// A StepError is a step that cannot be planned for a file's columns.
type StepError struct {
	Where, Verb string
	File        string // as the user named it; "" while it is not known
	Err         error
}

func (e *StepError) Error() string {
	s := fmt.Sprintf("%s: step %s: ", e.Where, e.Verb)
	if e.File != "" {
		s += e.File + ": "
	}
	return s + e.Err.Error()
}

// Unwrap returns the fault itself.
func (e *StepError) Unwrap() error { return e.Err }

// An Example is rows in and rows out of a verb, both JSON Lines; go test runs it, explain and docs show it.
type Example struct {
	Title string
	Args  string // JSON
	In    string // a blank line begins another file
	Out   string
	Error string // what Plan or the row's rejection says; Out is then empty
}

var verbs = map[string]*Verb{}

// Add registers a verb; it is called in the variable declaration of the verb's file. It panics on a name that is taken.
func Add(v Verb) *Verb {
	if verbs[v.Name] != nil {
		panic("transform: name taken: " + v.Name)
	}
	verbs[v.Name] = &v
	return &v
}

// All returns every verb, sorted by name.
func All() []*Verb {
	out := make([]*Verb, 0, len(verbs))
	for _, v := range verbs {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b *Verb) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Find returns the verb of that name, nil where there is none.
func Find(name string) *Verb { return verbs[name] }

// NoColumn returns the error for a path that in does not have, with the columns (or the fields of the struct that exists)
// and the nearest name.
func NoColumn(path schema.Path, in *schema.Schema) error {
	names, what := in.Names(), ""
	var parent schema.Path
	for p := path.Parent(); p != ""; p = p.Parent() {
		if f, ok := in.Lookup(p); ok {
			names, what, parent = (&schema.Schema{Fields: f.Type.Fields}).Names(), string(p), p
			if f.Type.Kind != schema.Struct {
				return fmt.Errorf("no column %q: %s is %s", path, p, f.Type)
			}
			break
		}
	}
	e := &NoColumnError{path: path, of: what, names: names}
	missing := path.Steps()[len(parent.Steps())]
	if n := schema.Nearest(missing, names); n != "" && n != missing {
		e.near = parent.Field(n)
	}
	return e
}

// A NoColumnError says that there is no column, or field, at a path.
type NoColumnError struct {
	path  schema.Path
	of    string   // the struct that lacks the field; "": the file lacks the column
	names []string // of the columns, or of the struct's fields
	made  []string // of names: columns that steps made
	near  schema.Path
}

// Made tells the columns that steps made from those of the file, whose columns are given.
func (e *NoColumnError) Made(file *schema.Schema) {
	if e.of != "" {
		return
	}
	own := file.Names()
	for _, n := range e.names {
		if !slices.Contains(own, n) {
			e.made = append(e.made, n)
		}
	}
}

func (e *NoColumnError) Error() string {
	what := "columns"
	if e.of != "" {
		what = "fields of " + e.of
	}
	names := slices.DeleteFunc(slices.Clone(e.names), func(n string) bool { return slices.Contains(e.made, n) })
	msg := fmt.Sprintf("no column %q (%s: %s", e.path, what, strings.Join(names, ", "))
	if len(e.made) > 0 {
		msg += "; made by the steps before: " + strings.Join(e.made, ", ")
	}
	msg += ")"
	if e.near != "" {
		msg += fmt.Sprintf("; did you mean %q?", e.near)
	}
	return msg
}

// A FileText is a file that an argument names, read.
type FileText struct {
	Name string // as the user wrote it
	Text string
}

// A Fault is a row at which a step cannot go on, for a reason that other rows will have too: the run ends.
type Fault struct {
	Where   string // the place in the user's own code
	Number  int64  // of the row within its split
	Message string
	Pos     schema.Pos // filled in by who reads the rows
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("%s: row %d: %s", f.Where, f.Number, f.Message)
	if f.Pos.File != "" {
		s += " (" + f.Pos.String() + ")"
	}
	return s
}

// ExitCode makes it an error of what was asked for, as running it again does not help.
func (f *Fault) ExitCode() int { return 2 }
