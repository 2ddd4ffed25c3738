package starmap

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Filter keeps the rows for which an expression over their columns is true.
type Filter struct{ Where string }

// Plan reads the columns that the condition names, and puts nothing.
func (f Filter) Plan(in *schema.Schema) (*transform.Plan, error) {
	x, err := pystar.ParseExpression(f.Where)
	if err != nil {
		return nil, err
	}
	b := &columnBinder{in: in, bound: map[string]bool{}}
	if x = b.bind(x); b.err != nil {
		return nil, b.err
	}
	p, fn, err := pystar.Function("where", b.params(), x)
	if err != nil {
		return nil, err
	}
	columns := in.Names()
	return &transform.Plan{Reads: b.reads, Bind: func() transform.Func {
		w := newWorker(p)
		args := make(starlark.Tuple, len(b.reads))
		return func(row schema.Row, out *transform.Emitter) error {
			for i := range args {
				args[i] = fromRow(row.At(i))
			}
			v, err := w.call(fn, args)
			switch {
			case err != nil:
				return w.fault(err, row, "filter-error", columns)
			case bool(v.Truth()):
				out.Emit()
			default:
				out.Drop("filtered")
			}
			return nil
		}
	}}, nil
}

// A columnBinder replaces the columns that an expression names by parameters.
type columnBinder struct {
	in    *schema.Schema
	reads []schema.Path
	bound map[string]bool // names that the expression binds itself
	err   error
}

func (b *columnBinder) param(p schema.Path, at syntax.Position) syntax.Expr {
	f, ok := b.in.Lookup(p)
	if !ok {
		b.fail(transform.NoColumn(p, b.in))
	} else if err := readable(p, f.Type); err != nil {
		b.fail(err)
	}
	i := slices.Index(b.reads, p)
	if i < 0 {
		i = len(b.reads)
		b.reads = append(b.reads, p)
	}
	return &syntax.Ident{NamePos: at, Name: paramName(i)}
}

// paramName is the name of the parameter that stands for column i of those read. No user can write it.
func paramName(i int) string { return fmt.Sprintf("column %d", i) }

func (b *columnBinder) params() []string {
	names := make([]string, len(b.reads))
	for i := range names {
		names[i] = paramName(i)
	}
	return names
}

func (b *columnBinder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// bind returns x with its columns replaced.
func (b *columnBinder) bind(x syntax.Expr) syntax.Expr {
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ForClause:
			b.binds(n.Vars)
		case *syntax.LambdaExpr:
			for _, p := range n.Params {
				b.binds(p)
			}
		}
		return true
	})
	return b.expr(x)
}

func (b *columnBinder) binds(x syntax.Node) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			b.bound[id.Name] = true
		}
		return true
	})
}

// column returns the path that x is, as far as the columns go: a name, or a name with fields.
func (b *columnBinder) column(x syntax.Expr) (schema.Path, syntax.Position, bool) {
	switch x := x.(type) {
	case *syntax.Ident:
		_, i := b.in.Column(x.Name)
		if i < 0 && (b.bound[x.Name] || pystar.Predeclared(x.Name)) || b.bound[x.Name] {
			return "", x.NamePos, false
		}
		if i < 0 {
			b.fail(transform.NoColumn(schema.Path("").Field(x.Name), b.in))
		}
		return schema.Path("").Field(x.Name), x.NamePos, true
	case *syntax.DotExpr:
		p, at, ok := b.column(x.X)
		if !ok {
			return "", at, false
		}
		f, _ := b.in.Lookup(p)
		if f.Type.Kind != schema.Struct {
			return "", at, false // a method of its value
		}
		if _, i := f.Type.Field(x.Name.Name); i < 0 && pystar.Method(x.Name.Name) || i < 0 && x.Name.Name == "get" {
			return "", at, false
		}
		return p.Field(x.Name.Name), at, true
	case *syntax.CallExpr:
		id, ok := x.Fn.(*syntax.Ident)
		if !ok || id.Name != "col" || len(x.Args) != 1 {
			return "", syntax.Position{}, false
		}
		text, ok := pystar.Literal(x.Args[0])
		if !ok {
			b.fail(errors.New(`col takes a path in quotes: col("extra_info.index")`))
			return "", id.NamePos, false
		}
		p, err := schema.ParsePath(text)
		if err != nil {
			b.fail(err)
		}
		return p, id.NamePos, err == nil
	}
	return "", syntax.Position{}, false
}

func (b *columnBinder) list(list []syntax.Expr) {
	for i := range list {
		list[i] = b.expr(list[i])
	}
}

func (b *columnBinder) expr(x syntax.Expr) syntax.Expr {
	if p, at, ok := b.column(x); ok {
		return b.param(p, at)
	}
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		x.X, x.Y = b.expr(x.X), b.expr(x.Y)
	case *syntax.UnaryExpr:
		if x.X != nil {
			x.X = b.expr(x.X)
		}
	case *syntax.ParenExpr:
		x.X = b.expr(x.X)
	case *syntax.DotExpr:
		x.X = b.expr(x.X)
	case *syntax.IndexExpr:
		x.X, x.Y = b.expr(x.X), b.expr(x.Y)
	case *syntax.SliceExpr:
		x.X = b.expr(x.X)
		for _, e := range []*syntax.Expr{&x.Lo, &x.Hi, &x.Step} {
			if *e != nil {
				*e = b.expr(*e)
			}
		}
	case *syntax.CallExpr:
		x.Fn = b.expr(x.Fn)
		for i, a := range x.Args {
			if k, ok := a.(*syntax.BinaryExpr); ok && k.Op == syntax.EQ {
				k.Y = b.expr(k.Y)
				continue
			}
			x.Args[i] = b.expr(a)
		}
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = b.expr(x.Cond), b.expr(x.True), b.expr(x.False)
	case *syntax.ListExpr:
		b.list(x.List)
	case *syntax.TupleExpr:
		b.list(x.List)
	case *syntax.DictExpr:
		b.list(x.List)
	case *syntax.DictEntry:
		x.Key, x.Value = b.expr(x.Key), b.expr(x.Value)
	case *syntax.LambdaExpr:
		x.Body = b.expr(x.Body)
	case *syntax.Comprehension:
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.X = b.expr(c.X)
			case *syntax.IfClause:
				c.Cond = b.expr(c.Cond)
			}
		}
		x.Body = b.expr(x.Body)
	}
	return x
}
