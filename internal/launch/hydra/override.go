// Package hydra reads the arguments of a Hydra program by the grammar of hydra-core 1.3 (grammar/OverrideLexer.g4 and
// OverrideParser.g4). It knows neither scripts nor configurations.
package hydra

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// An Override is one argument of a Hydra program, parsed.
type Override struct {
	Op      string // "=", "+", "++" or "~"
	Key     string // "data.train_files", "db/mysql"
	Package string // after "@"
	At      bool   // there is an "@"
	Value   any    // nil, bool, *big.Int, float64, string, []any, *Dict, Sweep, Call
	Bare    bool   // "~key": no value at all
	Quoted  bool   // Value is a text in quotes
	Text    string // as it was given
}

// A Dict is Hydra's dictionary: keys in order, the later of two equal ones wins.
type Dict struct {
	Keys   []any // nil, bool, *big.Int, float64, string
	Values []any
}

// A Sweep is "a,b,c": values for several runs, which Hydra refuses without --multirun.
type Sweep []any

// A Call is a function of Hydra's grammar that is not a cast: choice(a,b), range(1,9), interval(0,1), glob(*) …
type Call struct {
	Name string
	Args []any
	Named
}

// Named are a Call's arguments by name.
type Named map[string]any

// JSONValue returns v as encoding/json can write it: dictionaries keep the spelling that Python's json gives their keys,
// infinities and NaN become text, sweeps {"sweep": […]}, functions {"function": name, "args": […]}.
func JSONValue(v any) any {
	switch v := v.(type) {
	case *big.Int:
		return json.Number(v.String())
	case float64:
		switch {
		case math.IsInf(v, 1):
			return "inf"
		case math.IsInf(v, -1):
			return "-inf"
		case math.IsNaN(v):
			return "nan"
		}
		return json.Number(floatText(v))
	case []any:
		return jsonList(v)
	case Sweep:
		return map[string]any{"sweep": jsonList(v)}
	case Call:
		out := map[string]any{"function": v.Name, "args": jsonList(v.Args)}
		if len(v.Named) > 0 {
			kw := map[string]any{}
			for k, e := range v.Named {
				kw[k] = JSONValue(e)
			}
			out["kwargs"] = kw
		}
		return out
	case *Dict:
		out := map[string]any{}
		for i, k := range v.Keys {
			out[KeyText(k)] = JSONValue(v.Values[i])
		}
		return out
	}
	return v
}

func jsonList(list []any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = JSONValue(e)
	}
	return out
}

// floatText writes f so that it reads as a float again, also where it is whole.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// KeyText returns a key of a dictionary as Python's json writes it.
func KeyText(k any) string {
	switch k := k.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(k)
	case *big.Int:
		return k.String()
	case float64:
		if math.IsInf(k, 0) || math.IsNaN(k) {
			return fmt.Sprint(JSONValue(k))
		}
		return floatText(k)
	}
	return k.(string)
}

// Parse reads one argument by Hydra's grammar (hydra-core 1.3, OverrideLexer.g4 and OverrideParser.g4).
func Parse(s string) (Override, error) {
	p := &overrideParser{text: s}
	o, err := p.override()
	if err != nil {
		return Override{}, fmt.Errorf("override %q: %w", Clip(s, 120), err)
	}
	o.Text = s
	return o, nil
}

// Clip cuts a text for a message after n bytes, between two characters, and marks the cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// An overrideParser reads one override. Its lexer is greedy as ANTLR's is: of all tokens that match, the longest wins, of
// equally long ones the first in the grammar.
type overrideParser struct {
	text string
	toks []tok
	at   int
	deep int
}

type tok struct {
	kind tokKind
	text string
}

type tokKind uint8

const (
	tEOF tokKind = iota
	// keys
	tEqual
	tTilde
	tPlus
	tAt
	tColon
	tSlash
	tID
	tKeySpecial
	tDotPath
	// values
	tPOpen
	tComma
	tPClose
	tBracketOpen
	tBracketClose
	tBraceOpen
	tBraceClose
	tFloat
	tInt
	tBool
	tNull
	tUnquoted
	tEsc
	tWS
	tQuoted
	tInterpolation
)

func (p *overrideParser) peek() tok { return p.toks[min(p.at, len(p.toks)-1)] }
func (p *overrideParser) next() tok { t := p.peek(); p.at++; return t }

func (p *overrideParser) unexpected() error {
	t := p.peek()
	if t.kind == tEOF {
		return fmt.Errorf("ends too early")
	}
	return fmt.Errorf("unexpected %q", t.text)
}

// override: key EQUAL value? | TILDE key (EQUAL value?)? | PLUS PLUS? key EQUAL value?
func (p *overrideParser) override() (Override, error) {
	if err := p.lex(); err != nil {
		return Override{}, err
	}
	o := Override{Op: "="}
	switch p.peek().kind {
	case tTilde:
		p.next()
		o.Op = "~"
	case tPlus:
		p.next()
		o.Op = "+"
		if p.peek().kind == tPlus {
			p.next()
			o.Op = "++"
		}
	}
	if err := p.key(&o); err != nil {
		return o, err
	}
	if o.Op == "~" && p.peek().kind == tEOF {
		o.Bare = true
		return o, nil
	}
	if p.next().kind != tEqual {
		p.at--
		return o, p.unexpected()
	}
	if p.peek().kind == tEOF {
		o.Value = ""
		return o, nil
	}
	v, err := p.value(&o)
	if err != nil {
		return o, err
	}
	if p.peek().kind != tEOF {
		return o, p.unexpected()
	}
	o.Value = v
	return o, nil
}

// key: packageOrGroup (AT package)?; packageOrGroup: package | ID (SLASH ID)+; package: | ID | KEY_SPECIAL | DOT_PATH
func (p *overrideParser) key(o *Override) error {
	var b strings.Builder
	switch t := p.peek(); t.kind {
	case tID:
		b.WriteString(p.next().text)
		for p.peek().kind == tSlash {
			p.next()
			if p.peek().kind != tID {
				return p.unexpected()
			}
			b.WriteString("/" + p.next().text)
		}
	case tKeySpecial, tDotPath:
		b.WriteString(p.next().text)
	}
	o.Key = b.String()
	if p.peek().kind != tAt {
		return nil
	}
	p.next()
	o.At = true
	if k := p.peek().kind; k == tID || k == tKeySpecial || k == tDotPath {
		o.Package = p.next().text
	}
	return nil
}

// value: element | simpleChoiceSweep
func (p *overrideParser) value(o *Override) (any, error) {
	first := p.at
	v, err := p.element()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tComma {
		o.Quoted = p.at == first+1 && p.toks[first].kind == tQuoted
		return v, nil
	}
	sweep := Sweep{v}
	for p.peek().kind == tComma {
		p.next()
		if v, err = p.element(); err != nil {
			return nil, err
		}
		sweep = append(sweep, v)
	}
	return sweep, nil
}

// maxDepth bounds lists within lists.
const maxDepth = 200

// element: primitive | listContainer | dictContainer | function
func (p *overrideParser) element() (any, error) {
	if p.deep++; p.deep > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	defer func() { p.deep-- }()
	switch t := p.peek(); {
	case t.kind == tBracketOpen:
		return p.list()
	case t.kind == tBraceOpen:
		return p.dict()
	case t.kind == tID && p.at+1 < len(p.toks) && p.toks[p.at+1].kind == tPOpen:
		return p.function()
	}
	return p.primitive(false)
}

func (p *overrideParser) list() (any, error) {
	p.next()
	out := []any{}
	if p.peek().kind == tBracketClose {
		p.next()
		return out, nil
	}
	for {
		v, err := p.element()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		switch p.next().kind {
		case tComma:
		case tBracketClose:
			return out, nil
		default:
			p.at--
			return nil, p.unexpected()
		}
	}
}

func (p *overrideParser) dict() (any, error) {
	p.next()
	d := &Dict{}
	if p.peek().kind == tBraceClose {
		p.next()
		return d, nil
	}
	for {
		k, err := p.primitive(true)
		if err != nil {
			return nil, err
		}
		if p.next().kind != tColon {
			p.at--
			return nil, p.unexpected()
		}
		v, err := p.element()
		if err != nil {
			return nil, err
		}
		d.Set(k, v)
		switch p.next().kind {
		case tComma:
		case tBraceClose:
			return d, nil
		default:
			p.at--
			return nil, p.unexpected()
		}
	}
}

// Set sets a key as Python's dict does, where 1, 1.0 and true are one key.
func (d *Dict) Set(k, v any) {
	for i, have := range d.Keys {
		if sameKey(have, k) {
			d.Values[i] = v
			return
		}
	}
	d.Keys, d.Values = append(d.Keys, k), append(d.Values, v)
}

func sameKey(a, b any) bool {
	x, xn := keyNumber(a)
	y, yn := keyNumber(b)
	if xn && yn {
		return x.Cmp(y) == 0
	}
	if xn != yn {
		return false
	}
	if f, ok := a.(float64); ok && math.IsNaN(f) {
		return false
	}
	return a == b
}

func keyNumber(k any) (*big.Float, bool) {
	switch k := k.(type) {
	case bool:
		if k {
			return big.NewFloat(1), true
		}
		return big.NewFloat(0), true
	case *big.Int:
		return new(big.Float).SetInt(k), true
	case float64:
		if !math.IsNaN(k) {
			return big.NewFloat(k), true
		}
	}
	return nil, false
}

// function: ID POPEN (argName? element (COMMA argName? element)*)? PCLOSE
func (p *overrideParser) function() (any, error) {
	c := Call{Name: p.next().text, Args: []any{}, Named: Named{}}
	p.next()
	if p.peek().kind == tPClose {
		p.next()
		return c.eval()
	}
	for {
		name := ""
		if p.peek().kind == tID && p.at+1 < len(p.toks) && p.toks[p.at+1].kind == tEqual {
			name = p.next().text
			p.next()
		}
		v, err := p.element()
		if err != nil {
			return nil, err
		}
		switch {
		case name != "":
			c.Named[name] = v
		case len(c.Named) > 0:
			return nil, fmt.Errorf("%s: positional argument follows keyword argument", c.Name)
		default:
			c.Args = append(c.Args, v)
		}
		switch p.next().kind {
		case tComma:
		case tPClose:
			return c.eval()
		default:
			p.at--
			return nil, p.unexpected()
		}
	}
}

// primitive: a quoted text, or one or more other tokens, which join to a text where they are more than one.
func (p *overrideParser) primitive(key bool) (any, error) {
	if p.peek().kind == tQuoted && !key {
		return unquote(p.next().text), nil
	}
	var parts []tok
	for {
		t := p.peek()
		switch t.kind {
		case tID, tNull, tInt, tFloat, tBool, tUnquoted, tEsc, tWS:
		case tInterpolation, tColon:
			if key {
				return p.joined(parts)
			}
		default:
			return p.joined(parts)
		}
		parts = append(parts, p.next())
	}
}

func (p *overrideParser) joined(parts []tok) (any, error) {
	if len(parts) == 0 {
		return nil, p.unexpected()
	}
	if parts[0].kind == tWS {
		if parts = parts[1:]; len(parts) == 0 {
			return nil, fmt.Errorf("a value of blanks only")
		}
	}
	if parts[len(parts)-1].kind == tWS {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 1 {
		return scalar(parts[0])
	}
	var b strings.Builder
	for _, t := range parts {
		if t.kind == tEsc {
			b.WriteString(unescape(t.text))
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String(), nil
}

// unescape takes the backslash before every character off.
func unescape(s string) string {
	var b strings.Builder
	for i := 1; i < len(s); i += 2 {
		b.WriteByte(s[i])
	}
	return b.String()
}

func scalar(t tok) (any, error) {
	switch t.kind {
	case tInt:
		i, ok := new(big.Int).SetString(strings.ReplaceAll(t.text, "_", ""), 10)
		if !ok {
			return nil, fmt.Errorf("unexpected %q", t.text)
		}
		return i, nil
	case tFloat:
		return pythonFloat(t.text), nil
	case tBool:
		return strings.EqualFold(t.text, "true"), nil
	case tNull:
		return nil, nil
	case tEsc:
		return unescape(t.text), nil
	}
	return t.text, nil
}

// pythonFloat is float(s) for a text that the grammar calls a float.
func pythonFloat(s string) float64 {
	if strings.HasSuffix(strings.ToLower(s), "nan") {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64) // out of range is an infinity, as in Python
	return f
}

// unquote takes the quotes off: a backslash escapes only the quote, or itself before a quote.
func unquote(s string) string {
	q := s[0]
	s = s[1:]
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) && s[i+n] == '\\' {
			n++
		}
		if n > 0 && i+n < len(s) && s[i+n] == q {
			// backslashes and a quote: every second character stands for itself
			run := s[i : i+n+1]
			for k := 1; k < len(run); k += 2 {
				b.WriteByte(run[k])
			}
			i += n + 1
			continue
		}
		if n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		if i == len(s)-1 {
			break // the closing quote
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
