package launch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// rewrite changes what the interpreter would do otherwise than bash, or not at all.
func rewrite(f *syntax.File) {
	withoutProcesses(f)
	inOrder(f)
	pipesInOrder(f)
	tildes(f)
}

// withoutProcesses rewrites process substitutions, which would make named pipes: "< <(cmd)" reads what cmd prints, as a here
// string; any other becomes the name that bash gives it.
func withoutProcesses(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Op == syntax.RdrIn && n.Word != nil && len(n.Word.Parts) == 1 {
				if ps, ok := n.Word.Parts[0].(*syntax.ProcSubst); ok && ps.Op == syntax.CmdIn {
					n.Op = syntax.WordHdoc
					n.Word.Parts[0] = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.CmdSubst{Left: ps.OpPos, Right: ps.Rparen, Stmts: ps.Stmts}}}
				}
			}
		case *syntax.Word:
			for i, p := range n.Parts {
				if ps, ok := p.(*syntax.ProcSubst); ok {
					n.Parts[i] = &syntax.Lit{ValuePos: ps.Pos(), ValueEnd: ps.End(), Value: "/dev/fd/63"}
				}
			}
		}
		return true
	})
}

// simple is the call of a name with an argument.
func simple(words ...string) *syntax.Stmt {
	c := &syntax.CallExpr{}
	for _, w := range words {
		c.Args = append(c.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: w}}})
	}
	return &syntax.Stmt{Cmd: c}
}

// inOrder waits for each background command where it was started, so that calls are recorded in the order of the script.
func inOrder(f *syntax.File) {
	wait := simple("wait")
	waiting := func(list *[]*syntax.Stmt) {
		var out []*syntax.Stmt
		for _, s := range *list {
			if out = append(out, s); s.Background {
				out = append(out, wait)
			}
		}
		*list = out
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.File:
			waiting(&n.Stmts)
		case *syntax.Block:
			waiting(&n.Stmts)
		case *syntax.Subshell:
			waiting(&n.Stmts)
		case *syntax.IfClause:
			waiting(&n.Then)
		case *syntax.WhileClause:
			waiting(&n.Do)
		case *syntax.ForClause:
			waiting(&n.Do)
		case *syntax.CaseItem:
			waiting(&n.Stmts)
		}
		return true
	})
}

// The calls that pipesInOrder puts into both sides of a pipe; shell.exec knows them.
const (
	pipeDone = "rlprep:pipe-done"
	pipeWait = "rlprep:pipe-wait"
)

// pipesInOrder has the right side of a pipe begin when the left side is done, where both call something that is recorded:
// else the order of the two would be a matter of luck.
func pipesInOrder(f *syntax.File) {
	n := 0
	syntax.Walk(f, func(node syntax.Node) bool {
		b, ok := node.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll || !callsProgram(b.X) || !callsProgram(b.Y) {
			return true
		}
		n++
		id := fmt.Sprint(n)
		x, y := *b.X, *b.Y
		b.X = &syntax.Stmt{Position: x.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{&x, simple(pipeDone, id)}}}
		b.Y = &syntax.Stmt{Position: y.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{simple(pipeWait, id), &y}}}
		return true
	})
}

// callsProgram reports whether s names a recorded program.
func callsProgram(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && program(w.Lit()) != "" {
			found = true
		}
		return !found
	})
	return found
}

// assigned is an argument that looks like an assignment with a tilde.
var assigned = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=~(/|$)`)

// tildes expands "name=~/path" among arguments, as bash does (not "data.files=~/path", whose name is none).
func tildes(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for _, w := range c.Args {
			l, ok := w.Parts[0].(*syntax.Lit)
			if !ok || !assigned.MatchString(l.Value) {
				continue
			}
			key, rest, _ := strings.Cut(l.Value, "=~")
			parts := []syntax.WordPart{
				&syntax.Lit{ValuePos: l.ValuePos, ValueEnd: l.ValueEnd, Value: key + "="},
				&syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "HOME"}}}},
				&syntax.Lit{ValuePos: l.ValuePos, ValueEnd: l.ValueEnd, Value: rest},
			}
			w.Parts = append(parts, w.Parts[1:]...)
		}
		return true
	})
}

// A gap is something that bash does and the interpreter does not.
type gap struct {
	line int
	what string
}

// gaps finds what the interpreter does not do as bash does, so that it can be said.
func gaps(f *syntax.File) []gap {
	var out []gap
	add := func(n syntax.Node, what string) { out = append(out, gap{int(n.Pos().Line()), what}) }
	maps := map[string]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause:
			for _, a := range n.Args {
				if a.Naked && a.Value != nil && a.Name == nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "i") {
					add(n, "declare -i")
				}
				if a.Name != nil && slices.ContainsFunc(n.Args, func(o *syntax.Assign) bool {
					return o.Name == nil && o.Value != nil && strings.Contains(o.Value.Lit(), "A")
				}) {
					maps[a.Name.Value] = true
				}
			}
		case *syntax.ParamExp:
			if n.Param == nil {
				return true
			}
			name := n.Param.Value
			if n.Repl != nil && n.Repl.Orig != nil && len(n.Repl.Orig.Parts) > 0 {
				if l, ok := n.Repl.Orig.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(l.Value, "#") || ok && strings.HasPrefix(l.Value, "%") {
					add(n, "${"+name+"/"+l.Value[:1]+"…}")
				}
			}
			if n.Length && maps[name] {
				add(n, "${#"+name+"[@]}")
			}
			if name == "FUNCNAME" || name == "PIPESTATUS" || name == "BASH_LINENO" || name == "BASH_ARGV" {
				add(n, "$"+name)
			}
		case *syntax.CoprocClause:
			add(n, "coproc")
		}
		return true
	})
	return out
}
