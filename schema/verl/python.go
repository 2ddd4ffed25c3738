package verl

import (
	"regexp"
	"slices"
	"strings"
)

// A definition is what a Python file says of a name, as far as its text tells without running it.
type definition struct {
	found bool
	sure  bool     // the name is not there for certain (found is false), or its arguments are those of args
	args  []string // of a function, as written: "x", "x=1", "*", "**kwargs"
}

// defined looks for a name among what a Python file defines.
func defined(text, name string) definition {
	quoted := regexp.QuoteMeta(name)
	def := regexp.MustCompile(`(?m)^(?:async[ \t]+)?def[ \t]+` + quoted + `[ \t]*\(`)
	if at := def.FindAllStringIndex(text, -1); len(at) == 1 {
		args, ok := argumentsOf(text[at[0][1]:])
		before := strings.TrimRight(text[:at[0][0]], "\n")
		last := before[strings.LastIndexByte(before, '\n')+1:]
		return definition{true, ok && !strings.HasPrefix(last, "@"), args}
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

// argumentsOf splits what stands before the bracket that closes: the arguments of a def, without their annotations.
func argumentsOf(text string) (args []string, ok bool) {
	depth, start := 0, 0
	add := func(s string) {
		s = strings.TrimSpace(regexp.MustCompile(`(?m)#.*$`).ReplaceAllString(s, ""))
		if s == "" {
			return
		}
		name, _, _ := strings.Cut(s, ":")
		name, _, _ = strings.Cut(name, "=")
		if name = strings.TrimSpace(name); strings.Contains(s, "=") {
			name += "="
		}
		args = append(args, name)
	}
	for i, c := range text {
		switch c {
		case '"', '\'':
			return nil, false // a text as a default: not worth a parser
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				add(text[start:i])
				return args, true
			}
			depth--
		case ',':
			if depth == 0 {
				add(text[start:i])
				start = i + 1
			}
		}
	}
	return nil, false
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
