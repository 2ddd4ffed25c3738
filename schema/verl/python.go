package verl

import (
	"regexp"
	"slices"
	"strings"
)

// A definition is what a Python file says of a name, as far as its text tells without running it.
type definition struct {
	found bool
	sure  bool     // it is certain that the name does not exist (found is false), or its arguments are those of args
	args  []string // of a function, as written: "x", "x=1", "*", "**kwargs"
}

// defined looks for a name among what a Python file defines.
func defined(text, name string) definition {
	quoted := regexp.QuoteMeta(name)
	def := regexp.MustCompile(`(?m)^(?:async[ \t]+)?def[ \t]+` + quoted + `[ \t]*\(`)
	if at := def.FindAllStringIndex(text, -1); len(at) == 1 {
		args, ok := argumentsOf(text[at[0][1]:])
		return definition{true, ok && !decorated(text[:at[0][0]]), args}
	}
	other := regexp.MustCompile(`(?m)^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+` + quoted + `\b|^[ \t]*` + quoted + `[ \t]*[:=]|\bimport\b[^\n]*\b` + quoted + `\b|^[ \t]+` + quoted + `[ \t]*,?$|\bimport[ \t]*\*|__getattr__|globals\(\)|setattr\(`)
	return definition{found: other.MatchString(text), sure: !other.MatchString(text)}
}

// topNames lists the functions and classes that a Python file defines at its top.
func topNames(text string) (out []string) {
	for _, m := range regexp.MustCompile(`(?m)^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// argumentsOf returns the arguments of a def without their annotations; an "=" behind a name says that it has a default. Text begins behind the opening
// bracket.
func argumentsOf(text string) (args []string, ok bool) {
	list, _, ok := parametersOf(text)
	for _, p := range list {
		name := p.name
		if p.optional {
			name += "="
		}
		args = append(args, name)
	}
	return args, ok
}

// A parameter is one argument of a def.
type parameter struct {
	name     string // as written: "x", "*", "**kwargs"
	typed    bool   // it has an annotation
	optional bool   // it has a default
}

// parametersOf reads the arguments of a def; text begins behind the opening bracket, rest behind the closing one.
func parametersOf(text string) (list []parameter, rest string, ok bool) {
	parts, rest, ok := bracketed(text)
	for _, s := range parts {
		before, _, optional := cutTop(s, '=')
		name, _, typed := strings.Cut(before, ":")
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, parameter{name, typed, optional})
		}
	}
	return list, rest, ok
}

// bracketed splits what is in a bracket at its commas, without comments. Text begins behind the opening bracket, rest behind the closing one.
func bracketed(text string) (parts []string, rest string, ok bool) {
	var part strings.Builder
	depth := 0
	for i := 0; i < len(text); {
		n := tokenLen(text[i:])
		token := text[i : i+n]
		i += n
		switch token[0] {
		case '#':
			continue
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				if s := strings.TrimSpace(part.String()); s != "" {
					parts = append(parts, s)
				}
				return parts, text[i:], true
			}
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(part.String()))
				part.Reset()
				continue
			}
		}
		part.WriteString(token)
	}
	return nil, "", false
}

// tokenLen is the length of what s begins with: a text in quotes, a comment, or one byte.
func tokenLen(s string) int {
	switch s[0] {
	case '#':
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	case '"', '\'':
	default:
		return 1
	}
	quote := s[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s, triple) {
		quote = triple
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		}
	}
	return len(s)
}

// cutTop cuts s at the first sep that is in no bracket and in no text.
func cutTop(s string, sep byte) (before, after string, found bool) {
	depth := 0
	for i := 0; i < len(s); i += tokenLen(s[i:]) {
		switch c := s[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == sep && depth == 0:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// A class is what a Python file says of a class that it defines once, at its top.
type class struct {
	found bool
	based bool     // it names a class that it inherits from, other than object
	bare  bool     // it inherits from torch's Dataset alone, and has no __init__
	sure  bool     // it has an __init__ of its own, undecorated, with args
	args  []string // of __init__, without self
}

// classOf looks for a class.
func classOf(text, name string) class {
	at := regexp.MustCompile(`(?m)^class[ \t]+`+regexp.QuoteMeta(name)+`[ \t]*([(:])`).FindAllStringSubmatchIndex(text, -1)
	if len(at) != 1 {
		return class{}
	}
	c, body := class{found: true}, text[at[0][1]:]
	if text[at[0][2]] == '(' {
		bases, rest, ok := bracketed(body)
		if !ok {
			return class{}
		}
		c.based, body = len(bases) > 0 && !slices.Equal(bases, []string{"object"}), rest
		c.bare = slices.Equal(bases, []string{"Dataset"}) && strings.Contains(text, "from torch.utils.data import") || slices.Equal(bases, []string{"torch.utils.data.Dataset"})
	}
	body = indented(body)
	inits := regexp.MustCompile(`(?m)^[ \t]+def[ \t]+__init__[ \t]*\(`).FindAllStringIndex(body, -1)
	c.bare = c.bare && !strings.Contains(body, "__init__")
	if len(inits) != 1 || decorated(body[:inits[0][0]]) {
		return c
	}
	args, ok := argumentsOf(body[inits[0][1]:])
	if ok && len(args) > 0 && !strings.HasPrefix(args[0], "*") {
		c.sure, c.args = true, args[1:]
	}
	return c
}

// indented returns what belongs to a class or def whose first line ends in text: all up to the next line that begins at the margin and is in no text.
func indented(text string) string {
	for i := 0; i < len(text); {
		n := tokenLen(text[i:])
		if text[i] == '\n' && i+1 < len(text) && !strings.ContainsRune(" \t\n\r#)]}", rune(text[i+1])) {
			return text[:i+1]
		}
		i += n
	}
	return text
}

// decorated reports whether the last line of the text before a definition is a decorator, or the bracket that ends one.
func decorated(before string) bool {
	before = strings.TrimRight(before, " \t")
	if strings.HasSuffix(before, ")\n") && strings.HasSuffix(strings.TrimRight(before[:len(before)-2], " \t"), "\n") {
		return true
	}
	before = strings.TrimRight(before, " \t\n")
	return strings.HasPrefix(strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]), "@")
}

// misfit says why a function with these arguments cannot be called with these keywords, "" where it can.
func misfit(args, keywords []string) string {
	rest := false
	var have []string
	for _, a := range args {
		name, optional := strings.CutSuffix(a, "=")
		switch {
		case strings.HasPrefix(name, "**"):
			rest = true
		case name == "/":
			return "" // too rare to be judged
		case strings.HasPrefix(name, "*"):
			// keywords follow
		default:
			have = append(have, name)
			if !optional && !slices.Contains(keywords, name) {
				return "it wants " + name + ", which verl does not pass"
			}
		}
	}
	if rest {
		return ""
	}
	for _, k := range keywords {
		if !slices.Contains(have, k) {
			return "it does not take " + k + ", which verl passes"
		}
	}
	return ""
}
