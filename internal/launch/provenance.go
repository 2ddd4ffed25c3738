package launch

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/rlprep/rlprep/internal/launch/hydra"
)

// finish turns what was recorded into commands, with the line and the variables of each argument.
func (sh *shell) finish() []Command {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	idx := indexWords(sh.files)
	out := make([]Command, len(sh.commands))
	for i, r := range sh.commands {
		c := r.cmd
		call := idx.call(r.pos)
		c.File = call.file
		for _, a := range c.Argv {
			s := idx.source(call, a)
			s.Kind = FromScript
			if slices.Contains(sh.script.Args, a) && !idx.literal(call, a) {
				s = Source{Kind: FromArgument}
			}
			s.Assumed = slices.ContainsFunc(sh.assumed, func(p string) bool { return strings.Contains(a, p) })
			if s.Line == 0 && s.Kind == FromScript {
				s.Line = max(sh.lineOf(s.File, a, c.Line), c.Line)
			}
			c.sources = append(c.sources, s)
		}
		c.Argv = sh.mask.argv(c.Argv, func(i int) []string { return c.sources[i].Vars })
		for i, kv := range c.Env {
			if name, value, _ := strings.Cut(kv, "="); isSecret(name, value) {
				c.Env[i] = name + "=" + hidden
			}
		}
		c.parse()
		out[i] = c
	}
	sh.loseOverrides(idx, out)
	for i := range sh.notes {
		sh.notes[i].Text = sh.mask.text(sh.notes[i].Text)
	}
	return out
}

// A word is a word of a script that begins with a key, "data.train_files=$HOME/…".
type word struct {
	key  string
	line int
	vars []string
	pos  syntax.Pos
	text string // "" where it is not one literal
}

// A callSite is one call in a script.
type callSite struct {
	file     string
	pos, end syntax.Pos
}

// wordIndex finds where an argument stands in the text of a script: the shell hands over values, not places.
type wordIndex struct {
	files []string
	words map[string]map[string][]word // by file and key, in the order of the text
	calls map[syntax.Pos]callSite
	first callSite
}

func indexWords(files []*syntax.File) *wordIndex {
	idx := &wordIndex{words: map[string]map[string][]word{}, calls: map[syntax.Pos]callSite{}}
	for _, f := range files {
		if idx.words[f.Name] == nil {
			idx.files = append(idx.files, f.Name)
			idx.words[f.Name] = map[string][]word{}
		}
		byKey := idx.words[f.Name]
		syntax.Walk(f, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					idx.add(callSite{f.Name, n.Pos(), n.End()})
					idx.add(callSite{f.Name, n.Args[0].Pos(), n.End()})
				}
			case *syntax.Word:
				if key := wordKey(n); key != "" {
					byKey[key] = append(byKey[key], word{key, int(n.Pos().Line()), wordVars(n), n.Pos(), n.Lit()})
				}
			}
			return true
		})
		for _, list := range byKey {
			slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(a.pos.Offset(), b.pos.Offset()) })
		}
	}
	return idx
}

// add notes a call; positions do not say their file, so the first of a position is it.
func (idx *wordIndex) add(c callSite) {
	if idx.first.file == "" {
		idx.first = c
	}
	if _, have := idx.calls[c.pos]; !have {
		idx.calls[c.pos] = c
	}
}

// call finds the call at pos.
func (idx *wordIndex) call(pos syntax.Pos) callSite {
	if c, ok := idx.calls[pos]; ok {
		return c
	}
	return callSite{file: idx.first.file, pos: pos, end: pos}
}

// source returns the place of an argument of a call: the last word of the call with its key, else the last before it, else the first of all.
func (idx *wordIndex) source(call callSite, arg string) Source {
	key, _, ok := strings.Cut(arg, "=")
	if !ok {
		return Source{File: call.file}
	}
	if list := idx.words[call.file][key]; len(list) > 0 {
		end := max(call.end.Offset(), call.pos.Offset())
		n, _ := slices.BinarySearchFunc(list, end, func(w word, end uint) int { return cmp.Compare(w.pos.Offset(), end) })
		w := list[max(n-1, 0)]
		return Source{File: call.file, Line: w.line, Vars: w.vars}
	}
	for _, file := range idx.files {
		if list := idx.words[file][key]; len(list) > 0 {
			return Source{File: file, Line: list[0].line, Vars: list[0].vars}
		}
	}
	return Source{File: call.file}
}

// literal reports whether a word of the call's file is the argument as it stands.
func (idx *wordIndex) literal(call callSite, arg string) bool {
	key, _, _ := strings.Cut(arg, "=")
	return slices.ContainsFunc(idx.words[call.file][key], func(w word) bool { return w.text == arg })
}

// wordKey returns what stands before the first "=" of a word, where that is literal.
func wordKey(w *syntax.Word) string {
	if len(w.Parts) == 0 {
		return ""
	}
	text := ""
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		text = p.Value
	case *syntax.SglQuoted:
		text = p.Value
	case *syntax.DblQuoted:
		if len(p.Parts) > 0 {
			if l, ok := p.Parts[0].(*syntax.Lit); ok {
				text = l.Value
			}
		}
	}
	key, _, ok := strings.Cut(text, "=")
	if !ok {
		return ""
	}
	return key
}

// wordVars lists the variables that a word names, each once.
func wordVars(w *syntax.Word) []string {
	var out []string
	syntax.Walk(w, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && !slices.Contains(out, p.Param.Value) {
			out = append(out, p.Param.Value)
		}
		return true
	})
	return out
}

// NewCommand returns the command of these arguments, given on rlprep's own command line.
func NewCommand(argv []string, dir string) Command {
	c := Command{Argv: new(mask).argv(argv, func(int) []string { return nil }), Dir: dir}
	for range argv {
		c.sources = append(c.sources, Source{Kind: FromArgument})
	}
	c.parse()
	return c
}

// parse splits a command into flags of its launchers, its module, and overrides.
func (c *Command) parse() {
	inv := c.invocation()
	for i := inv.rest; i < len(c.Argv); i++ {
		a := c.Argv[i]
		if inv.flags[i] || strings.HasPrefix(a, "-") {
			continue
		}
		if !strings.Contains(a, "=") && !strings.HasPrefix(a, "~") {
			c.bare, c.bareAt = append(c.bare, a), append(c.bareAt, c.sources[i])
			continue
		}
		o, err := hydra.Parse(a)
		if err != nil {
			c.Errors, c.refused = append(c.Errors, err.Error()), append(c.refused, c.sources[i])
			continue
		}
		c.Overrides = append(c.Overrides, Override{o, c.sources[i]})
	}
}

// An invocation is how a command calls a Python program.
type invocation struct {
	module     string // "verl.trainer.main_ppo", or a path that ends in .py; "" where none was found
	rest       int    // index of the first argument of the program; len(Argv) where there is none
	configPath string
	configName string
	configAt   int          // index of --config-name, 0 where it is not given
	flags      map[int]bool // arguments that belong to a flag
}

// invocation finds the module or script of a command and Hydra's own flags.
func (c *Command) invocation() invocation {
	inv := invocation{rest: len(c.Argv), flags: map[int]bool{}}
	if len(c.Argv) == 0 {
		return inv
	}
	start := 1
	switch program(c.Argv[0]) {
	case "python", "python3", "torchrun", "accelerate":
	default:
		return inv // what ray and srun carry is a command of its own
	}
	for i := start; i < len(c.Argv); i++ {
		a := c.Argv[i]
		switch {
		case a == "-m" && i+1 < len(c.Argv):
			inv.module, inv.rest = c.Argv[i+1], i+2
		case strings.HasPrefix(a, "-m") && !strings.HasPrefix(a, "--") && len(a) > 2 && program(c.Argv[0]) != "accelerate":
			inv.module, inv.rest = a[2:], i+1
		case strings.HasSuffix(a, ".py") && !strings.HasPrefix(a, "-"):
			inv.module, inv.rest = a, i+1
		case a == "-c" && strings.HasPrefix(program(c.Argv[0]), "python"):
			return inv
		default:
			continue
		}
		break
	}
	for i := inv.rest; i < len(c.Argv); i++ {
		name, value, has := strings.Cut(c.Argv[i], "=")
		var into *string
		switch name {
		case "--config-path", "-cp":
			into = &inv.configPath
		case "--config-name", "-cn":
			into, inv.configAt = &inv.configName, i
		case "--config-dir", "-cd", "--experimental-rerun", "--package", "-p", "--info", "-i", "--cfg", "-c":
			into = new(string)
		default:
			continue
		}
		inv.flags[i] = true
		if !has && i+1 < len(c.Argv) {
			i++
			value = c.Argv[i]
			inv.flags[i] = true
		}
		*into = value
	}
	return inv
}
