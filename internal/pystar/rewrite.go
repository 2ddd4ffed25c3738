package pystar

import (
	"slices"

	"go.starlark.net/syntax"
)

// The operations that Python defines otherwise than Starlark (text is counted in characters, not bytes), or that can make much out
// of little in one step, are rewritten to calls of builtins with names that no script can have.
const (
	opAdd     = "+"
	opMul     = "*"
	opMod     = "%"
	opIndex   = "[]"
	opSlice   = "[:]"
	opAddTo   = "+="
	opAddToAt = "[]+="
	opMethod  = "." // and the name
	opBound   = ".bound"
	opIter    = "in"
	opFloor   = "//"
)

// methods are those of text, lists and dicts that are called through opMethod.
var methods = map[string]bool{}

// rewrite rewrites the statements of a file in place.
func rewrite(stmts []syntax.Stmt) {
	for i, s := range stmts {
		stmts[i] = stmt(s)
	}
}

func stmt(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		return assign(s)
	case *syntax.DefStmt:
		params(s.Params)
		rewrite(s.Body)
	case *syntax.ExprStmt:
		s.X = expr(s.X)
	case *syntax.ForStmt:
		s.Vars = target(s.Vars)
		s.X = over(s.X)
		rewrite(s.Body)
	case *syntax.WhileStmt:
		s.Cond = expr(s.Cond)
		rewrite(s.Body)
	case *syntax.IfStmt:
		s.Cond = expr(s.Cond)
		rewrite(s.True)
		rewrite(s.False)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = expr(s.Result)
		}
	}
	return s
}

// params rewrites the defaults of parameters.
func params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
			b.Y = expr(b.Y)
		}
	}
}

func assign(s *syntax.AssignStmt) syntax.Stmt {
	s.RHS = expr(s.RHS)
	name := map[syntax.Token]string{syntax.PLUS_EQ: opAddTo, syntax.STAR_EQ: opMul, syntax.PERCENT_EQ: opMod, syntax.SLASHSLASH_EQ: opFloor}[s.Op]
	switch lhs := s.LHS.(type) {
	case *syntax.Ident:
		if name != "" {
			old := &syntax.Ident{NamePos: lhs.NamePos, Name: lhs.Name}
			return &syntax.AssignStmt{OpPos: s.OpPos, Op: syntax.EQ, LHS: lhs, RHS: call(name, s.OpPos, old, s.RHS)}
		}
	case *syntax.IndexExpr:
		if name != "" {
			op := &syntax.Literal{Token: syntax.STRING, TokenPos: s.OpPos, Value: name}
			return &syntax.ExprStmt{X: call(opAddToAt, s.OpPos, expr(lhs.X), expr(lhs.Y), s.RHS, op)}
		}
	}
	s.LHS = target(s.LHS)
	return s
}

// target rewrites what is assigned to: the place itself stays, what leads to it is rewritten.
func target(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.IndexExpr:
		x.X, x.Y = expr(x.X), expr(x.Y)
	case *syntax.DotExpr:
		x.X = expr(x.X)
	case *syntax.ParenExpr:
		x.X = target(x.X)
	case *syntax.TupleExpr:
		for i := range x.List {
			x.List[i] = target(x.List[i])
		}
	case *syntax.ListExpr:
		for i := range x.List {
			x.List[i] = target(x.List[i])
		}
	}
	return x
}

func call(name string, at syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}

func exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = expr(list[i])
	}
}

func expr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		x.X, x.Y = expr(x.X), expr(x.Y)
		switch x.Op {
		case syntax.PLUS:
			return call(opAdd, x.OpPos, x.X, x.Y)
		case syntax.STAR:
			return call(opMul, x.OpPos, x.X, x.Y)
		case syntax.PERCENT:
			return call(opMod, x.OpPos, x.X, x.Y)
		case syntax.SLASHSLASH:
			return call(opFloor, x.OpPos, x.X, x.Y)
		}
	case *syntax.UnaryExpr:
		if x.X != nil {
			x.X = expr(x.X)
		}
	case *syntax.ParenExpr:
		x.X = expr(x.X)
	case *syntax.IndexExpr:
		x.X, x.Y = expr(x.X), expr(x.Y)
		if l, ok := x.Y.(*syntax.Literal); !ok || l.Token != syntax.STRING {
			return call(opIndex, x.Lbrack, x.X, x.Y)
		}
	case *syntax.SliceExpr:
		return slice(x)
	case *syntax.CallExpr:
		return callExpr(x)
	case *syntax.DotExpr:
		x.X = expr(x.X)
		if methods[x.Name.Name] {
			return call(opBound, x.Dot, x.X, &syntax.Literal{Token: syntax.STRING, TokenPos: x.NamePos, Value: x.Name.Name})
		}
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = expr(x.Cond), expr(x.True), expr(x.False)
	case *syntax.ListExpr:
		exprs(x.List)
	case *syntax.TupleExpr:
		exprs(x.List)
	case *syntax.DictExpr:
		for _, e := range x.List {
			e := e.(*syntax.DictEntry)
			e.Key, e.Value = expr(e.Key), expr(e.Value)
		}
	case *syntax.LambdaExpr:
		params(x.Params)
		x.Body = expr(x.Body)
	case *syntax.Comprehension:
		comprehension(x)
	}
	return x
}

// over rewrites what a loop goes over: it may be text, unless it is seen to be none.
func over(x syntax.Expr) syntax.Expr {
	at := syntax.Start(x)
	switch y := x.(type) {
	case *syntax.ListExpr, *syntax.TupleExpr, *syntax.Comprehension, *syntax.DictExpr:
		return expr(x)
	case *syntax.CallExpr:
		if id, ok := y.Fn.(*syntax.Ident); ok && slices.Contains([]string{"range", "enumerate", "zip", "sorted", "list", "reversed", "tuple"}, id.Name) {
			return expr(x)
		}
	}
	return call(opIter, at, expr(x))
}

func slice(x *syntax.SliceExpr) syntax.Expr {
	none := func(e syntax.Expr) syntax.Expr {
		if e == nil {
			return &syntax.Ident{NamePos: x.Lbrack, Name: "None"}
		}
		return expr(e)
	}
	return call(opSlice, x.Lbrack, expr(x.X), none(x.Lo), none(x.Hi), none(x.Step))
}

func callExpr(x *syntax.CallExpr) syntax.Expr {
	for i, a := range x.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ { // a keyword
				a.Y = expr(a.Y)
				continue
			}
			x.Args[i] = expr(a)
		case *syntax.UnaryExpr:
			if a.X != nil {
				a.X = expr(a.X) // *args, **kwargs; -x as well
			}
		default:
			x.Args[i] = expr(a)
		}
	}
	d, ok := x.Fn.(*syntax.DotExpr)
	if !ok || !methods[d.Name.Name] {
		if ok {
			d.X = expr(d.X)
		} else {
			x.Fn = expr(x.Fn)
		}
		return x
	}
	out := call(opMethod+d.Name.Name, x.Lparen, append([]syntax.Expr{expr(d.X)}, x.Args...)...)
	out.Rparen = x.Rparen
	return out
}

func comprehension(x *syntax.Comprehension) {
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			c.Vars = target(c.Vars)
			c.X = over(c.X)
		case *syntax.IfClause:
			c.Cond = expr(c.Cond)
		}
	}
	if e, ok := x.Body.(*syntax.DictEntry); ok {
		e.Key, e.Value = expr(e.Key), expr(e.Value)
		return
	}
	x.Body = expr(x.Body)
}
