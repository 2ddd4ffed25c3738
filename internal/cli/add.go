package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// An add is the edit of one run of the command.
type add struct {
	after      string
	replace    bool
	fill       bool
	indexStart int64
	seed       int64
	values     []assign
}

// An assign is one PATH=VALUE.
type assign struct {
	text  string
	path  schema.Path
	kind  string       // "": a constant; "row", "file", "path", "uuid", "copy"
	value schema.Value // of a constant
	typ   schema.Type
	copy  schema.Path
}

func newAdd(a *app) *cobra.Command {
	e := &add{}
	c := &columns{app: a, name: "add", edit: e}
	cmd := &cobra.Command{
		Use:   "add PATH=VALUE… FILES…",
		Short: "add columns to Parquet files without decoding the others",
		Long: `Adds columns, or fields of structs, to Parquet files. Every other column chunk is copied byte for byte and only the footer
is written anew, so it takes about as long as cp. A column that is there and holds just this is left alone; one that holds
something else is an error, unless --replace writes it anew or --fill sets its nulls only.

PATH is a column (agent_name) or a field (extra_info.index); structs on the way are made where there are none. Where a
struct is null in some rows it stays null, unless --fill is given. VALUE is text, or says its type: str:TEXT, int:1,
float:0.5, bool:true, json:{…}, null:TYPE. Or it is made row by row or file by file:

  @row        the row's number, from --index-start, running on over all files in the order of their names
  @uuid       an identifier made from --seed and the row's number, so the same in every run
  @copy:PATH  what another column holds
  @file       the base name of the file
  @path       the name of the file as it was given

Names of files are kept below DIR, from the deepest folder that all of them share. --in-place replaces each file by one
rename; it keeps mode and owner, and can be run again after an interruption: what is done already is left alone.`,
		Example: `  rlprep add agent_name=tool_agent train.parquet test.parquet -o out/
  rlprep add agent_name=tool_agent 'data/*.parquet' --after data_source --in-place
  rlprep add extra_info.index=@row extra_info.need_tools_kwargs=bool:true train.parquet --replace -o out/`,
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringVar(&e.after, "after", "", "column after which the new ones stand (default: at the end)")
	f.BoolVar(&e.replace, "replace", false, "write a column that is there anew")
	f.BoolVar(&e.fill, "fill", false, "set only nulls of a column that is there, and make null structs around it present")
	f.Int64Var(&e.indexStart, "index-start", 0, "number of the first row, for @row and @uuid")
	f.Int64Var(&e.seed, "seed", 0, "what @uuid is made from, beside the row's number")
	return cmd
}

func (e *add) String() string {
	words := []string{"add"}
	for _, v := range e.values {
		words = append(words, v.text)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"--replace", e.replace}, {"--fill", e.fill}} {
		if f.set {
			words = append(words, f.name)
		}
	}
	return strings.Join(words, " ")
}

// parse reads the edits, which come first, and returns the names of files.
func (e *add) parse(args []string) (files []string, err error) {
	for i, arg := range args {
		name, value, ok := cutUnquoted(arg, '=')
		if !ok || isPathTo(arg) {
			files = args[i:]
			break
		}
		if err := notFile(arg, "PATH=VALUE"); err != nil {
			return nil, err
		}
		v := assign{text: arg}
		if v.path, err = schema.ParsePath(name); err != nil {
			return nil, &usageError{err}
		}
		if err := v.parse(value); err != nil {
			return nil, usagef("%s: %v", arg, err)
		}
		e.values = append(e.values, v)
	}
	switch {
	case len(e.values) == 0:
		return nil, usagef("no PATH=VALUE: say what to add, such as agent_name=tool_agent")
	case e.replace && e.fill:
		return nil, usagef("--replace and --fill: give one of them")
	}
	return files, e.checkAfter()
}

// parse reads a value.
func (v *assign) parse(text string) (err error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "@row", "@uuid", "@file", "@path":
		if text != kind {
			return fmt.Errorf("%s takes nothing after it", kind)
		}
		v.kind, v.typ = kind[1:], schema.StringType
		if kind == "@row" {
			v.typ = schema.Int64Type
		}
		return nil
	case "@copy":
		v.kind = "copy"
		v.copy, err = schema.ParsePath(rest)
		return err
	}
	if strings.HasPrefix(text, "@") {
		near := schema.Nearest(kind, []string{"@row", "@uuid", "@file", "@path", "@copy"})
		if near != "" {
			return fmt.Errorf("unknown value %s; did you mean %s? (str:%s for this text)", kind, near, text)
		}
		return fmt.Errorf("unknown value %s (@row, @uuid, @copy:PATH, @file, @path; str:%s for this text)", kind, text)
	}
	v.value, v.typ, err = transform.ParseValue(text)
	return err
}

// checkAfter sees that --after names a sibling of some new column.
func (e *add) checkAfter() error {
	if e.after == "" {
		return nil
	}
	p, err := schema.ParsePath(e.after)
	if err != nil {
		return &usageError{err}
	}
	e.after = string(p)
	for _, v := range e.values {
		if v.path.Parent() == p.Parent() {
			return nil
		}
	}
	return usagef("--after %s: no new column stands beside it", p)
}

func (e *add) prepare([]*rule.File, bool) error { return nil }

// steps implements columnEdit: the transforms for one file, without the columns that hold what they should already.
func (e *add) steps(ctx context.Context, src *fileSource, i int, first int64) (steps []transform.Transform, notes []string, err error) {
	f := src.files[i]
	after := schema.Path(e.after)
	if after != "" {
		if _, ok := f.Schema.Lookup(after); !ok {
			return nil, nil, &usageError{fmt.Errorf("%s: --after: %w", f.Name, transform.NoColumn(after, f.Schema))}
		}
	}
	for _, v := range e.values {
		v := v.in(f)
		if v.kind == "copy" {
			from, ok := f.Schema.Lookup(v.copy)
			if !ok {
				return nil, nil, &usageError{fmt.Errorf("%s: %s: %w", f.Name, v.text, transform.NoColumn(v.copy, f.Schema))}
			}
			v.typ = from.Type
		}
		note, err := e.present(ctx, src, i, first, &v)
		if err != nil {
			return nil, nil, err
		}
		if note != "" {
			notes = append(notes, note)
			continue
		}
		at := schema.Path("")
		if after.Parent() == v.path.Parent() {
			at = after
			after = v.path
			if e.after == "" {
				after, at = "", ""
			}
		}
		steps = append(steps, e.step(&v, at, e.indexStart+first))
	}
	return steps, notes, nil
}

// in returns v for one file: what is said of the file becomes a constant.
func (v assign) in(f *rule.File) assign {
	switch v.kind {
	case "file":
		v.value, v.kind = schema.TextValue(filepath.Base(f.Name)), ""
	case "path":
		v.value, v.kind = schema.TextValue(f.Name), ""
	}
	return v
}

// present says what is to be done about a column that is there: nothing, with a note; what is asked for; or an error.
func (e *add) present(ctx context.Context, src *fileSource, i int, first int64, v *assign) (note string, err error) {
	f := src.files[i]
	has, ok := f.Schema.Lookup(v.path)
	if !ok {
		return "", nil
	}
	if e.fill {
		if err := v.adapt(has.Type); err != nil {
			return "", &usageError{fmt.Errorf("%s: %w", f.Name, err)}
		}
		is, _, err := src.holds(ctx, i, &held{path: v.path, fill: true})
		if is {
			note = fmt.Sprintf("%s has no nulls", v.path)
		}
		return note, err
	}
	other := "is " + has.Type.String()
	if sameKind(has.Type, v.typ) {
		is, what, err := src.holds(ctx, i, e.held(v, e.indexStart+first))
		if err != nil {
			return "", err
		}
		if is && (has.Type.Equal(v.typ) || !e.replace) {
			return fmt.Sprintf("%s was there with this value", v.path), nil
		}
		other = "holds " + what
	}
	if !e.replace {
		return "", &usageError{fmt.Errorf("%s: column %q is there already and %s: --replace writes it anew, --fill sets its nulls only", f.Name, v.path, other)}
	}
	return "", nil
}

// sameKind reports whether values of both types can be equal.
func sameKind(a, b schema.Type) bool {
	if a.Kind == schema.Struct || a.Kind == schema.List {
		return a.Equal(b)
	}
	return a.Kind == b.Kind
}

// adapt makes the value one of the column that is filled.
func (v *assign) adapt(to schema.Type) error {
	fits := v.typ.Equal(to)
	switch {
	case fits && v.kind == "" && v.value.IsNull():
		return fmt.Errorf("%s: --fill sets nulls, and the value is null", v.text)
	case fits:
	case v.kind != "":
	case v.typ.Kind == schema.Text && to.Kind == schema.Text && to.Form != schema.Fixed:
		fits = true
	case v.typ.Kind == schema.Int && to.Kind == schema.Int:
		fits = intFits(v.value.Int(), to)
	case (v.typ.Kind == schema.Float || v.typ.Kind == schema.Int) && to.Kind == schema.Float && to.Bits >= 32:
		fits = true
		v.value = schema.FloatValue(v.value.Float())
	}
	if !fits {
		return fmt.Errorf("column %q is %s and cannot be filled with %s", v.path, to, v.typ)
	}
	v.typ = to
	return nil
}

func intFits(i int64, t schema.Type) bool {
	switch {
	case t.Bits == 64:
		return !t.Unsigned || i >= 0
	case t.Unsigned:
		return i >= 0 && i < 1<<t.Bits
	}
	return i >= -1<<(t.Bits-1) && i < 1<<(t.Bits-1)
}

// held is what the column holds once it has been added; first is the number of the file's first row.
func (e *add) held(v *assign, first int64) *held {
	h := &held{path: v.path}
	switch v.kind {
	case "row":
		h.want = func(row schema.Row) schema.Value { return schema.IntValue(first + row.Number()) }
	case "uuid":
		id := e.uuid(first)
		h.want = func(row schema.Row) schema.Value { return id(row) }
	case "copy":
		h.reads = []schema.Path{v.copy}
		h.want = func(row schema.Row) schema.Value { return row.At(1) }
	default:
		h.konst = &v.value
	}
	return h
}

// step is the transform that writes v after a sibling ("": at the end).
func (e *add) step(v *assign, after schema.Path, first int64) transform.Transform {
	present := transform.Refuse
	switch {
	case e.replace:
		present = transform.Replace
	case e.fill:
		present = transform.Fill
	}
	put := transform.Put{Path: v.path, After: after, Type: v.typ, If: present}
	switch v.kind {
	case "row":
		return transform.Index{Path: v.path, Start: first, After: after, If: present}
	case "uuid":
		return computed{put, func() func(schema.Row) schema.Value { return e.uuid(first) }}
	case "copy":
		return transform.Copy{From: v.copy, To: v.path, After: after, If: present}
	}
	if holdsList(v.typ) || (v.typ.Kind == schema.Struct && v.value.IsNull()) {
		value := v.value
		return computed{put, func() func(schema.Row) schema.Value {
			return func(schema.Row) schema.Value { return value }
		}}
	}
	return transform.Set{Path: v.path, Value: v.value, Type: v.typ, After: after, If: present}
}

// holdsList reports whether a list is somewhere in t: such a constant is written row by row.
func holdsList(t schema.Type) bool {
	for _, f := range t.Fields {
		if holdsList(f.Type) {
			return true
		}
	}
	return t.Kind == schema.List
}

// A computed is one column whose value is made from the row's number.
type computed struct {
	put  transform.Put
	bind func() func(schema.Row) schema.Value
}

// Plan implements transform.Transform.
func (c computed) Plan(in *schema.Schema) (*transform.Plan, error) {
	value := schema.NullValue // Set knows which paths can be written
	if _, err := (transform.Set{Path: c.put.Path, Value: value, Type: schema.StringType}).Plan(in); err != nil {
		return nil, err
	}
	return &transform.Plan{Puts: []transform.Put{c.put}, Bind: func() transform.Func {
		value := c.bind()
		return func(in schema.Row, out *transform.Emitter) error {
			out.Set(0, value(in))
			out.Emit()
			return nil
		}
	}}, nil
}

// uuid makes identifiers for rows numbered from first on: UUIDs of version 8 (RFC 9562) whose bits are a hash of the seed and
// the row's number. The value is valid until the next call.
func (e *add) uuid(first int64) func(schema.Row) schema.Value {
	const name = "rlprep row "
	in := make([]byte, 0, len(name)+16)
	return func(row schema.Row) schema.Value {
		in = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(append(in[:0], name...), uint64(e.seed)), uint64(first+row.Number()))
		h := sha256.Sum256(in)
		h[6] = h[6]&0x0f | 0x80
		h[8] = h[8]&0x3f | 0x80
		return schema.TextValue(fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16]))
	}
}
