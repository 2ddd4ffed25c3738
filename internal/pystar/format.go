package pystar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// str is str(x) as Python writes it, repr repr(x).
func str(t *starlark.Thread, v starlark.Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	return repr(t, v)
}

func repr(t *starlark.Thread, v starlark.Value) (string, error) {
	var b strings.Builder
	if err := appendRepr(t, &b, v, 0); err != nil {
		return "", err
	}
	return b.String(), nil
}

func appendRepr(t *starlark.Thread, b *strings.Builder, v starlark.Value, depth int) error {
	if depth > MaxDepth {
		return ErrDeep
	}
	if err := charge(t, 1); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool:
		b.WriteString(v.String())
	case starlark.Int:
		if err := chargeText(t, bits(v)); err != nil { // digits take longer than they are long
			return err
		}
		b.WriteString(v.String())
	case starlark.Float:
		b.WriteString(floatText(float64(v)))
	case starlark.String:
		if err := chargeText(t, 4*len(v)); err != nil {
			return err
		}
		appendQuoted(b, string(v))
	case starlark.Tuple:
		if len(v) == 1 {
			b.WriteString("(")
			if err := appendRepr(t, b, v[0], depth+1); err != nil {
				return err
			}
			b.WriteString(",)")
			return nil
		}
		return appendList(t, b, v, "(", ")", depth)
	case *starlark.List:
		return appendList(t, b, elements(v), "[", "]", depth)
	case *starlark.Dict:
		b.WriteString("{")
		for i, item := range v.Items() {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := appendRepr(t, b, item[0], depth+1); err != nil {
				return err
			}
			b.WriteString(": ")
			if err := appendRepr(t, b, item[1], depth+1); err != nil {
				return err
			}
		}
		b.WriteString("}")
	default:
		return fmt.Errorf("%s has no text", KindName(v))
	}
	return nil
}

// ErrDeep is the error for values nested more than MaxDepth deep.
var ErrDeep = &LimitError{fmt.Sprintf("lists and dicts are more than %d deep in each other, or in themselves", MaxDepth)}

func appendList(t *starlark.Thread, b *strings.Builder, list []starlark.Value, open, end string, depth int) error {
	b.WriteString(open)
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := appendRepr(t, b, e, depth+1); err != nil {
			return err
		}
	}
	b.WriteString(end)
	return nil
}

// floatText is repr of a Python float.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// appendQuoted writes repr of a Python str.
func appendQuoted(b *strings.Builder, s string) {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(b, `\x%02x`, r)
		case r >= 0x80 && !strconv.IsPrint(r) && r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r >= 0x100 && !strconv.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		case r >= 0x10000 && !strconv.IsPrint(r):
			fmt.Fprintf(b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(quote)
}

// A spec is what stands behind the colon of a replacement field, or between % and its letter.
type spec struct {
	fill      rune
	filled    bool // fill was said
	align     byte // '<', '>', '^', '='; 0: as the kind has it
	sign      byte
	alt, zero bool
	width     int
	comma     byte
	precision int // -1: none
	verb      byte
}

var errSpec = errors.New("the format is not understood")

func parseSpec(s string) (spec, error) {
	p := spec{fill: ' ', precision: -1}
	if r, w := utf8.DecodeRuneInString(s); w > 0 && len(s) > w && strings.IndexByte("<>^=", s[w]) >= 0 {
		p.fill, p.filled, p.align, s = r, true, s[w], s[w+1:]
	} else if s != "" && strings.IndexByte("<>^=", s[0]) >= 0 {
		p.align, s = s[0], s[1:]
	}
	take := func(set string) byte {
		if s != "" && strings.IndexByte(set, s[0]) >= 0 {
			c := s[0]
			s = s[1:]
			return c
		}
		return 0
	}
	number := func() int {
		i := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		if i == 0 {
			return -1
		}
		n, err := strconv.Atoi(s[:i])
		if err != nil {
			n = math.MaxInt32
		}
		s = s[i:]
		return n
	}
	p.sign = take("+- ")
	p.alt = take("#") != 0
	p.zero = take("0") != 0
	p.width = max(0, number())
	p.comma = take(",_")
	if take(".") != 0 {
		if p.precision = number(); p.precision < 0 {
			return p, errSpec
		}
	}
	p.verb = take("sdfFeEgGxXobc%")
	if s != "" {
		return p, errSpec
	}
	return p, nil
}

// format writes v as the spec asks.
func (p spec) format(t *starlark.Thread, v starlark.Value) (string, error) {
	if p.width > 1<<20 || p.precision > 1<<10 {
		return "", ErrTooMuch
	}
	if p.comma != 0 && p.width > 0 && (p.zero || p.fill == '0') {
		return "", errors.New("zeros before a number with commas: Python groups them too; leave one of them out")
	}
	var body string
	var number bool
	var err error
	switch x := v.(type) {
	case starlark.Int:
		body, err = p.integer(t, x)
		number = true
	case starlark.Float:
		body, err = p.float(float64(x))
		number = true
	case starlark.String:
		if p.verb != 0 && p.verb != 's' || p.sign != 0 || p.comma != 0 || p.alt || p.align == '=' {
			return "", errSpec
		}
		body = string(x)
		if p.precision >= 0 {
			body = body[:byteAt(body, p.precision)]
		}
	default:
		if p != (spec{fill: ' ', precision: -1}) {
			return "", fmt.Errorf("%s has no format but {}", KindName(v))
		}
		body, err = str(t, v)
	}
	if err != nil {
		return "", err
	}
	return p.pad(body, number), nil
}

func (p spec) integer(t *starlark.Thread, x starlark.Int) (string, error) {
	if strings.IndexByte("fFeEgG%", p.verb) >= 0 && p.verb != 0 {
		f := float64(x.Float())
		return p.float(f)
	}
	if p.precision >= 0 || p.verb == 'c' || p.verb == 's' {
		return "", errSpec
	}
	if err := chargeText(t, bits(x)); err != nil {
		return "", err
	}
	base, prefix := 10, ""
	switch p.verb {
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0o"
	case 'b':
		base, prefix = 2, "0b"
	}
	digits := x.BigInt().Text(base)
	neg := strings.HasPrefix(digits, "-")
	digits = strings.TrimPrefix(digits, "-")
	if p.comma != 0 {
		if base != 10 {
			return "", errSpec
		}
		digits = grouped(digits, p.comma)
	}
	if p.alt {
		digits = prefix + digits
	}
	if p.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return p.signed(digits, neg), nil
}

func (p spec) signed(digits string, neg bool) string {
	switch {
	case neg:
		return "-" + digits
	case p.sign == '+' || p.sign == ' ':
		return string(p.sign) + digits
	}
	return digits
}

func grouped(digits string, by byte) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + string(by) + digits[i:]
	}
	return digits
}

func (p spec) float(f float64) (string, error) {
	if p.alt {
		return "", errors.New("# of a float is not understood: leave it out")
	}
	neg := math.Signbit(f) && !math.IsNaN(f)
	a := math.Abs(f)
	prec := p.precision
	if prec < 0 {
		prec = 6
	}
	var s string
	switch p.verb {
	case 'f', 'F':
		s = strconv.FormatFloat(a, 'f', prec, 64)
	case 'e', 'E':
		s = strconv.FormatFloat(a, p.verb, prec, 64)
	case '%':
		s = strconv.FormatFloat(a*100, 'f', prec, 64) + "%"
	case 0:
		if p.precision >= 0 {
			return "", errors.New("a float with digits and no letter: write {:.2f} or {:.2g}")
		}
		s = floatText(a)
	case 'g', 'G':
		s = general(a, max(prec, 1))
	default:
		return "", errSpec
	}
	if math.IsInf(a, 0) || math.IsNaN(a) {
		s = strings.ToLower(strings.TrimPrefix(s, "+"))
	}
	if p.comma != 0 {
		whole, rest := s, ""
		if i := strings.IndexAny(s, ".e%"); i >= 0 {
			whole, rest = s[:i], s[i:]
		}
		s = grouped(whole, p.comma) + rest
	}
	if p.verb == 'G' || p.verb == 'E' || p.verb == 'F' {
		s = strings.ToUpper(s)
	}
	return p.signed(s, neg), nil
}

// general is %g of C and Python: exponents below -4 and from the precision on, zeros at the end left out.
func general(f float64, prec int) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	e := strconv.FormatFloat(f, 'e', prec-1, 64)
	mantissa, exp, _ := strings.Cut(e, "e")
	if x, err := strconv.Atoi(exp); err == nil && x >= -4 && x < prec {
		s := strconv.FormatFloat(f, 'f', prec-1-x, 64)
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "e" + exp
}

func (p spec) pad(s string, number bool) string {
	n := p.width - utf8.RuneCountInString(s)
	if n <= 0 {
		return s
	}
	align, fill := p.align, p.fill
	if p.zero && !p.filled {
		fill = '0'
	}
	if p.zero && align == 0 && number {
		align = '='
	}
	if align == 0 {
		align = '<'
		if number {
			align = '>'
		}
	}
	padding := func(k int) string { return strings.Repeat(string(fill), k) }
	switch align {
	case '<':
		return s + padding(n)
	case '^':
		return padding(n/2) + s + padding(n-n/2)
	case '=':
		before := 0 // sign and 0x
		if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
			before = 1
		}
		if p.alt && len(s) > before+1 && s[before] == '0' && strings.IndexByte("xXobB", s[before+1]) >= 0 {
			before += 2
		}
		return s[:before] + padding(n) + s[before:]
	}
	return padding(n) + s
}

// textFormat is str.format.
func textFormat(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(s) && s[i+1] == c:
			b.WriteByte(c)
			i += 2
			continue
		case c == '}':
			return nil, errors.New("format: a single }: write }} for a brace")
		case c != '{':
			end := i
			for end < len(s) && s[end] != '{' && s[end] != '}' {
				end++
			}
			b.WriteString(s[i:end])
			i = end
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 || strings.Contains(s[i+1:i+end], "{") {
			return nil, errors.New("format: a field that is not closed, or one in another: write {{ for a brace")
		}
		text, err := field(t, s[i+1:i+end], &next, args, kwargs)
		if err != nil {
			return nil, err
		}
		if err := charge(t, 1+len(text)/bytesAStep); err != nil {
			return nil, err
		}
		b.WriteString(text)
		i += end + 1
	}
	if err := chargeText(t, len(s)); err != nil {
		return nil, err
	}
	return starlark.String(b.String()), nil
}

// field is one replacement field: name, !r or !s, and a spec.
func field(t *starlark.Thread, s string, next *int, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	name, sp, _ := strings.Cut(s, ":")
	name, conv, has := strings.Cut(name, "!")
	name, key, indexed := strings.Cut(name, "[")
	if strings.Contains(name, ".") {
		return "", fmt.Errorf("format: a field of a field, {%s}: name the value itself", s)
	}
	if name == "" {
		name = strconv.Itoa(*next)
		*next++
	}
	v, err := fieldValue(name, args, kwargs)
	if err != nil {
		return "", err
	}
	if indexed {
		key = strings.TrimSuffix(key, "]")
		var k starlark.Value = starlark.String(key)
		if i, err := strconv.Atoi(key); err == nil {
			k = starlark.MakeInt(i)
		}
		if v, err = index(v, k); err != nil {
			return "", err
		}
	}
	if has {
		if v, err = converted(t, v, conv); err != nil {
			return "", err
		}
	}
	p, err := parseSpec(sp)
	if err != nil {
		return "", fmt.Errorf("format {%s}: %w", s, err)
	}
	out, err := p.format(t, v)
	if errors.Is(err, errSpec) {
		err = fmt.Errorf("format {%s}: %w", s, err)
	}
	return out, err
}

// fieldValue is the value that a field names, by its number or by its keyword.
func fieldValue(name string, args starlark.Tuple, kwargs []starlark.Tuple) (v starlark.Value, err error) {
	if i, err := strconv.Atoi(name); err == nil {
		if i >= len(args) {
			return nil, fmt.Errorf("format: there is no value %d (%d are given)", i, len(args))
		}
		return args[i], nil
	}
	for _, kv := range kwargs {
		if string(kv[0].(starlark.String)) == name {
			v = kv[1]
		}
	}
	if v == nil {
		return nil, fmt.Errorf("format: there is no value called %q", name)
	}
	return v, nil
}

// converted is a value as !r or !s of a field makes it: text.
func converted(t *starlark.Thread, v starlark.Value, conv string) (starlark.Value, error) {
	to := str
	switch conv {
	case "r":
		to = repr
	case "s":
	default:
		return nil, errSpec
	}
	text, err := to(t, v)
	return starlark.String(text), err
}

// percent is s % args.
func percent(t *starlark.Thread, s string, args starlark.Value) (string, error) {
	values := percentArgs{args: args, list: starlark.Tuple{args}}
	if list, tuple := args.(starlark.Tuple); tuple {
		values.list = list
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if strings.HasPrefix(s, "%") {
			b.WriteByte('%')
			s = s[1:]
			continue
		}
		v, rest, err := values.named(s)
		if err != nil {
			return "", err
		}
		s = rest
		end := strings.IndexAny(s, "sdifFeEgGxXorca")
		if end < 0 || strings.Trim(s[:end], "-+ #0123456789.") != "" {
			return "", fmt.Errorf("%%%s: the format is not understood; write %%%% for a percent sign", Cut(s, 10))
		}
		if v == nil {
			if v, err = values.next(); err != nil {
				return "", err
			}
		}
		text, err := verb(t, s[:end], s[end], v)
		if err != nil {
			return "", err
		}
		if err := charge(t, 1+len(text)/bytesAStep); err != nil {
			return "", err
		}
		b.WriteString(text)
		s = s[end+1:]
	}
	if _, isDict := args.(*starlark.Dict); !isDict && values.used < len(values.list) {
		return "", errors.New("not all values are used by the format")
	}
	if err := chargeText(t, len(s)); err != nil {
		return "", err
	}
	return b.String() + s, nil
}

// percentArgs are the values of a percent format, and how many of them were used.
type percentArgs struct {
	args starlark.Value
	list starlark.Tuple
	used int
}

// named is the value that (name) at the start of s asks for, and what follows it; nil where s does not start so.
func (a *percentArgs) named(s string) (starlark.Value, string, error) {
	if !strings.HasPrefix(s, "(") {
		return nil, s, nil
	}
	name, rest, ok := strings.Cut(s[1:], ")")
	d, isDict := a.args.(*starlark.Dict)
	if !ok || !isDict {
		return nil, "", errors.New("%(name)s asks for a dict")
	}
	a.used = len(a.list)
	v, err := index(d, starlark.String(name))
	return v, rest, err
}

// next is the next value in order.
func (a *percentArgs) next() (starlark.Value, error) {
	if a.used >= len(a.list) {
		return nil, errors.New("not enough values for the format")
	}
	a.used++
	return a.list[a.used-1], nil
}

// Cut shortens text for a message to n bytes or a little less, at a character.
func Cut(s string, n int) string {
	if len(s) > n {
		return s[:byteAt(s, n)] + "…"
	}
	return s
}

// verb writes one value as %flags verb asks.
func verb(t *starlark.Thread, flags string, c byte, v starlark.Value) (string, error) {
	p := percentSpec(flags, c)
	switch c {
	case 'a', 'c':
		return "", errSpec
	case 's', 'r':
		text, err := str(t, v)
		if c == 'r' {
			text, err = repr(t, v)
		}
		if err != nil {
			return "", err
		}
		p.verb, p.sign, p.alt = 's', 0, false
		if p.align == '>' && p.width == 0 {
			p.align = '<'
		}
		return p.format(t, starlark.String(text))
	case 'd', 'i':
		p.verb = 'd'
		if f, ok := v.(starlark.Float); ok {
			n, err := starlark.NumberToInt(f)
			if err != nil {
				return "", err
			}
			v = n
		}
		if b, ok := v.(starlark.Bool); ok {
			v = starlark.MakeInt(map[bool]int{true: 1}[bool(b)])
		}
	}
	switch v.(type) {
	case starlark.Int, starlark.Float:
		if _, isFloat := v.(starlark.Float); isFloat && strings.IndexByte("xXo", c) >= 0 {
			return "", fmt.Errorf("%%%c of a float, expected an int", c)
		}
		return p.format(t, v)
	}
	return "", fmt.Errorf("%%%c of %s, expected a number", c, KindName(v))
}

// percentSpec reads the flags between % and its verb.
func percentSpec(flags string, c byte) spec {
	rest := strings.TrimLeft(flags, "-+ #0")
	set := flags[:len(flags)-len(rest)]
	p := spec{fill: ' ', precision: -1, align: '>', verb: c, alt: strings.Contains(set, "#")}
	width, prec, dot := strings.Cut(rest, ".")
	p.width, _ = strconv.Atoi("0" + width)
	if dot {
		p.precision, _ = strconv.Atoi("0" + prec)
	}
	switch {
	case strings.Contains(set, "+"):
		p.sign = '+'
	case strings.Contains(set, " "):
		p.sign = ' '
	}
	switch {
	case strings.Contains(set, "-"):
		p.align = '<'
	case strings.Contains(set, "0") && c != 's' && c != 'r':
		p.align, p.fill = '=', '0'
	}
	return p
}
