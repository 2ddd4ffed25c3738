package pystar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/rlprep/rlprep/internal/pyre"
)

type patternFunc func(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

var patternMethods = map[string]patternFunc{
	"search": one(pyre.Search), "match": one(pyre.Match), "fullmatch": one(pyre.FullMatch),
	"findall": findAll, "finditer": findIter, "sub": subst, "subn": substN, "split": splitBy,
}

// matchSteps is how many steps of the matcher count as one step of the row.
const matchSteps = 32

// begin returns the steps that the row has left, for a search.
func begin(t *starlark.Thread) *pyre.Budget {
	w, ok := t.Local("worker").(*Worker)
	if !ok {
		return &pyre.Budget{}
	}
	w.budget.Steps = int(budget(t)) * matchSteps
	return &w.budget
}

// end charges the row with the steps that a search took, and says of its error what it means for the row.
func (p *pattern) end(t *starlark.Thread, before int, b *pyre.Budget, text string, err error) error {
	what := ""
	switch {
	case err == nil:
		return charge(t, 1+(before-b.Steps)/matchSteps)
	case errors.Is(err, pyre.ErrSteps):
		what = "takes more steps than a row may"
	case errors.Is(err, pyre.ErrStopped):
		what = fmt.Sprintf("takes longer than %v", rowTime)
	case errors.Is(err, pyre.ErrMemory):
		what = "takes more memory than a row may"
	default:
		return err
	}
	return &LimitError{fmt.Sprintf("pattern %q on a text of %d characters %s: it can match in too many ways; bound its repeats, or exclude by a class where each must end", Cut(p.Source, 60), runes(text), what)}
}

func one(mode pyre.Mode) patternFunc {
	return func(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		s, err := haystack(args, kwargs)
		if err != nil {
			return nil, err
		}
		b := begin(t)
		before := b.Steps
		at, err := p.Find(s, mode, b)
		if err = p.end(t, before, b, s, err); at == nil || err != nil {
			return starlark.None, err
		}
		var found struct { // in one allocation
			match
			searched
		}
		found.searched.text, found.match = s, match{p, &found.searched, at}
		return &found.match, nil
	}
}

func haystack(args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	var v starlark.Value
	if err := starlark.UnpackArgs("re", args, kwargs, "string", &v); err != nil {
		return "", err
	}
	s, ok := v.(starlark.String)
	if !ok {
		return "", fmt.Errorf("the text to look in is %s%s", KindName(v), noneHint(v))
	}
	return string(s), nil
}

// every returns all matches, or the first ones up to most; most 0 is all, and below 0 none, as in Python.
func (p *pattern) every(t *starlark.Thread, s string, most int) (out []*match, err error) {
	if most < 0 {
		return nil, nil
	}
	in := &searched{text: s}
	b := begin(t)
	before := b.Steps
	err = p.All(s, b, func(at []int) (bool, error) {
		out = append(out, &match{p, in, at})
		return len(out) != most, charge(t, 1+len(at))
	})
	return out, p.end(t, before, b, s, err)
}

func findAll(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s, err := haystack(args, kwargs)
	if err != nil {
		return nil, err
	}
	found, err := p.every(t, s, 0)
	if err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(found))
	part := func(m *match, g int) starlark.Value {
		if m.at[2*g] < 0 {
			return starlark.String("")
		}
		return m.text(g)
	}
	for i, m := range found {
		switch p.Groups {
		case 0:
			out[i] = part(m, 0)
		case 1:
			out[i] = part(m, 1)
		default:
			tuple := starlark.Tuple{}
			for g := 1; g <= p.Groups; g++ {
				tuple = append(tuple, part(m, g))
			}
			out[i] = tuple
		}
	}
	return starlark.NewList(out), nil
}

func findIter(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s, err := haystack(args, kwargs)
	if err != nil {
		return nil, err
	}
	found, err := p.every(t, s, 0)
	out := make([]starlark.Value, len(found))
	for i, m := range found {
		out[i] = m
	}
	return starlark.NewList(out), err
}

func subst(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s, _, err := substitute(t, p, args, kwargs)
	return starlark.String(s), err
}

func substN(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s, n, err := substitute(t, p, args, kwargs)
	return starlark.Tuple{starlark.String(s), starlark.MakeInt(n)}, err
}

func substitute(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (string, int, error) {
	var repl, v starlark.Value
	count := 0
	if err := starlark.UnpackArgs("sub", args, kwargs, "repl", &repl, "string", &v, "count?", &count); err != nil {
		return "", 0, err
	}
	s, err := haystack(starlark.Tuple{v}, nil)
	if err != nil {
		return "", 0, err
	}
	fill, err := p.replacement(repl)
	if err != nil {
		return "", 0, err
	}
	found, err := p.every(t, s, count)
	if err != nil {
		return "", 0, err
	}
	if len(found) == 0 {
		return s, 0, nil
	}
	var b strings.Builder
	done := 0
	for _, m := range found {
		text, err := fill(t, m)
		if err != nil {
			return "", 0, err
		}
		if err := charge(t, 1+(m.at[0]-done+len(text))/bytesAStep); err != nil {
			return "", 0, err
		}
		b.WriteString(s[done:m.at[0]])
		b.WriteString(text)
		done = m.at[1]
	}
	return b.String() + s[done:], len(found), nil
}

// replacement reads what stands in place of a match: a function, or text with \1, \g<name> and escapes.
func (p *pattern) replacement(repl starlark.Value) (func(*starlark.Thread, *match) (string, error), error) {
	if f, ok := repl.(starlark.Callable); ok {
		return func(t *starlark.Thread, m *match) (string, error) {
			v, err := starlark.Call(t, f, starlark.Tuple{m}, nil)
			if err != nil {
				return "", err
			}
			s, ok := v.(starlark.String)
			if !ok {
				return "", fmt.Errorf("the function of sub gave %s, expected text", KindName(v))
			}
			return string(s), nil
		}, nil
	}
	text, ok := repl.(starlark.String)
	if !ok {
		return nil, fmt.Errorf("the replacement is %s, expected text or a function", KindName(repl))
	}
	s := string(text)
	if !strings.Contains(s, `\`) {
		return func(*starlark.Thread, *match) (string, error) { return s, nil }, nil
	}
	parts, err := p.template(s)
	if err != nil {
		return nil, err
	}
	return func(_ *starlark.Thread, m *match) (string, error) {
		var b strings.Builder
		for _, part := range parts {
			if part.group < 0 {
				b.WriteString(part.text)
			} else if m.at[2*part.group] >= 0 {
				b.WriteString(m.in.text[m.at[2*part.group]:m.at[2*part.group+1]])
			}
		}
		return b.String(), nil
	}, nil
}

type templatePart struct {
	text  string
	group int // -1: text
}

// template reads a replacement by the rules of Python's re.
func (p *pattern) template(s string) (out []templatePart, err error) {
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return append(out, templatePart{s, -1}), nil
		}
		out = append(out, templatePart{s[:i], -1})
		if s = s[i+1:]; s == "" {
			return nil, errors.New("the replacement ends with a backslash")
		}
		var part templatePart
		c, size := s[0], 1
		switch {
		case c == 'g':
			part, size, err = p.templateGroup(s)
		case c >= '0' && c <= '9':
			part, size, err = p.templateNumber(s)
		case strings.IndexByte(templateEscapes, c) >= 0:
			part = templatePart{string("\n\r\t\f\v\a\b\\"[strings.IndexByte(templateEscapes, c)]), -1}
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			err = fmt.Errorf(`bad escape \%c in the replacement`, c)
		default:
			_, w := utf8.DecodeRuneInString(s)
			part, size = templatePart{`\` + s[:w], -1}, w
		}
		if err != nil {
			return nil, err
		}
		out, s = append(out, part), s[size:]
	}
	return out, nil
}

// templateEscapes are the letters of the escapes that mean one character.
const templateEscapes = `nrtfvab\`

// templateGroup reads g<name>.
func (p *pattern) templateGroup(s string) (templatePart, int, error) {
	end := strings.IndexByte(s, '>')
	if !strings.HasPrefix(s, "g<") || end < 0 {
		return templatePart{}, 0, errors.New(`\g in the replacement: expected \g<name>`)
	}
	name := s[2:end]
	g, ok := p.Index[name]
	if !ok && name != "" && strings.Trim(name, "0123456789") == "" {
		n, err := strconv.Atoi(name)
		g, ok = n, err == nil
	}
	if !ok {
		g = -1
	}
	part, err := p.templateRef(g, name)
	return part, end + 1, err
}

// templateNumber reads 12, a group, or 012 and 123, which are characters.
func (p *pattern) templateNumber(s string) (templatePart, int, error) {
	octal := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '7' }
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	size := 1
	switch {
	case s[0] == '0':
		for size < 3 && octal(size) {
			size++
		}
	case octal(0) && octal(1) && octal(2):
		size = 3
	default:
		if digit(1) {
			size = 2
		}
		g, _ := strconv.Atoi(s[:size])
		part, err := p.templateRef(g, s[:size])
		return part, size, err
	}
	n, _ := strconv.ParseInt(s[:size], 8, 32)
	if n > 0o377 {
		return templatePart{}, 0, fmt.Errorf(`octal escape value \%s in the replacement is outside of range 0-0o377`, s[:size])
	}
	return templatePart{string(rune(n)), -1}, size, nil
}

func (p *pattern) templateRef(g int, name string) (templatePart, error) {
	if g < 0 || g > p.Groups {
		return templatePart{}, fmt.Errorf("the replacement names group %s, which the pattern %q does not have", name, Cut(p.Source, 60))
	}
	return templatePart{group: g}, nil
}

func splitBy(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	most := 0
	if err := starlark.UnpackArgs("split", args, kwargs, "string", &v, "maxsplit?", &most); err != nil {
		return nil, err
	}
	s, err := haystack(starlark.Tuple{v}, nil)
	if err != nil {
		return nil, err
	}
	found, err := p.every(t, s, most)
	if err != nil {
		return nil, err
	}
	var out []starlark.Value
	done := 0
	for _, m := range found {
		out = append(out, starlark.String(s[done:m.at[0]]))
		for g := 1; g <= p.Groups; g++ {
			out = append(out, m.text(g))
		}
		done = m.at[1]
	}
	return starlark.NewList(append(out, starlark.String(s[done:]))), nil
}

// reEscape is re.escape.
func reEscape(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s, err := haystack(args, kwargs)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return starlark.String(b.String()), nil
}
