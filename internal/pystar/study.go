package pystar

import (
	"slices"

	"go.starlark.net/syntax"
)

// A Use says what a function does with its first parameter, the example, as far as its text shows it. The caller need not decode a
// key that the function cannot touch.
type Use struct {
	All     bool     // it may do anything: the example is passed on, gone over, kept
	Keys    []string // that it names
	Changes []string // of these, what it takes out or sets
}

type useKey struct {
	line int32
	name string
}

func (u *Use) name(key string, changed bool) {
	if !slices.Contains(u.Keys, key) {
		u.Keys = append(u.Keys, key)
	}
	if changed && !slices.Contains(u.Changes, key) {
		u.Changes = append(u.Changes, key)
	}
}

// study notes the use of every function of a file.
func (p *Program) study(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch f := n.(type) {
		case *syntax.DefStmt:
			body := make([]syntax.Node, len(f.Body))
			for i, s := range f.Body {
				body[i] = s
			}
			p.uses[useKey{f.Def.Line, f.Name.Name}] = studyBody(f.Params, body)
		case *syntax.LambdaExpr:
			p.uses[useKey{f.Lambda.Line, "lambda"}] = studyBody(f.Params, []syntax.Node{f.Body})
		}
		return true
	})
}

func studyBody(params []syntax.Expr, body []syntax.Node) *Use {
	u := &Use{}
	if len(params) == 0 {
		return u
	}
	id, ok := params[0].(*syntax.Ident)
	if !ok {
		u.All = true
		return u
	}
	s := &student{use: u, example: id.Name}
	for _, n := range body {
		syntax.Walk(n, s.visit)
	}
	return u
}

type student struct {
	use     *Use
	example string
	inner   bool // in a function within the function, whose return is not the row's
}

func (s *student) is(n syntax.Expr) bool {
	id, ok := n.(*syntax.Ident)
	return ok && id.Name == s.example
}

// Literal returns the text of an expression that is a text in quotes.
func Literal(n syntax.Expr) (string, bool) {
	if l, ok := n.(*syntax.Literal); ok && l.Token == syntax.STRING {
		return l.Value.(string), true
	}
	return "", false
}

// visit looks at a node; where it is one of the uses that can be told, what is left of it is walked here.
func (s *student) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.AssignStmt:
		if x, ok := n.LHS.(*syntax.IndexExpr); ok && s.is(x.X) {
			if name, ok := Literal(x.Y); ok {
				s.use.name(name, true)
				syntax.Walk(n.RHS, s.visit)
				return false
			}
		}
	case *syntax.DefStmt:
		if !s.inner {
			within := &student{s.use, s.example, true}
			syntax.Walk(n, within.visit)
			return false
		}
	case *syntax.ReturnStmt:
		if !s.inner && n.Result != nil && s.is(n.Result) {
			return false
		}
	case *syntax.IndexExpr:
		if name, ok := Literal(n.Y); ok && s.is(n.X) {
			s.use.name(name, false)
			return false
		}
	case *syntax.BinaryExpr:
		if name, ok := Literal(n.X); ok && (n.Op == syntax.IN || n.Op == syntax.NOT_IN) && s.is(n.Y) {
			s.use.name(name, false)
			return false
		}
	case *syntax.CallExpr:
		if d, ok := n.Fn.(*syntax.DotExpr); ok && s.is(d.X) && len(n.Args) > 0 {
			name, ok := Literal(n.Args[0])
			if ok && (d.Name.Name == "pop" || d.Name.Name == "get" || d.Name.Name == "setdefault") {
				s.use.name(name, d.Name.Name != "get")
				for _, a := range n.Args[1:] {
					syntax.Walk(a, s.visit)
				}
				return false
			}
		}
	case *syntax.Ident:
		if n.Name == s.example {
			s.use.All = true
		}
	}
	return true
}
