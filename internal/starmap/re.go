package starmap

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// The flags of re, by Python's numbers.
const (
	flagI = 2
	flagM = 8
	flagS = 16
	flagA = 256
)

var reModule = func() *starlarkstruct.Module {
	m := &starlarkstruct.Module{Name: "re", Members: starlark.StringDict{
		"I": starlark.MakeInt(flagI), "IGNORECASE": starlark.MakeInt(flagI), "M": starlark.MakeInt(flagM), "MULTILINE": starlark.MakeInt(flagM),
		"S": starlark.MakeInt(flagS), "DOTALL": starlark.MakeInt(flagS), "A": starlark.MakeInt(flagA), "ASCII": starlark.MakeInt(flagA),
		"escape": builtin("escape", reEscape),
		"compile": builtin("compile", func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var p starlark.Value
			flags := 0
			if err := starlark.UnpackArgs("compile", args, kwargs, "pattern", &p, "flags?", &flags); err != nil {
				return nil, err
			}
			return compiled(t, p, flags)
		}),
	}}
	for name, f := range patternMethods {
		m.Members[name] = builtin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 0 {
				return nil, fmt.Errorf("%s: no pattern", name)
			}
			flags := 0
			var rest []starlark.Tuple
			for _, kv := range kwargs {
				if string(kv[0].(starlark.String)) != "flags" {
					rest = append(rest, kv)
				} else if n, err := starlark.AsInt32(kv[1]); err == nil {
					flags = n
				}
			}
			pos := args[1:]
			if at := flagsAt[name]; len(pos) > at {
				n, err := starlark.AsInt32(pos[at])
				if err != nil || len(pos) > at+1 {
					return nil, fmt.Errorf("%s: expected flags at the end", name)
				}
				flags, pos = n, pos[:at]
			}
			p, err := compiled(t, args[0], flags)
			if err != nil {
				return nil, err
			}
			return f(t, p, pos, rest)
		})
	}
	return m
}()

// flagsAt is the place of flags behind the pattern.
var flagsAt = map[string]int{"search": 1, "match": 1, "fullmatch": 1, "findall": 1, "finditer": 1, "sub": 3, "subn": 3, "split": 2}

// A pattern is a compiled regular expression: Python's, as far as RE2 goes.
type pattern struct {
	source   string
	flags    int
	re       *regexp.Regexp
	start    *regexp.Regexp // anchored at the start
	whole    *regexp.Regexp // and at the end
	groups   []int          // of re, for each group of Python's, from 0
	names    map[string]int
	order    []string       // names, by group
	ends     []int          // hidden groups of re: a newline that a $ stands before
	word     bool           // has \b or \B, which RE2 knows for ASCII alone
	dollar   bool           // has a $ that is not at an end
	context  bool           // what matches depends on what stands before
	canEmpty bool           // may match ""
	longest  *regexp.Regexp // start, that takes the longest match
}

var patterns sync.Map // patternKey to *pattern

var patternCount struct {
	sync.Mutex
	n int
}

type patternKey struct {
	source string
	flags  int
}

// compiled returns the pattern that v is, or the text of one; the few that a script has are kept.
func compiled(t *starlark.Thread, v starlark.Value, flags int) (*pattern, error) {
	if p, ok := v.(*pattern); ok {
		if flags != 0 {
			return nil, errors.New("flags belong to compile where the pattern is compiled")
		}
		return p, nil
	}
	s, ok := v.(starlark.String)
	if !ok {
		return nil, fmt.Errorf("a pattern is %s, expected text", kindName(v))
	}
	if p, ok := patterns.Load(patternKey{string(s), flags}); ok {
		return p.(*pattern), nil
	}
	if err := charge(t, 100+8*len(s)); err != nil {
		return nil, err
	}
	p, err := compile(strings.Clone(string(s)), flags)
	if err != nil {
		return nil, err
	}
	patternCount.Lock()
	defer patternCount.Unlock()
	if patternCount.n++; patternCount.n > 1000 { // made of rows: keeping them would hold on to all of them
		patterns.Clear()
		patternCount.n = 0
	}
	patterns.Store(patternKey{p.source, flags}, p)
	return p, nil
}

func compile(source string, flags int) (*pattern, error) {
	if len(source) > 1<<16 {
		return nil, fmt.Errorf("a pattern of %d bytes", len(source))
	}
	if flags&^(flagI|flagM|flagS|flagA) != 0 {
		return nil, fmt.Errorf("pattern %q: of the flags, re.I, re.M, re.S and re.A are here", cut(source, 60))
	}
	tr := &translator{src: source, flags: flags, p: &pattern{source: source, flags: flags, names: map[string]int{}}}
	if err := tr.run(); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", cut(source, 60), err)
	}
	p := tr.p
	text := tr.out.String()
	prefix := ""
	for flag, c := range map[int]string{flagI: "i", flagM: "m", flagS: "s"} {
		if tr.flags&flag != 0 {
			prefix += c
		}
	}
	if prefix != "" {
		text = "(?" + prefix + ")" + text
	}
	var err error
	if p.re, err = regexp.Compile(text); err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, fmt.Errorf("pattern %q: %s", cut(source, 60), cut(msg, 100))
	}
	p.start = regexp.MustCompile(`\A(?:` + text + `)`)
	p.whole = regexp.MustCompile(`\A(?:` + text + `)\z`)
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		p.canEmpty = leastWidth(tree) == 0
	}
	p.longest = regexp.MustCompile(`\A(?:` + text + `)`)
	p.longest.Longest()
	return p, nil
}

// leastWidth is the number of characters that a match has at least, as far as the pattern shows it.
func leastWidth(re *syntax.Regexp) int {
	sum := func() (n int) {
		for _, s := range re.Sub {
			n += leastWidth(s)
		}
		return n
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return 1
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		return sum()
	case syntax.OpRepeat:
		return re.Min * sum()
	case syntax.OpAlternate:
		least := leastWidth(re.Sub[0])
		for _, s := range re.Sub[1:] {
			least = min(least, leastWidth(s))
		}
		return least
	}
	return 0
}

// String, Type, Freeze, Truth and Hash make a pattern a value.
func (p *pattern) String() string        { return "re.compile(" + strconv.Quote(p.source) + ")" }
func (p *pattern) Type() string          { return "pattern" }
func (p *pattern) Freeze()               {}
func (p *pattern) Truth() starlark.Bool  { return true }
func (p *pattern) Hash() (uint32, error) { return 0, errors.New("a pattern is no key") }

func (p *pattern) Attr(name string) (starlark.Value, error) {
	if name == "pattern" {
		return starlark.String(p.source), nil
	}
	f := patternMethods[name]
	if f == nil {
		return nil, nil
	}
	return builtin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(t, p, args, kwargs)
	}), nil
}

func (p *pattern) AttrNames() []string {
	return []string{"findall", "finditer", "fullmatch", "match", "pattern", "search", "split", "sub", "subn"}
}

// A translator writes Python's syntax as RE2's.
type translator struct {
	src   string
	i     int
	out   strings.Builder
	flags int
	p     *pattern
	depth int
	count int // groups of RE2 so far
}

const (
	wordClass  = `\p{L}\p{N}_`
	spaceClass = `\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`
)

func (tr *translator) run() error {
	tr.p.groups, tr.p.order = []int{0}, []string{""}
	for tr.i < len(tr.src) {
		c := tr.src[tr.i]
		var err error
		switch c {
		case '\\':
			err = tr.escape(false)
		case '[':
			err = tr.class()
		case '(':
			err = tr.group()
		case ')':
			tr.depth--
			tr.put(1)
		case '$':
			tr.dollar()
		case '^':
			tr.p.context = true
			tr.put(1)
		case '{':
			tr.brace()
		default:
			_, w := utf8.DecodeRuneInString(tr.src[tr.i:])
			tr.put(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put takes n bytes over as they stand.
func (tr *translator) put(n int) {
	tr.out.WriteString(tr.src[tr.i : tr.i+n])
	tr.i += n
}

// dollar writes $: the end, or before a newline at the end.
func (tr *translator) dollar() {
	tr.i++
	if tr.flags&flagM != 0 {
		tr.out.WriteString("$")
		return
	}
	rest := strings.TrimLeft(tr.src[tr.i:], ")")
	if rest != "" && (rest[0] != '|' || strings.Contains(tr.src[:tr.i], "(") && tr.depth > 0) {
		tr.p.dollar = true
		tr.out.WriteString(`\z`)
		return
	}
	tr.count++
	tr.p.ends = append(tr.p.ends, tr.count)
	tr.out.WriteString(`(\n?)\z`)
}

// brace writes a counted repetition; {,n} is a literal to RE2, and a brace that is no repetition is one to Python.
func (tr *translator) brace() {
	end := strings.IndexByte(tr.src[tr.i:], '}')
	body := ""
	if end > 0 {
		body = tr.src[tr.i+1 : tr.i+end]
	}
	lo, hi, comma := strings.Cut(body, ",")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	if end < 0 || body == "" || !digits(lo) || !digits(hi) || !comma && lo == "" {
		tr.out.WriteString(`\{`)
		tr.i++
		return
	}
	if lo == "" {
		tr.out.WriteString("{0," + hi + "}")
	} else {
		tr.out.WriteString("{" + body + "}")
	}
	tr.i += end + 1
}

func (tr *translator) group() error {
	rest := tr.src[tr.i:]
	tr.depth++
	if !strings.HasPrefix(rest, "(?") {
		tr.capture("")
		tr.put(1)
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "(?:"):
		tr.put(3)
	case strings.HasPrefix(rest, "(?P<"):
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			return errors.New("a name of a group is not closed")
		}
		name := rest[4:end]
		tr.capture(name)
		tr.put(end + 1)
	case strings.HasPrefix(rest, "(?#"):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return errors.New("a comment is not closed")
		}
		tr.depth--
		tr.i += end + 1
	case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!"):
		return errors.New("lookahead (?= (?! is Python's alone: match more, and take the group that you need")
	case strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!"):
		return errors.New("lookbehind (?<= (?<! is Python's alone: match more, and take the group that you need")
	case strings.HasPrefix(rest, "(?P="):
		return errors.New("backreferences are Python's alone: RE2 has none")
	case strings.HasPrefix(rest, "(?>"), strings.HasPrefix(rest, "(?("):
		return errors.New("atomic and conditional groups are Python's alone")
	default:
		return tr.flagGroup(rest)
	}
	return nil
}

// flagGroup writes (?i) at the start and (?i:…).
func (tr *translator) flagGroup(rest string) error {
	end := strings.IndexAny(rest, ":)")
	if end < 0 {
		return errors.New("a group is not closed")
	}
	body := rest[2:end]
	if strings.Trim(body, "imsau-") != "" || strings.Contains(body, "-") && rest[end] == ')' {
		return fmt.Errorf("the group (?%s: of the flags, i, m, s and a are here", cut(body, 10))
	}
	if rest[end] == ')' {
		if tr.i != 0 {
			return errors.New("flags (?i) stand at the start of the pattern")
		}
		for _, c := range body {
			tr.flags |= map[rune]int{'i': flagI, 'm': flagM, 's': flagS, 'a': flagA}[c]
		}
		tr.depth--
		tr.i += end + 1
		return nil
	}
	if strings.ContainsAny(body, "amu") {
		return errors.New("the flags a, m and u stand at the start of the pattern")
	}
	tr.put(end + 1)
	return nil
}

func (tr *translator) capture(name string) {
	tr.count++
	tr.p.groups = append(tr.p.groups, tr.count)
	tr.p.order = append(tr.p.order, name)
	if name != "" {
		tr.p.names[name] = len(tr.p.groups) - 1
	}
}

// escape writes \x. in says that it stands in a class.
func (tr *translator) escape(in bool) error {
	if tr.i+1 >= len(tr.src) {
		return errors.New("a backslash at the end")
	}
	c := tr.src[tr.i+1]
	ascii := tr.flags&flagA != 0
	class := func(positive, unicodeClass string) {
		switch {
		case ascii:
			tr.out.WriteString(`\` + string(c))
		case in:
			tr.out.WriteString(unicodeClass)
		case positive != "":
			tr.out.WriteString(positive + unicodeClass + "]")
		}
		tr.i += 2
	}
	switch c {
	case 'd':
		class("[", `\p{Nd}`)
	case 'w':
		class("[", wordClass)
	case 's':
		if ascii {
			tr.out.WriteString(map[bool]string{true: `\t-\r\x20`, false: `[\t-\r\x20]`}[in])
			tr.i += 2
			return nil
		}
		class("[", spaceClass)
	case 'D', 'W', 'S':
		return tr.negated(c, in, ascii)
	case 'b', 'B':
		if in {
			if c == 'B' {
				return errors.New(`\B in a class`)
			}
			tr.out.WriteString(`\x08`)
			tr.i += 2
			return nil
		}
		tr.p.word, tr.p.context = !ascii, true
		tr.put(2)
	case 'A':
		tr.p.context = true
		tr.put(2)
	case 'Z':
		tr.out.WriteString(`\z`)
		tr.i += 2
	case 'n', 't', 'r', 'f', 'v', 'a':
		tr.put(2)
	case 'x':
		return tr.code(2, 2)
	case 'u':
		return tr.code(2, 4)
	case 'U':
		return tr.code(2, 8)
	case '0':
		return tr.octal()
	default:
		switch {
		case c >= '1' && c <= '9':
			return errors.New("backreferences are Python's alone: RE2 has none")
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			return fmt.Errorf(`\%c is no escape that Python's re knows`, c)
		}
		r, w := utf8.DecodeRuneInString(tr.src[tr.i+1:])
		tr.out.WriteString(regexp.QuoteMeta(string(r)))
		if in && r == '-' || in && r == ' ' {
			s := tr.out.String()
			tr.out.Reset()
			tr.out.WriteString(strings.TrimSuffix(s, string(r)) + `\x{` + strconv.FormatInt(int64(r), 16) + "}")
		}
		tr.i += 1 + w
	}
	return nil
}

func (tr *translator) negated(c byte, in, ascii bool) error {
	tr.i += 2
	body := map[byte]string{'D': `\p{Nd}`, 'W': wordClass, 'S': spaceClass}[c]
	if ascii {
		body = map[byte]string{'D': `0-9`, 'W': `0-9A-Za-z_`, 'S': `\t-\r\x20`}[c]
	}
	switch {
	case !in:
		tr.out.WriteString("[^" + body + "]")
	case c == 'D' && !ascii:
		tr.out.WriteString(`\P{Nd}`)
	case c == 'D':
		tr.out.WriteString(`\D`)
	case ascii && c == 'W':
		tr.out.WriteString(`\W`)
	case c == 'S':
		tr.out.WriteString(map[bool]string{true: `\x00-\x08\x0e-\x1f\x21-\x{10ffff}`,
			false: `\x00-\x08\x0e-\x1b\x21-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}`}[ascii])
	default:
		return errors.New(`\W in a class with others: RE2 cannot say it; write it as an alternative`)
	}
	return nil
}

func (tr *translator) code(skip, digits int) error {
	from := tr.i + skip
	if from+digits > len(tr.src) {
		return errors.New("an escape is cut short")
	}
	n, err := strconv.ParseUint(tr.src[from:from+digits], 16, 32)
	if err != nil || n > unicode.MaxRune {
		return fmt.Errorf("%s is no escape", tr.src[tr.i:from+digits])
	}
	fmt.Fprintf(&tr.out, `\x{%x}`, n)
	tr.i = from + digits
	return nil
}

func (tr *translator) octal() error {
	end := tr.i + 1
	for end < len(tr.src) && end < tr.i+4 && tr.src[end] >= '0' && tr.src[end] <= '7' {
		end++
	}
	n, _ := strconv.ParseUint(tr.src[tr.i+1:end], 8, 32)
	fmt.Fprintf(&tr.out, `\x{%x}`, n)
	tr.i = end
	return nil
}

// class writes […]; a bracket in it is a literal to Python, and may open a POSIX class to RE2.
func (tr *translator) class() error {
	tr.put(1)
	if strings.HasPrefix(tr.src[tr.i:], "^") {
		tr.put(1)
	}
	if strings.HasPrefix(tr.src[tr.i:], "]") {
		tr.out.WriteString(`\]`)
		tr.i++
	}
	for tr.i < len(tr.src) {
		switch c := tr.src[tr.i]; c {
		case ']':
			tr.put(1)
			return nil
		case '[':
			tr.out.WriteString(`\[`)
			tr.i++
		case '\\':
			if err := tr.escape(true); err != nil {
				return err
			}
		default:
			_, w := utf8.DecodeRuneInString(tr.src[tr.i:])
			tr.put(w)
		}
	}
	return errors.New("a class [ is not closed")
}

// check refuses a text for which RE2 would answer otherwise than Python.
func (p *pattern) check(t *starlark.Thread, s string) error {
	if err := charge(t, 1+len(s)/bytesAStep); err != nil {
		return err
	}
	if p.word && !isASCII(s) {
		for _, r := range s {
			if r >= 0x80 && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
				return fmt.Errorf(`pattern %q: \b in a text with %q: RE2 knows the borders of ASCII words alone; say by a class what stands there`, cut(p.source, 60), r)
			}
		}
	}
	if p.dollar && strings.HasSuffix(s, "\n") {
		return fmt.Errorf("pattern %q: a $ that is not at its end, in a text that ends with a newline: RE2 cannot say it; strip the text first", cut(p.source, 60))
	}
	return nil
}

// fit brings what RE2 found to Python's groups: a newline that a $ stands before is no part of any.
func (p *pattern) fit(at []int) []int {
	if at == nil {
		return nil
	}
	end := at[1]
	for _, g := range p.ends {
		if at[2*g] >= 0 {
			end = min(end, at[2*g])
		}
	}
	out := make([]int, 2*len(p.groups))
	for i, g := range p.groups {
		out[2*i], out[2*i+1] = at[2*g], min(at[2*g+1], end)
	}
	return out
}

// A match is what was found.
type match struct {
	p  *pattern
	s  string
	at []int // in bytes, two a group; -1 where the group took no part
}

// String, Type, Freeze, Truth and Hash make a match a value.
func (m *match) String() string        { return "<match>" }
func (m *match) Type() string          { return "match" }
func (m *match) Freeze()               {}
func (m *match) Truth() starlark.Bool  { return true }
func (m *match) Hash() (uint32, error) { return 0, errors.New("a match is no key") }

func (m *match) text(g int) starlark.Value {
	if m.at[2*g] < 0 {
		return starlark.None
	}
	return starlark.String(m.s[m.at[2*g]:m.at[2*g+1]])
}

func (m *match) number(v starlark.Value) (int, error) {
	switch x := v.(type) {
	case starlark.String:
		if g, ok := m.p.names[string(x)]; ok {
			return g, nil
		}
	case starlark.Int:
		if g, err := starlark.AsInt32(x); err == nil && g >= 0 && g < len(m.p.groups) {
			return g, nil
		}
	}
	return 0, fmt.Errorf("the pattern %q has no group %s", cut(m.p.source, 60), v)
}

func (m *match) group(v starlark.Value) (starlark.Value, error) {
	g, err := m.number(v)
	if err != nil {
		return nil, err
	}
	return m.text(g), nil
}

// Get implements starlark.Mapping: m["name"].
func (m *match) Get(k starlark.Value) (starlark.Value, bool, error) {
	v, err := m.group(k)
	return v, err == nil, err
}

func (m *match) AttrNames() []string {
	return []string{"end", "group", "groupdict", "groups", "span", "start", "string"}
}

func (m *match) Attr(name string) (starlark.Value, error) {
	f := func(f func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) (starlark.Value, error) {
		return builtin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(args, kwargs)
		}), nil
	}
	switch name {
	case "string":
		return starlark.String(m.s), nil
	case "group":
		return f(m.groupOf)
	case "groups":
		return f(func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var without starlark.Value = starlark.None
			if err := starlark.UnpackArgs("groups", args, kwargs, "default?", &without); err != nil {
				return nil, err
			}
			out := starlark.Tuple{}
			for g := 1; g < len(m.p.groups); g++ {
				v := m.text(g)
				if v == starlark.None {
					v = without
				}
				out = append(out, v)
			}
			return out, nil
		})
	case "groupdict":
		return f(func(starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			out := starlark.NewDict(4)
			for g, n := range m.p.order {
				if n == "" {
					continue
				}
				if err := out.SetKey(starlark.String(n), m.text(g)); err != nil {
					return nil, err
				}
			}
			return out, nil
		})
	case "start", "end", "span":
		return f(func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var v starlark.Value = starlark.MakeInt(0)
			if err := starlark.UnpackPositionalArgs(name, args, kwargs, 0, &v); err != nil {
				return nil, err
			}
			g, err := m.number(v)
			if err != nil {
				return nil, err
			}
			a, b := m.chars(m.at[2*g]), m.chars(m.at[2*g+1])
			return map[string]starlark.Value{"start": a, "end": b, "span": starlark.Tuple{a, b}}[name], nil
		})
	}
	return nil, nil
}

// chars is a place in characters, as Python counts.
func (m *match) chars(at int) starlark.Value {
	if at < 0 {
		return starlark.MakeInt(-1)
	}
	return starlark.MakeInt(runes(m.s[:at]))
}

func (m *match) groupOf(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	switch len(args) {
	case 0:
		return m.text(0), nil
	case 1:
		return m.group(args[0])
	}
	out := starlark.Tuple{}
	for _, a := range args {
		v, err := m.group(a)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

type patternFunc func(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

var patternMethods = map[string]patternFunc{
	"search":    one(func(p *pattern) *regexp.Regexp { return p.re }),
	"match":     one(func(p *pattern) *regexp.Regexp { return p.start }),
	"fullmatch": one(func(p *pattern) *regexp.Regexp { return p.whole }),
	"findall":   findAll, "finditer": findIter, "sub": subst, "subn": substN, "split": splitBy,
}

func one(which func(*pattern) *regexp.Regexp) patternFunc {
	return func(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		s, err := haystack(args, kwargs)
		if err != nil {
			return nil, err
		}
		if err := p.check(t, s); err != nil {
			return nil, err
		}
		re := which(p)
		if re == p.whole && len(p.ends) > 0 && strings.HasSuffix(s, "\n") {
			return nil, fmt.Errorf("fullmatch of %q, which has a $, in a text that ends with a newline: leave out the $", cut(p.source, 60))
		}
		at := p.fit(re.FindStringSubmatchIndex(s))
		if at == nil {
			return starlark.None, nil
		}
		return &match{p, s, at}, nil
	}
}

func haystack(args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	var v starlark.Value
	if err := starlark.UnpackArgs("re", args, kwargs, "string", &v); err != nil {
		return "", err
	}
	s, ok := v.(starlark.String)
	if !ok {
		return "", fmt.Errorf("the text to look in is %s%s", kindName(v), noneHint(v))
	}
	return string(s), nil
}

// every returns all matches as Python's finditer finds them: also an empty one right behind another match, which Go leaves out.
func (p *pattern) every(t *starlark.Thread, s string) ([]*match, error) {
	if err := p.check(t, s); err != nil {
		return nil, err
	}
	if p.canEmpty && p.context {
		return nil, fmt.Errorf("pattern %q matches nothing at all, and looks at what stands before: RE2 cannot find all as Python does; make it match something", cut(p.source, 60))
	}
	if len(p.ends) > 0 && strings.HasSuffix(s, "\n") {
		return nil, fmt.Errorf("pattern %q with $, in a text that ends with a newline: RE2 cannot find all as Python does; strip the text first", cut(p.source, 60))
	}
	var out []*match
	if !p.canEmpty {
		for _, at := range p.re.FindAllStringSubmatchIndex(s, -1) {
			if err := charge(t, 1+len(at)); err != nil {
				return nil, err
			}
			out = append(out, &match{p, s, p.fit(at)})
		}
		return out, nil
	}
	emptyAt := -1 // an empty match was found here already
	for from := 0; from <= len(s); {
		if err := charge(t, 1+(len(s)-from)/bytesAStep); err != nil {
			return nil, err
		}
		at := p.fit(p.re.FindStringSubmatchIndex(s[from:]))
		if at == nil {
			break
		}
		for i := range at {
			if at[i] >= 0 {
				at[i] += from
			}
		}
		if at[0] == at[1] && at[0] == emptyAt {
			_, w := utf8.DecodeRuneInString(s[from:])
			from += max(1, w)
			continue
		}
		if at[0] == at[1] { // Python looks for one that is not empty here
			if long := p.longest.FindStringIndex(s[at[0]:]); long != nil && long[1] > 0 {
				return nil, fmt.Errorf("pattern %q prefers to match nothing where it could match something: RE2 cannot find all as Python does; write it without ?? *? +? or put what is longer first", cut(p.source, 60))
			}
		}
		out = append(out, &match{p, s, at})
		from, emptyAt = at[1], -1
		if at[0] == at[1] {
			emptyAt = at[0]
		}
	}
	return out, nil
}

func findAll(t *starlark.Thread, p *pattern, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s, err := haystack(args, kwargs)
	if err != nil {
		return nil, err
	}
	found, err := p.every(t, s)
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
		switch len(p.groups) {
		case 1:
			out[i] = part(m, 0)
		case 2:
			out[i] = part(m, 1)
		default:
			tuple := starlark.Tuple{}
			for g := 1; g < len(p.groups); g++ {
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
	found, err := p.every(t, s)
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
	found, err := p.every(t, s)
	if err != nil {
		return "", 0, err
	}
	if count > 0 && len(found) > count {
		found = found[:count]
	}
	fill, err := p.replacement(repl)
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
				return "", fmt.Errorf("the function of sub gave %s, expected text", kindName(v))
			}
			return string(s), nil
		}, nil
	}
	text, ok := repl.(starlark.String)
	if !ok {
		return nil, fmt.Errorf("the replacement is %s, expected text or a function", kindName(repl))
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
				b.WriteString(m.s[m.at[2*part.group]:m.at[2*part.group+1]])
			}
		}
		return b.String(), nil
	}, nil
}

type templatePart struct {
	text  string
	group int // -1: text
}

func (p *pattern) template(s string) ([]templatePart, error) {
	var out []templatePart
	group := func(name string) error {
		g, err := strconv.Atoi(name)
		if err != nil {
			var ok bool
			if g, ok = p.names[name]; !ok {
				g = -1
			}
		}
		if g < 0 || g >= len(p.groups) {
			return fmt.Errorf("the replacement names group %s, which the pattern %q has not", name, cut(p.source, 60))
		}
		out = append(out, templatePart{group: g})
		return nil
	}
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return append(out, templatePart{s, -1}), nil
		}
		out = append(out, templatePart{s[:i], -1})
		s = s[i+1:]
		if s == "" {
			return nil, errors.New("the replacement ends with a backslash")
		}
		c := s[0]
		var err error
		switch {
		case c == 'g' && strings.HasPrefix(s, "g<") && strings.Contains(s, ">"):
			end := strings.IndexByte(s, '>')
			err = group(s[2:end])
			s = s[end:]
		case c >= '1' && c <= '9':
			n := 1
			if len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
				n = 2
			}
			err = group(s[:n])
			s = s[n-1:]
		case strings.IndexByte("nrtfvab\\", c) >= 0:
			out = append(out, templatePart{map[byte]string{'n': "\n", 'r': "\r", 't': "\t", 'f': "\f", 'v': "\v", 'a': "\a", 'b': "\b", '\\': `\`}[c], -1})
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '0':
			err = fmt.Errorf(`\%c in a replacement is no escape that Python's re knows`, c)
		default:
			out = append(out, templatePart{`\` + string(c), -1})
			if c >= 0x80 {
				out[len(out)-1].text = `\`
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		s = s[1:]
	}
	return out, nil
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
	found, err := p.every(t, s)
	if err != nil {
		return nil, err
	}
	if most > 0 && len(found) > most {
		found = found[:most]
	}
	var out []starlark.Value
	done := 0
	for _, m := range found {
		out = append(out, starlark.String(s[done:m.at[0]]))
		for g := 1; g < len(p.groups); g++ {
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
