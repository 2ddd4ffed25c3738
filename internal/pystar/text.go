package pystar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

type methodFunc[T any] func(t *starlark.Thread, s T, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// method calls x.name(args): of text as Python defines it, and with what is made charged.
func method(t *starlark.Thread, x starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return newCaller(name).call(t, x, args, kwargs)
}

// A caller calls the methods of one name, which are looked up once.
type caller struct {
	name string
	text methodFunc[string]
	list methodFunc[*starlark.List]
	dict methodFunc[*starlark.Dict]
}

func newCaller(name string) *caller {
	return &caller{name, textMethods[name], listMethods[name], dictMethods[name]}
}

func (c *caller) call(t *starlark.Thread, x starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	switch v := x.(type) {
	case starlark.String:
		if c.text != nil {
			return c.text(t, string(v), args, kwargs)
		}
	case *starlark.List:
		if c.name == "append" && len(args) == 1 && len(kwargs) == 0 {
			return starlark.None, v.Append(args[0])
		}
		if c.list != nil {
			return c.list(t, v, args, kwargs)
		}
	case *starlark.Dict:
		if found, ok, err := quick(v, c.name, args, kwargs); ok || err != nil {
			return found, err
		}
		if c.dict != nil {
			return c.dict(t, v, args, kwargs)
		}
	}
	if h, ok := x.(starlark.HasAttrs); ok {
		f, err := h.Attr(c.name)
		if err != nil {
			return nil, err
		}
		if f != nil {
			if err := charge(t, length(x)); err != nil {
				return nil, err
			}
			return starlark.Call(t, f, args, kwargs)
		}
	}
	return nil, fmt.Errorf("%s has no method %s%s", KindName(x), c.name, noneHint(x))
}

// quick is get and pop of a dict, which every map function calls, without the detour of a bound method; ok is false where it is neither, or
// the key does not exist.
func quick(d *starlark.Dict, name string, args starlark.Tuple, kwargs []starlark.Tuple) (v starlark.Value, ok bool, err error) {
	if len(kwargs) > 0 || len(args) == 0 || len(args) > 2 {
		return nil, false, nil
	}
	switch name {
	case "get":
		return d.Get(args[0])
	case "pop":
		return d.Delete(args[0])
	}
	return nil, false, nil
}

var textMethods map[string]methodFunc[string]

// makeTextMethods fills textMethods.
func makeTextMethods() {
	textMethods = map[string]methodFunc[string]{
		"replace": textReplace, "join": textJoin, "format": textFormat,
		"split": textSplit, "rsplit": textRsplit, "splitlines": textSplitlines,
		"strip": func(t *starlark.Thread, s string, a starlark.Tuple, k []starlark.Tuple) (starlark.Value, error) {
			return textStrip(t, s, a, k, true, true)
		},
		"lstrip": func(t *starlark.Thread, s string, a starlark.Tuple, k []starlark.Tuple) (starlark.Value, error) {
			return textStrip(t, s, a, k, true, false)
		},
		"rstrip": func(t *starlark.Thread, s string, a starlark.Tuple, k []starlark.Tuple) (starlark.Value, error) {
			return textStrip(t, s, a, k, false, true)
		},
		"find": find(false, false), "rfind": find(true, false), "index": find(false, true), "rindex": find(true, true),
		"count":      textCount,
		"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix),
		"lower": mapped(lower), "upper": mapped(upper), "capitalize": mapped(capitalize), "title": mapped(title),
		"swapcase": mapped(swapcase), "casefold": mapped(casefold),
		"isdigit": all(isDigit), "isdecimal": all(func(r rune) bool { return unicode.Is(unicode.Nd, r) }), "isnumeric": all(unicode.IsNumber),
		"isalpha": all(unicode.IsLetter), "isalnum": all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }), "isspace": all(isSpace),
		"isupper": cased(true), "islower": cased(false), "istitle": refuse[string]("istitle"),
		"isascii": func(_ *starlark.Thread, s string, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return starlark.Bool(isASCII(s)), nil
		},
		"partition": partition(false), "rpartition": partition(true),
		"removeprefix": trim(strings.TrimPrefix), "removesuffix": trim(strings.TrimSuffix),
		"zfill": textZfill, "ljust": justify('<'), "rjust": justify('>'), "center": justify('^'),
		"encode": refuse[string]("encode"), "translate": refuse[string]("translate"), "expandtabs": refuse[string]("expandtabs"),
		"isidentifier": refuse[string]("isidentifier"), "isprintable": refuse[string]("isprintable"), "format_map": refuse[string]("format_map"),
	}
}

// refuse is a method of Python's that is not here.
func refuse[T any](name string) methodFunc[T] {
	return func(*starlark.Thread, T, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, fmt.Errorf("method %s is not here", name)
	}
}

// isSpace is str.isspace of one character (Python 3.12).
func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1c && r <= ' ', r == 0x85, r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a,
		r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

// isDigit is str.isdigit of one character: decimal digits, and superscripts and the like.
func isDigit(r rune) bool {
	return unicode.Is(unicode.Nd, r) || unicode.Is(digitsNo, r)
}

// digitsNo are the characters of category No whose Numeric_Type is Digit.
var digitsNo = &unicode.RangeTable{R16: []unicode.Range16{{0xb2, 0xb3, 1}, {0xb9, 0xb9, 1}, {0x1369, 0x1371, 1}, {0x19da, 0x19da, 1}, {0x2070, 0x2070, 1},
	{0x2074, 0x2079, 1}, {0x2080, 0x2089, 1}, {0x2460, 0x2468, 1}, {0x2474, 0x247c, 1}, {0x2488, 0x2490, 1}, {0x24ea, 0x24ea, 1}, {0x24f5, 0x24fd, 1},
	{0x24ff, 0x24ff, 1}, {0x2776, 0x277e, 1}, {0x2780, 0x2788, 1}, {0x278a, 0x2792, 1}},
	R32: []unicode.Range32{{0x10a40, 0x10a43, 1}, {0x10e60, 0x10e68, 1}, {0x11052, 0x1105a, 1}, {0x1f100, 0x1f10a, 1}}}

func all(is func(rune) bool) methodFunc[string] {
	return func(_ *starlark.Thread, s string, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		for _, r := range s {
			if !is(r) {
				return starlark.False, nil
			}
		}
		return starlark.Bool(s != ""), nil
	}
}

// isUpper and isLower are Unicode's derived properties, which have letters in circles, Roman numerals and the like too.
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

func cased(up bool) methodFunc[string] {
	return func(_ *starlark.Thread, s string, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		some := false
		for _, r := range s {
			switch {
			case isUpper(r), isLower(r):
				if isUpper(r) != up {
					return starlark.False, nil
				}
				some = true
			case unicode.IsTitle(r):
				return starlark.False, nil
			}
		}
		return starlark.Bool(some), nil
	}
}

func mapped(f func(string) string) methodFunc[string] {
	return func(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args)+len(kwargs) > 0 {
			return nil, errors.New("the method takes no argument")
		}
		if err := chargeText(t, len(s)); err != nil {
			return nil, err
		}
		return starlark.String(f(s)), nil
	}
}

// The mappings are those of Unicode in full (ß becomes SS, a final Σ ς), as Python's are.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func casefold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

func titled(r string) string {
	if isASCII(r) {
		return strings.ToUpper(r)
	}
	return cases.Title(language.Und, cases.NoLower).String(r)
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	_, w := utf8.DecodeRuneInString(s)
	low := lower(s)
	if lw := len(lower(s[:w])); lw <= len(low) {
		return titled(s[:w]) + low[lw:]
	}
	return titled(s[:w]) + lower(s[w:])
}

func title(s string) string {
	var b strings.Builder
	word := 0 // where the run of letters with case begins, plus 1
	flush := func(end int) {
		if word > 0 {
			b.WriteString(capitalize(s[word-1 : end]))
			word = 0
		}
	}
	for i, r := range s {
		if isUpper(r) || isLower(r) || unicode.IsTitle(r) {
			if word == 0 {
				word = i + 1
			}
			continue
		}
		flush(i)
		b.WriteRune(r)
	}
	flush(len(s))
	return b.String()
}

func swapcase(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 'Σ': // ς at the end of a word
			low, at := lower(s), len(lower(s[:i]))
			b.WriteString(low[at : at+len("ς")])
		case isUpper(r):
			b.WriteString(lower(string(r)))
		case isLower(r):
			b.WriteString(upper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func textReplace(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var old, with string
	count := -1
	if err := starlark.UnpackArgs("replace", args, kwargs, "old", &old, "new", &with, "count?", &count); err != nil {
		return nil, err
	}
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	if len(with) > 0 && n > (1<<40)/len(with) {
		return nil, ErrTooMuch
	}
	if err := chargeText(t, len(s)+n*len(with)); err != nil {
		return nil, err
	}
	return starlark.String(strings.Replace(s, old, with, count)), nil
}

func textJoin(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var it starlark.Iterable
	args, err := spelled(t, "list", args)
	if err != nil {
		return nil, err
	}
	if err := starlark.UnpackPositionalArgs("join", args, kwargs, 1, &it); err != nil {
		return nil, err
	}
	var b strings.Builder
	iter := it.Iterate()
	defer iter.Done()
	n := 0
	for e := starlark.Value(nil); iter.Next(&e); n++ {
		part, ok := e.(starlark.String)
		if !ok {
			return nil, fmt.Errorf("join: element %d is %s, expected text", n, KindName(e))
		}
		if err := charge(t, 1+(len(s)+len(part))/bytesAStep); err != nil {
			return nil, err
		}
		if n > 0 {
			b.WriteString(s)
		}
		b.WriteString(string(part))
	}
	return starlark.String(b.String()), nil
}

func textList(t *starlark.Thread, parts []string) (starlark.Value, error) {
	if err := charge(t, len(parts)); err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(parts))
	for i, p := range parts {
		out[i] = starlark.String(p)
	}
	return starlark.NewList(out), nil
}

// splitArgs reads sep and maxsplit.
func splitArgs(name string, args starlark.Tuple, kwargs []starlark.Tuple) (sep string, some bool, most int, err error) {
	var v starlark.Value = starlark.None
	most = -1
	if err := starlark.UnpackArgs(name, args, kwargs, "sep?", &v, "maxsplit?", &most); err != nil {
		return "", false, 0, err
	}
	switch x := v.(type) {
	case starlark.NoneType:
		return "", false, most, nil
	case starlark.String:
		if x == "" {
			return "", false, 0, fmt.Errorf("%s: the separator is empty", name)
		}
		return string(x), true, most, nil
	}
	return "", false, 0, fmt.Errorf("%s: the separator is %s, expected text", name, KindName(v))
}

func textSplit(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sep, some, most, err := splitArgs("split", args, kwargs)
	if err != nil {
		return nil, err
	}
	if some {
		if err := charge(t, strings.Count(s, sep)); err != nil {
			return nil, err
		}
		return textList(t, strings.SplitN(s, sep, limitOf(most)))
	}
	var parts []string
	rest := strings.TrimLeftFunc(s, isSpace)
	for rest != "" {
		if uint64(len(parts)) > budget(t) {
			return nil, ErrTooMuch
		}
		end := strings.IndexFunc(rest, isSpace)
		if end < 0 || most >= 0 && len(parts) >= most {
			parts = append(parts, rest)
			break
		}
		parts = append(parts, rest[:end])
		rest = strings.TrimLeftFunc(rest[end:], isSpace)
	}
	return textList(t, parts)
}

func limitOf(most int) int {
	if most < 0 {
		return -1
	}
	return most + 1
}

func textRsplit(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sep, some, most, err := splitArgs("rsplit", args, kwargs)
	if err != nil {
		return nil, err
	}
	if err := charge(t, len(s)/bytesAStep); err != nil {
		return nil, err
	}
	var parts []string
	rest := s
	if !some {
		rest = strings.TrimRightFunc(rest, isSpace)
	}
	for some || rest != "" {
		if uint64(len(parts)) > budget(t) {
			return nil, ErrTooMuch
		}
		i, w := strings.LastIndexFunc(rest, isSpace), 0
		if some {
			i, w = strings.LastIndex(rest, sep), len(sep)
		} else if i >= 0 {
			_, w = utf8.DecodeRuneInString(rest[i:])
		}
		if i < 0 || most >= 0 && len(parts) >= most {
			parts = append(parts, rest)
			break
		}
		parts, rest = append(parts, rest[i+w:]), rest[:i]
		if !some {
			rest = strings.TrimRightFunc(rest, isSpace)
		}
	}
	slices.Reverse(parts)
	return textList(t, parts)
}

func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

func textSplitlines(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	keep := false
	if err := starlark.UnpackArgs("splitlines", args, kwargs, "keepends?", &keep); err != nil {
		return nil, err
	}
	var parts []string
	for s != "" {
		if uint64(len(parts)) > budget(t) {
			return nil, ErrTooMuch
		}
		i := strings.IndexFunc(s, isLineEnd)
		if i < 0 {
			parts = append(parts, s)
			break
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			w = 2
		}
		end := i
		if keep {
			end = i + w
		}
		parts = append(parts, s[:end])
		s = s[i+w:]
	}
	return textList(t, parts)
}

func textStrip(_ *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple, left, right bool) (starlark.Value, error) {
	var v starlark.Value = starlark.None
	if err := starlark.UnpackPositionalArgs("strip", args, kwargs, 0, &v); err != nil {
		return nil, err
	}
	is := isSpace
	switch x := v.(type) {
	case starlark.NoneType:
	case starlark.String:
		is = func(r rune) bool { return strings.ContainsRune(string(x), r) }
	default:
		return nil, fmt.Errorf("strip of %s, expected text", KindName(v))
	}
	if left {
		s = strings.TrimLeftFunc(s, is)
	}
	if right {
		s = strings.TrimRightFunc(s, is)
	}
	return starlark.String(s), nil
}

// window returns the part of s that start and end choose, and where it begins, in characters and in bytes; ok is false where start lies
// behind the end.
func window(s string, args starlark.Tuple) (part string, chars, bytes int, ok bool, err error) {
	var lo, hi starlark.Value = starlark.None, starlark.None
	if len(args) > 0 {
		lo = args[0]
	}
	if len(args) > 1 {
		hi = args[1]
	}
	if lo == starlark.None && hi == starlark.None {
		return s, 0, 0, true, nil
	}
	n := utf8.RuneCountInString(s)
	if i, isInt := lo.(starlark.Int); isInt {
		if k, fits := i.Int64(); !fits && i.Sign() > 0 || fits && k > int64(n) {
			return "", 0, 0, false, nil
		}
	}
	from, to, _, err := bounds(n, lo, hi, starlark.None)
	if err != nil || from > to {
		return "", 0, 0, false, err
	}
	at := byteAt(s, from)
	return s[at:byteAt(s, to)], from, at, true, nil
}

func find(last, must bool) methodFunc[string] {
	return func(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		sub, err := subject(args, kwargs)
		if err != nil {
			return nil, err
		}
		if err := chargeText(t, len(s)); err != nil {
			return nil, err
		}
		part, from, _, ok, err := window(s, args[1:])
		if err != nil {
			return nil, err
		}
		i := -1
		if ok && last {
			i = strings.LastIndex(part, sub)
		} else if ok {
			i = strings.Index(part, sub)
		}
		if i >= 0 {
			return starlark.MakeInt(from + utf8.RuneCountInString(part[:i])), nil
		}
		if must {
			return nil, fmt.Errorf("%q is not in the text", sub)
		}
		return starlark.MakeInt(-1), nil
	}
}

// subject is the first argument, which is text.
func subject(args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	if len(args) == 0 || len(args) > 3 || len(kwargs) > 0 {
		return "", errors.New("expected a text, and at most start and end")
	}
	s, ok := args[0].(starlark.String)
	if !ok {
		return "", fmt.Errorf("expected text, got %s", KindName(args[0]))
	}
	return string(s), nil
}

func textCount(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sub, err := subject(args, kwargs)
	if err != nil {
		return nil, err
	}
	if err := chargeText(t, len(s)); err != nil {
		return nil, err
	}
	part, _, _, ok, err := window(s, args[1:])
	if err != nil || !ok {
		return starlark.MakeInt(0), err
	}
	return starlark.MakeInt(strings.Count(part, sub)), nil
}

func affix(has func(s, part string) bool) methodFunc[string] {
	return func(_ *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 0 || len(args) > 3 || len(kwargs) > 0 {
			return nil, errors.New("expected a text or a tuple of texts, and at most start and end")
		}
		part, _, _, ok, err := window(s, args[1:])
		if err != nil || !ok {
			return starlark.False, err
		}
		list, tuple := args[0].(starlark.Tuple)
		if !tuple {
			list = starlark.Tuple{args[0]}
		}
		for _, e := range list {
			sub, ok := e.(starlark.String)
			if !ok {
				return nil, fmt.Errorf("expected text or a tuple of texts, got %s", KindName(e))
			}
			if has(part, string(sub)) {
				return starlark.True, nil
			}
		}
		return starlark.False, nil
	}
}

func partition(last bool) methodFunc[string] {
	return func(_ *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var sep string
		if err := starlark.UnpackPositionalArgs("partition", args, kwargs, 1, &sep); err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, errors.New("the separator is empty")
		}
		i := strings.Index(s, sep)
		if last {
			i = strings.LastIndex(s, sep)
		}
		switch {
		case i >= 0:
			return starlark.Tuple{starlark.String(s[:i]), starlark.String(sep), starlark.String(s[i+len(sep):])}, nil
		case last:
			return starlark.Tuple{starlark.String(""), starlark.String(""), starlark.String(s)}, nil
		}
		return starlark.Tuple{starlark.String(s), starlark.String(""), starlark.String("")}, nil
	}
}

func trim(f func(s, part string) string) methodFunc[string] {
	return func(_ *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var part string
		if err := starlark.UnpackPositionalArgs("removeprefix", args, kwargs, 1, &part); err != nil {
			return nil, err
		}
		return starlark.String(f(s, part)), nil
	}
}

func textZfill(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var width int
	if err := starlark.UnpackPositionalArgs("zfill", args, kwargs, 1, &width); err != nil {
		return nil, err
	}
	pad := width - utf8.RuneCountInString(s)
	if pad <= 0 {
		return starlark.String(s), nil
	}
	if err := chargeText(t, width); err != nil {
		return nil, err
	}
	sign := ""
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		sign, s = s[:1], s[1:]
	}
	return starlark.String(sign + strings.Repeat("0", pad) + s), nil
}

func justify(align byte) methodFunc[string] {
	return func(t *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		width, fill := 0, " "
		if err := starlark.UnpackPositionalArgs("ljust", args, kwargs, 1, &width, &fill); err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(fill) != 1 {
			return nil, errors.New("what fills is one character")
		}
		pad := width - utf8.RuneCountInString(s)
		if pad <= 0 {
			return starlark.String(s), nil
		}
		if err := chargeText(t, width*len(fill)); err != nil {
			return nil, err
		}
		before := pad
		switch align {
		case '<':
			before = 0
		case '^': // as Python puts the odd one
			before = pad/2 + pad&width&1
		}
		return starlark.String(strings.Repeat(fill, before) + s + strings.Repeat(fill, pad-before)), nil
	}
}
