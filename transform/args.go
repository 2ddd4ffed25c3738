package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// ifArg is the argument that every verb that writes a column takes.
var ifArg = Arg{Name: "if", Type: "string", Values: []string{"refuse", "same", "replace", "fill"}, Doc: "if the path exists: refuse (an error), same (no change if it has this value, else an error), replace, fill (nulls only)"}

// afterArg is the argument that places a new column.
var afterArg = Arg{Name: "after", Type: "path", Doc: "the sibling after which a new column goes (default: last)"}

// ParsePresent reads what the argument "if" of a verb says: "refuse", "same", "replace" or "fill".
func ParsePresent(s string) (ConflictPolicy, error) {
	switch s {
	case "refuse":
		return Refuse, nil
	case "same":
		return AllowEqual, nil
	case "replace":
		return Replace, nil
	case "fill":
		return Fill, nil
	}
	return Refuse, fmt.Errorf("unknown value %q of argument if (refuse, same, replace, fill)", s)
}

// An argReader takes the arguments of one use of a verb, by name and type, and keeps the first fault for done.
type argReader struct {
	verb string
	args Args
	err  error
}

// newArgs checks that the verb has every argument that is given and that every required one is given.
func newArgs(verb string, args Args) *argReader {
	r := &argReader{verb: verb, args: args}
	known := map[string]bool{}
	var names []string
	for _, a := range Find(verb).Args {
		known[a.Name] = true
		names = append(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if known[name] {
			continue
		}
		msg := fmt.Sprintf("no argument %q (arguments: %s)", name, strings.Join(names, ", "))
		if n := schema.Nearest(name, names); n != "" {
			msg += fmt.Sprintf("; did you mean %q?", n)
		}
		r.failAt(name, "%s", msg)
	}
	for _, a := range Find(verb).Args {
		if _, given := args[a.Name]; a.Required && !given {
			r.fail("argument %s is missing", a.Name)
		}
	}
	return r
}

func (r *argReader) fail(format string, args ...any) { r.failAt("", format, args...) }

// failAt notes a fault of one argument, so that who reads a file can say where it stands.
func (r *argReader) failAt(arg, format string, args ...any) {
	if r.err == nil {
		r.err = &ArgError{Verb: r.verb, Arg: arg, Err: fmt.Errorf(format, args...)}
	}
}

// done returns t, or the first fault with the verb's name in front.
func (r *argReader) done(t RowStep) (RowStep, error) {
	if r.err != nil {
		return nil, r.err
	}
	return t, nil
}

// An ArgError is a fault in the arguments of one use of a verb; Arg is the one at fault, "" where it is none or several.
type ArgError struct {
	Verb, Arg string
	Err       error
}

func (e *ArgError) Error() string { return fmt.Sprintf("step %s: %s", e.Verb, e.Err) }

// Unwrap returns the fault without the verb.
func (e *ArgError) Unwrap() error { return e.Err }

func (r *argReader) text(name, without string) string {
	v, given := r.args[name]
	if !given || v == nil {
		return without
	}
	s, ok := v.(string)
	if !ok {
		r.failAt(name, "argument %s is %s, expected a string", name, jsonKind(v))
	}
	return s
}

// word takes one of the words that the verb declares for the argument, or without where it is not given.
func (r *argReader) word(name, without string) string {
	s := r.text(name, without)
	declared := Find(r.verb).Args
	words := declared[slices.IndexFunc(declared, func(a Arg) bool { return a.Name == name })].Values
	if s != without && !slices.Contains(words, s) {
		r.failAt(name, "unknown value %q of argument %s (%s)", s, name, strings.Join(words, ", "))
	}
	return s
}

func (r *argReader) path(name string, without schema.Path) schema.Path {
	s := r.text(name, "")
	if s == "" {
		return without
	}
	p, err := schema.ParsePath(s)
	if err != nil {
		r.failAt(name, "argument %s: %w", name, err)
	}
	return p
}

// paths takes a path, or a list of them.
func (r *argReader) paths(name string) []schema.Path {
	list, ok := r.args[name].([]any)
	if !ok {
		return []schema.Path{r.path(name, "")}
	}
	var out []schema.Path
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			r.failAt(name, "argument %s holds %s, expected a path", name, jsonKind(e))
			return nil
		}
		p, err := schema.ParsePath(s)
		if err != nil {
			r.failAt(name, "argument %s: %w", name, err)
		}
		out = append(out, p)
	}
	return out
}

func (r *argReader) int(name string, without int64) int64 {
	v, given := r.args[name]
	if !given || v == nil {
		return without
	}
	n, err := argInt(v)
	if err != nil {
		r.failAt(name, "argument %s: %w", name, err)
	}
	return n
}

func (r *argReader) float(name string, without float64) float64 {
	v, given := r.args[name]
	if !given || v == nil {
		return without
	}
	f, err := argFloat(v)
	if err != nil {
		r.failAt(name, "argument %s: %w", name, err)
	}
	return f
}

// typ reads a type; it is Missing where the argument is not given.
func (r *argReader) typ(name string) schema.Type {
	s := r.text(name, "")
	if s == "" {
		return schema.Type{}
	}
	t, err := ParseType(s)
	if err != nil {
		r.failAt(name, "argument %s: %w", name, err)
	}
	return t
}

func (r *argReader) present(without ConflictPolicy) ConflictPolicy {
	s := r.text("if", "")
	if s == "" {
		return without
	}
	p, err := ParsePresent(s)
	if err != nil {
		r.failAt("if", "%w", err)
	}
	return p
}

var errNoInt = errors.New("expected an integer")

// argInt takes an integer as JSON and YAML decoders hand it over.
func argInt(v any) (int64, error) {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", n, errNoInt)
		}
		return i, nil
	case int:
		return int64(n), nil
	case int64:
		return n, nil
	case uint64:
		if n <= math.MaxInt64 {
			return int64(n), nil
		}
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n), nil
		}
	}
	return 0, fmt.Errorf("%s: %w", jsonKind(v), errNoInt)
}

// argFloat takes a number as JSON and YAML decoders hand it over.
func argFloat(v any) (float64, error) {
	switch n := v.(type) {
	case json.Number:
		return n.Float64()
	case float64:
		return n, nil
	case int64:
		return float64(n), nil
	case int:
		return float64(n), nil
	}
	return 0, fmt.Errorf("%s: expected a number", jsonKind(v))
}

// jsonKind names the kind of a decoded JSON value, for messages.
func jsonKind(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case string:
		return strconv.Quote(schema.Cut(x, 40))
	case json.Number:
		return "the number " + x.String()
	case int, int64, uint64, float64:
		return fmt.Sprintf("the number %v", x)
	case []any:
		return "a list"
	case map[string]any, Object:
		return "a mapping"
	}
	return fmt.Sprintf("a %T", v)
}

// column returns the field at path, or the error that names the columns there are.
func column(in *schema.Schema, path schema.Path) (schema.Field, error) {
	f, ok := in.Lookup(path)
	if !ok {
		return schema.Field{}, NoColumn(path, in)
	}
	return f, nil
}

// textColumn returns an error unless path is a column of text, outside any list.
func textColumn(in *schema.Schema, path schema.Path) error {
	f, err := column(in, path)
	if err != nil {
		return err
	}
	if f.Type.Kind != schema.Text || inList(path) {
		return wrongType(path, f.Type, "string")
	}
	return nil
}

// numberColumn returns an error unless path is a column of numbers, outside any list.
func numberColumn(in *schema.Schema, path schema.Path) error {
	f, err := column(in, path)
	if err != nil {
		return err
	}
	if f.Type.Kind != schema.Int && f.Type.Kind != schema.Float || inList(path) {
		return wrongType(path, f.Type, "a number")
	}
	return nil
}

// oneType returns the type that the columns at paths have in common, or an error that names the first of another type, or one in a list. nulls: a
// column of the null type, which has no value, may stand beside any type.
func oneType(in *schema.Schema, paths []schema.Path, nulls bool) (typ schema.Type, err error) {
	for i, p := range paths {
		f, err := column(in, p)
		switch {
		case err != nil:
			return typ, err
		case inList(p):
			return typ, fmt.Errorf("path %q lies inside a list: take the list as a whole", p)
		case i == 0 || nulls && typ.Kind == schema.Null:
			typ = f.Type
		case !f.Type.Equal(typ) && !(nulls && f.Type.Kind == schema.Null):
			return typ, fmt.Errorf("column %q is %s, and %q %s: cast one of them", p, f.Type, paths[0], typ)
		}
	}
	return typ, nil
}

// wrongType is the error for a column of the wrong type.
func wrongType(path schema.Path, got schema.Type, want string) error {
	if inList(path) {
		return fmt.Errorf("column %q is many values a row (%s in a list), expected one %s", path, got, want)
	}
	return fmt.Errorf("column %q is %s, expected %s", path, got, want)
}

// inList reports whether path steps into a list.
func inList(path schema.Path) bool {
	for _, s := range path.Steps() {
		if s == schema.Elem {
			return true
		}
	}
	return false
}

// checkTarget returns an error for a path that no Put can write: none at all, or one inside a list.
func checkTarget(path schema.Path) error {
	if path == "" {
		return errors.New("no path to write")
	}
	if inList(path) {
		return fmt.Errorf("path %q lies inside a list: a step writes whole columns and fields of structs", path)
	}
	return nil
}
