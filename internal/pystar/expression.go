package pystar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxExpression is the size of an expression, in bytes.
const maxExpression = 1 << 16

// ParseExpression parses one expression. An error begins with line:column where a place is known, and says of Python's own syntax what to
// write instead, as Load does.
func ParseExpression(text string) (syntax.Expr, error) {
	if len(text) > maxExpression {
		return nil, errors.New("it is too long")
	}
	toks := lex(text)
	if hs := hints(toks); len(hs) > 0 {
		return nil, fmt.Errorf("%d:%d: %s", hs[0].line, hs[0].col, hs[0].text)
	}
	if slices.ContainsFunc(toks, func(t lexeme) bool { return t.depth > MaxDepth }) {
		return nil, errors.New("it is nested too deeply")
	}
	if _, ok := longest(text); ok {
		return nil, errors.New("it is too long")
	}
	x, err := options.ParseExpr("where", strings.TrimSpace(text), 0)
	var e syntax.Error
	if errors.As(err, &e) {
		return nil, fmt.Errorf("%d:%d: %s", e.Pos.Line, e.Pos.Col, cmp.Or(operatorHint(toks), e.Msg))
	}
	return x, err
}

// operatorHint says what to write for the first operator of another language in an expression that is not valid.
func operatorHint(toks []lexeme) string {
	for i, t := range toks {
		next := lexeme{}
		if i+1 < len(toks) && toks[i+1].start == t.start+len(t.text) {
			next = toks[i+1]
		}
		switch pair := t.text + next.text; {
		case t.kind != lexOp:
		case pair == "&&":
			return "'&&' is not an operator: write 'and'"
		case pair == "||":
			return "'||' is not an operator: write 'or'"
		case pair == "<>":
			return "'<>' is not an operator: write '!='"
		case pair == "=>":
			return "'=>' is not an operator: write '>='"
		case t.text == "!":
			return "'!' is not an operator: write 'not'"
		case t.text == "=" && t.depth == 0:
			return "'=' does not compare: write '=='"
		}
	}
	return ""
}

// Function compiles an expression as a function that takes params, and returns it with the program that runs it. Names of params need not be
// names that one can write. The expression is changed.
func Function(name string, params []string, x syntax.Expr) (*Program, starlark.Callable, error) {
	start, _ := x.Span()
	lambda := &syntax.LambdaExpr{Lambda: start, Body: expr(x)}
	for _, param := range params {
		lambda.Params = append(lambda.Params, &syntax.Ident{NamePos: start, Name: param})
	}
	file := &syntax.File{Path: name, Options: options, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{OpPos: start, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: start, Name: name}, RHS: lambda}}}
	prog, err := starlark.FileProgram(file, predeclared.Has)
	if err != nil {
		return nil, nil, syntaxFault(err)
	}
	p := &Program{Name: name}
	if err := p.start(prog); err != nil {
		return nil, nil, err
	}
	return p, p.Function(name), nil
}

// Predeclared reports whether an expression may use a name that nobody defines: a builtin, a module or a constant.
func Predeclared(name string) bool { return predeclared.Has(name) || starlark.Universe.Has(name) }

// Method reports whether a name is that of a method of text, lists or dicts.
func Method(name string) bool { return methods[name] }
