package pystar

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
)

// predeclared are the names that a script has, beside what it defines.
var predeclared starlark.StringDict

func init() { // in this order: each needs the one before
	makeTextMethods()
	makeOperators()
	makePredeclared()
}

func makePredeclared() {
	predeclared = starlark.StringDict{
		"re": reModule, "json": jsonModule, "math": mathModule,
		"len": builtin("len", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 1 {
				if s, ok := args[0].(starlark.String); ok {
					return starlark.MakeInt(runes(string(s))), nil
				}
				if args[0] == starlark.None {
					return nil, errors.New("len of None: the value is null in this row")
				}
			}
			return starlark.Universe["len"].(*starlark.Builtin).CallInternal(nil, args, kwargs)
		}),
		"str": builtin("str", func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var v starlark.Value = starlark.String("")
			if err := starlark.UnpackPositionalArgs("str", args, kwargs, 0, &v); err != nil {
				return nil, err
			}
			s, err := str(t, v)
			return starlark.String(s), err
		}),
		"repr": builtin("repr", func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var v starlark.Value
			if err := starlark.UnpackPositionalArgs("repr", args, kwargs, 1, &v); err != nil {
				return nil, err
			}
			s, err := repr(t, v)
			return starlark.String(s), err
		}),
		"int": builtin("int", toInt), "float": builtin("float", toFloat),
		"range": builtin("range", bounded("range")),
		"round": builtin("round", round), "sum": builtin("sum", sum), "pow": builtin("pow", power), "divmod": builtin("divmod", divmod),
		"isinstance": builtin("isinstance", isInstance), "print": builtin("print", printed),
		"type":    unavailable("type", "type(x) is a name in Starlark and a class in Python: write isinstance(x, str)"),
		"getattr": unavailable("getattr", "getattr is not here"), "hasattr": unavailable("hasattr", "hasattr is not here"), "dir": unavailable("dir", "dir is not here"),
		"hash": unavailable("hash", "hash is not here: Python's differs from run to run"),
		"set":  unavailable("set", "sets are not supported in Starlark: use a dict with True for values, or a list"),
	}
	for _, name := range []string{"list", "tuple", "sorted", "enumerate", "zip", "reversed", "max", "min", "any", "all", "dict", "bytes"} {
		predeclared[name] = builtin(name, bounded(name))
	}
	makeMethods()
	for name, f := range operators {
		predeclared[name] = f
	}
}

// makeMethods fills methods, and the operators that call them.
func makeMethods() {
	for name := range textMethods {
		methods[name] = true
	}
	for name := range listMethods {
		methods[name] = true
	}
	for name := range dictMethods {
		methods[name] = true
	}
	for name := range methods {
		c := newCaller(name)
		operators[opMethod+name] = starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return c.call(t, a[0], a[1:], kwargs)
		})
	}
}

func builtin(name string, f builtinFunc) *starlark.Builtin { return starlark.NewBuiltin(name, f) }

func unavailable(name, why string) *starlark.Builtin {
	return builtin(name, func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, errors.New(why)
	})
}

func runes(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return len([]rune(s))
}

// bounded is a builtin of Starlark's, with the elements that it goes over charged.
func bounded(name string) builtinFunc {
	f := starlark.Universe[name].(*starlark.Builtin)
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		n := 0
		for _, a := range args {
			if a == starlark.None && name != "dict" && name != "max" && name != "min" {
				return nil, fmt.Errorf("%s of None: the value is null in this row", name)
			}
			n += length(a)
		}
		if err := charge(t, n); err != nil {
			return nil, err
		}
		args, err := spelled(t, name, args)
		if err != nil {
			return nil, err
		}
		out, err := f.CallInternal(t, args, kwargs)
		if err == nil && name == "range" && uint64(starlark.Len(out)) > budget(t) {
			return nil, &LimitError{fmt.Sprintf("a range of %d: a row may take %d steps", starlark.Len(out), MaxSteps)}
		}
		return out, err
	}
}

// spelled is args with lists of characters in place of text, where Python goes over them.
func spelled(t *starlark.Thread, name string, args starlark.Tuple) (starlark.Tuple, error) {
	switch name {
	case "list", "tuple", "sorted", "enumerate", "zip", "reversed", "any", "all":
	case "max", "min":
		if len(args) != 1 {
			return args, nil
		}
	default:
		return args, nil
	}
	copied := false
	for i, a := range args {
		s, ok := a.(starlark.String)
		if !ok || name == "enumerate" && i > 0 {
			continue
		}
		if !copied {
			args, copied = slices.Clone(args), true
		}
		var err error
		if args[i], err = characters(t, s); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// characters is text as a list of its characters.
func characters(t *starlark.Thread, s starlark.String) (*starlark.List, error) {
	if err := charge(t, len(s)); err != nil {
		return nil, err
	}
	out := make([]starlark.Value, 0, len(s))
	for _, r := range string(s) {
		out = append(out, starlark.String(r))
	}
	return starlark.NewList(out), nil
}

// iterated is what a loop goes over: of text its characters.
func iterated(t *starlark.Thread, x starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case starlark.String:
		return characters(t, x)
	case starlark.NoneType:
		return nil, errors.New("a loop over None: the value is null in this row")
	}
	return x, nil
}

// divmod is Python's: x // y and x % y.
func divmod(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y starlark.Value
	if err := starlark.UnpackPositionalArgs("divmod", args, kwargs, 2, &x, &y); err != nil {
		return nil, err
	}
	for _, v := range []starlark.Value{x, y} {
		if _, ok := starlark.AsFloat(v); !ok {
			return nil, fmt.Errorf("divmod of %s and %s, expected numbers", KindName(x), KindName(y))
		}
	}
	q, err := floorDiv(t, x, y)
	if err != nil {
		return nil, err
	}
	r, err := remainder(x, y)
	return starlark.Tuple{q, r}, err
}

// number reads text as Python's int() and float() do: blanks around it, underscores between digits, digits of any script.
func number(s string) (string, bool) {
	s = strings.TrimFunc(s, isSpace)
	var b strings.Builder
	last := rune(0)
	for i, r := range s {
		if r == '_' {
			if !unicode.IsDigit(last) || i+1 == len(s) {
				return "", false
			}
			last = r
			continue
		}
		if last == '_' && !unicode.IsDigit(r) {
			return "", false
		}
		last = r
		if r >= 0x80 && unicode.Is(unicode.Nd, r) {
			b.WriteByte(byte('0' + digitValue(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

// digitValue is the value of a decimal digit: those of a script follow one another from 0.
func digitValue(r rune) rune {
	zero := r
	for unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
		zero--
	}
	return r - zero
}

// maxDigits is how many digits Python reads as an integer: more take long.
const maxDigits = 4300

func toInt(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 && len(kwargs) == 0 {
		switch x := args[0].(type) {
		case starlark.String:
			if len(x) > maxDigits { // Python's bound, but for blanks around them
				return nil, fmt.Errorf("int of a text of %d bytes: an integer has at most %d digits", len(x), maxDigits)
			}
			s, ok := number(string(x))
			i, good := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 10)
			if !ok || !good || strings.HasPrefix(s, "++") || strings.HasPrefix(s, "+-") {
				return nil, fmt.Errorf("int of %s, which is no integer", Cut(x.String(), 60))
			}
			return starlark.MakeBigInt(i), nil
		case starlark.NoneType:
			return nil, errors.New("int of None: the value is null in this row")
		}
	}
	return starlark.Universe["int"].(*starlark.Builtin).CallInternal(t, args, kwargs)
}

func toFloat(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 && len(kwargs) == 0 {
		switch x := args[0].(type) {
		case starlark.String:
			s, ok := number(string(x))
			f, err := strconv.ParseFloat(s, 64)
			if errors.Is(err, strconv.ErrRange) {
				err = nil
			}
			if !ok || err != nil || strings.ContainsAny(s, "xXpP") {
				return nil, fmt.Errorf("float of %s, which is no number", Cut(x.String(), 60))
			}
			return starlark.Float(f), nil
		case starlark.NoneType:
			return nil, errors.New("float of None: the value is null in this row")
		}
	}
	return starlark.Universe["float"].(*starlark.Builtin).CallInternal(t, args, kwargs)
}

func round(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	var digits starlark.Value = starlark.None
	if err := starlark.UnpackArgs("round", args, kwargs, "number", &x, "ndigits?", &digits); err != nil {
		return nil, err
	}
	if i, ok := x.(starlark.Int); ok {
		if n, err := starlark.AsInt32(digits); digits == starlark.None || err == nil && n >= 0 {
			return i, nil
		}
		return nil, errors.New("round of an int to a number of digits below 0")
	}
	f, ok := x.(starlark.Float)
	if !ok {
		return nil, fmt.Errorf("round of %s, expected a float", KindName(x))
	}
	if digits == starlark.None {
		return starlark.NumberToInt(starlark.Float(math.RoundToEven(float64(f))))
	}
	n, err := starlark.AsInt32(digits)
	if err != nil || n < 0 || n > 300 {
		return nil, errors.New("round to a number of digits below 0")
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'f', n, 64), 64)
	return starlark.Float(out), err
}

func sum(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var it starlark.Iterable
	var total starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs("sum", args, kwargs, "iterable", &it, "start?", &total); err != nil {
		return nil, err
	}
	if err := charge(t, length(it)); err != nil {
		return nil, err
	}
	if _, ok := total.(starlark.String); ok {
		return nil, errors.New("sum of texts: write \"\".join(list)")
	}
	iter := it.Iterate()
	defer iter.Done()
	for e := starlark.Value(nil); iter.Next(&e); {
		if b, ok := e.(starlark.Bool); ok {
			e = starlark.MakeInt(map[bool]int{true: 1}[bool(b)])
		}
		var err error
		if total, err = add(t, total, e); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func power(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y starlark.Value
	if err := starlark.UnpackPositionalArgs("pow", args, kwargs, 2, &x, &y); err != nil {
		return nil, err
	}
	a, ok1 := x.(starlark.Int)
	b, ok2 := y.(starlark.Int)
	if ok1 && ok2 && b.Sign() >= 0 {
		n, ok := b.Int64()
		if !ok || n > maxBits || int(n)*bits(a) > maxBits || charge(t, int(n)*bits(a)/64) != nil {
			return nil, ErrTooMuch
		}
		return starlark.MakeBigInt(new(big.Int).Exp(a.BigInt(), b.BigInt(), nil)), nil
	}
	f, ok1 := starlark.AsFloat(x)
	g, ok2 := starlark.AsFloat(y)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("pow of %s and %s, expected numbers", KindName(x), KindName(y))
	}
	return ofFloats("pow", math.Pow(f, g), f, g)
}

// isInstance is isinstance for the classes that are builtins here.
func isInstance(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, class starlark.Value
	if err := starlark.UnpackPositionalArgs("isinstance", args, kwargs, 2, &x, &class); err != nil {
		return nil, err
	}
	classes, ok := class.(starlark.Tuple)
	if !ok {
		classes = starlark.Tuple{class}
	}
	for _, c := range classes {
		b, ok := c.(*starlark.Builtin)
		if !ok {
			return nil, errors.New("isinstance knows str, int, float, bool, list, dict, tuple, bytes")
		}
		is := false
		switch x.(type) {
		case starlark.String:
			is = b.Name() == "str"
		case starlark.Int:
			is = b.Name() == "int"
		case starlark.Bool:
			is = b.Name() == "bool" || b.Name() == "int"
		case starlark.Float:
			is = b.Name() == "float"
		case *starlark.List:
			is = b.Name() == "list"
		case *starlark.Dict:
			is = b.Name() == "dict"
		case starlark.Tuple:
			is = b.Name() == "tuple"
		case starlark.Bytes:
			is = b.Name() == "bytes"
		}
		if is {
			return starlark.True, nil
		}
	}
	return starlark.False, nil
}

// printed says what print is given, where the run shows it.
func printed(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	parts := make([]string, len(args))
	for i, a := range args {
		var err error
		if parts[i], err = str(t, a); err != nil {
			return nil, err
		}
	}
	if w, ok := t.Local("worker").(*Worker); ok && w.prog.Print != nil {
		w.prog.Print(strings.Join(parts, " "))
	}
	return starlark.None, nil
}

var listMethods = map[string]methodFunc[*starlark.List]{
	"extend": func(t *starlark.Thread, l *starlark.List, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var y starlark.Value
		if err := starlark.UnpackPositionalArgs("extend", args, kwargs, 1, &y); err != nil {
			return nil, err
		}
		return starlark.None, extend(t, l, y)
	},
	"copy": func(t *starlark.Thread, l *starlark.List, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return starlark.NewList(elements(l)), charge(t, l.Len())
	},
	"reverse": func(t *starlark.Thread, l *starlark.List, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		all := elements(l)
		slices.Reverse(all)
		return starlark.None, replace(t, l, all)
	},
	"sort": func(t *starlark.Thread, l *starlark.List, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 0 {
			return nil, errors.New("sort takes key= and reverse=")
		}
		v, err := bounded("sorted")(t, nil, starlark.Tuple{l}, kwargs)
		if err != nil {
			return nil, err
		}
		return starlark.None, replace(t, l, elements(v.(*starlark.List)))
	},
	"count": func(t *starlark.Thread, l *starlark.List, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var x starlark.Value
		if err := starlark.UnpackPositionalArgs("count", args, kwargs, 1, &x); err != nil {
			return nil, err
		}
		n := 0
		for _, e := range elements(l) {
			same, err := starlark.Equal(e, x)
			if err != nil {
				return nil, err
			}
			if same {
				n++
			}
		}
		return starlark.MakeInt(n), charge(t, l.Len())
	},
}

// replace gives a list other elements, as many.
func replace(t *starlark.Thread, l *starlark.List, with []starlark.Value) error {
	if err := charge(t, len(with)); err != nil {
		return err
	}
	for i, v := range with {
		if err := l.SetIndex(i, v); err != nil {
			return err
		}
	}
	return nil
}

var dictMethods = map[string]methodFunc[*starlark.Dict]{
	"copy": func(t *starlark.Thread, d *starlark.Dict, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		out := starlark.NewDict(d.Len())
		for _, kv := range d.Items() {
			if err := out.SetKey(kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
		return out, charge(t, d.Len())
	},
	"popitem": func(t *starlark.Thread, d *starlark.Dict, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) { // Python takes the last
		if d.Len() == 0 {
			return nil, errors.New("popitem of an empty dict")
		}
		if err := charge(t, d.Len()); err != nil {
			return nil, err
		}
		items := d.Items()
		last := items[len(items)-1]
		_, _, err := d.Delete(last[0])
		return last, err
	},
	"update": nil, "items": nil, "keys": nil, "values": nil, // Starlark's, charged by their length
}
