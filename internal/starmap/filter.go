package starmap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Filter keeps the rows for which an expression over their columns is true.
type Filter struct{ Where string }

// parseWhere parses a condition, Python's ways hinted at as in scripts.
func parseWhere(where string) (syntax.Expr, error) {
	if len(where) > 1<<16 {
		return nil, errors.New("it is too long")
	}
	toks := lex(where)
	if hs := hints(toks); len(hs) > 0 {
		return nil, fmt.Errorf("%d:%d: %s", hs[0].line, hs[0].col, hs[0].text)
	}
	if slices.ContainsFunc(toks, func(t lexeme) bool { return t.depth > maxDepth }) {
		return nil, errors.New("it is nested too deeply")
	}
	if _, ok := longest(where); ok {
		return nil, errors.New("it is too long")
	}
	x, err := options.ParseExpr("where", strings.TrimSpace(where), 0)
	var e syntax.Error
	if errors.As(err, &e) {
		return nil, fmt.Errorf("%d:%d: %s", e.Pos.Line, e.Pos.Col, e.Msg)
	}
	return x, err
}

// Plan reads the columns that the condition names, and puts nothing.
func (f Filter) Plan(in *schema.Schema) (*transform.Plan, error) {
	x, err := parseWhere(f.Where)
	if err != nil {
		return nil, err
	}
	b := &columnBinder{in: in, bound: map[string]bool{}}
	if x = b.bind(x); b.err != nil {
		return nil, b.err
	}
	p, fn, err := b.program(x)
	if err != nil {
		return nil, err
	}
	columns := in.Names()
	return &transform.Plan{Reads: b.reads, Bind: func() transform.Func {
		w := p.worker()
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
	return &syntax.Ident{NamePos: at, Name: fmt.Sprintf("column %d", i)}
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
		if i < 0 && (b.bound[x.Name] || reservedName(x.Name) || starlark.Universe.Has(x.Name)) || b.bound[x.Name] {
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
		if _, i := f.Type.Field(x.Name.Name); i < 0 && methods[x.Name.Name] || i < 0 && x.Name.Name == "get" {
			return "", at, false
		}
		return p.Field(x.Name.Name), at, true
	case *syntax.CallExpr:
		id, ok := x.Fn.(*syntax.Ident)
		if !ok || id.Name != "col" || len(x.Args) != 1 {
			return "", syntax.Position{}, false
		}
		text, ok := literal(x.Args[0])
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

// program compiles the expression as a function of the columns.
func (b *columnBinder) program(x syntax.Expr) (*Program, starlark.Callable, error) {
	start, _ := x.Span()
	lambda := &syntax.LambdaExpr{Lambda: start, Body: expr(x)}
	for i := range b.reads {
		lambda.Params = append(lambda.Params, &syntax.Ident{NamePos: start, Name: fmt.Sprintf("column %d", i)})
	}
	file := &syntax.File{Path: "where", Options: options, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{OpPos: start, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: start, Name: "where"}, RHS: lambda}}}
	prog, err := starlark.FileProgram(file, predeclared.Has)
	if err != nil {
		return nil, nil, syntaxFault(err)
	}
	p := &Program{Name: "where"}
	w := p.worker()
	if p.globals, err = w.init(prog); err != nil {
		return nil, nil, w.startFault(err)
	}
	p.globals.Freeze()
	return p, p.globals["where"].(starlark.Callable), nil
}
