package pystar

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The bounds of one row. What a step makes is charged as steps: a step for each bytesAStep bytes of text and for each element of a list,
// so that one bound holds time and memory.
const (
	MaxSteps   = 2_000_000 // of one call
	MaxDepth   = 64        // of lists and dicts in each other
	bytesAStep = 32
	maxBits    = 1 << 17 // of an int: beyond, single operations take long
)

// charge counts what an operation makes, and refuses it where the row's steps do not hold so much: before it is made.
func charge(t *starlark.Thread, n int) error {
	if n < 0 || uint64(n) > budget(t) {
		return ErrTooMuch
	}
	t.Steps += uint64(n)
	return nil
}

func chargeText(t *starlark.Thread, bytes int) error { return charge(t, bytes/bytesAStep) }

// ErrTooMuch is the error for values that take more memory than a call may use.
var ErrTooMuch = &LimitError{"it makes more than a row may: text or lists too large"}

// A LimitError is a bound that was met. It ends the run: the next row would meet it too.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

// budget is the number of steps that are left in this row.
func budget(t *starlark.Thread) uint64 {
	w, ok := t.Local("worker").(*Worker)
	if !ok || t.Steps >= w.end {
		return 0
	}
	return w.end - t.Steps
}

type builtinFunc = func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// operators are the builtins that rewritten operations call.
var operators = starlark.StringDict{}

// makeOperators fills operators.
func makeOperators() {
	for name, f := range map[string]builtinFunc{
		opAdd: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return add(t, a[0], a[1])
		},
		opMul: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return mul(t, a[0], a[1])
		},
		opMod: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return mod(t, a[0], a[1])
		},
		opIndex: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return index(a[0], a[1])
		},
		opSlice: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return sliceOf(t, a[0], a[1], a[2], a[3])
		},
		opAddTo: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return addTo(t, a[0], a[1])
		},
		opAddToAt: addToAt,
		opFloor: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return floorDiv(t, a[0], a[1])
		},
		opIter: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return iterated(t, a[0])
		},
		opBound: func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			x, name := a[0], string(a[1].(starlark.String))
			return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				return method(t, x, name, args, kwargs)
			}), nil
		},
	} {
		operators[name] = starlark.NewBuiltin(name, f)
	}
}

func add(t *starlark.Thread, x, y starlark.Value) (starlark.Value, error) {
	if a, ok := x.(starlark.String); ok {
		b, ok := y.(starlark.String)
		if !ok {
			return nil, fmt.Errorf("text + %s: make it text first, str(x)%s", KindName(y), noneHint(y))
		}
		if err := chargeText(t, len(a)+len(b)); err != nil {
			return nil, err
		}
		return a + b, nil
	}
	if _, ok := y.(starlark.String); ok {
		return nil, fmt.Errorf("%s + text: make it text first, str(x)%s", KindName(x), noneHint(x))
	}
	if err := chargeBoth(t, x, y); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.PLUS, x, y)
}

func noneHint(v starlark.Value) string {
	if v == starlark.None {
		return ", or leave rows without it out: 'if x == None: return None'"
	}
	return ""
}

// chargeBoth charges what a new list, text or number of both would hold.
func chargeBoth(t *starlark.Thread, x, y starlark.Value) error {
	if a, ok := x.(starlark.Int); ok {
		if b, ok := y.(starlark.Int); ok {
			if bits(a)+bits(b) > maxBits {
				return ErrTooMuch
			}
			return charge(t, (bits(a)+bits(b))/(8*bytesAStep))
		}
	}
	return charge(t, length(x)+length(y))
}

func bits(i starlark.Int) int {
	if n, ok := i.Int64(); ok && n > -1<<31 && n < 1<<31 {
		return 32
	}
	return i.BigInt().BitLen()
}

// length is the number of elements of a list, dict or tuple; of others 0.
func length(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String, starlark.Bytes:
		return starlark.Len(v) / bytesAStep
	case starlark.Sequence:
		return v.Len()
	}
	return 0
}

func mul(t *starlark.Thread, x, y starlark.Value) (starlark.Value, error) {
	seq, times := x, y
	if _, ok := x.(starlark.Int); ok {
		seq, times = y, x
	}
	n, isInt := times.(starlark.Int)
	if k := starlark.Len(seq); isInt && k > 0 {
		reps, ok := n.Int64()
		if size := new(big.Int).Mul(n.BigInt(), big.NewInt(int64(k))); !ok || size.BitLen() > 40 {
			if n.Sign() > 0 {
				return nil, ErrTooMuch
			}
			reps = 0
		}
		made := max(0, int(reps)*k)
		if _, list := seq.(starlark.Indexable); list && !isText(seq) {
			made *= bytesAStep
		}
		if err := chargeText(t, made); err != nil {
			return nil, err
		}
	} else if err := chargeBoth(t, x, y); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.STAR, x, y)
}

func isText(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Bytes:
		return true
	}
	return false
}

func mod(t *starlark.Thread, x, y starlark.Value) (starlark.Value, error) {
	s, ok := x.(starlark.String)
	if !ok {
		return remainder(x, y)
	}
	out, err := percent(t, string(s), y)
	if err != nil {
		return nil, err
	}
	return starlark.String(out), nil
}

// floorDiv is x // y; of floats as Python rounds it: the floor of what is left of x without the remainder.
func floorDiv(_ *starlark.Thread, x, y starlark.Value) (starlark.Value, error) {
	_, ok1 := x.(starlark.Float)
	_, ok2 := y.(starlark.Float)
	f, num1 := starlark.AsFloat(x)
	g, num2 := starlark.AsFloat(y)
	if !ok1 && !ok2 || !num1 || !num2 || g == 0 {
		return starlark.Binary(syntax.SLASHSLASH, x, y)
	}
	r := math.Mod(f, g)
	q := (f - r) / g
	if r != 0 && (r < 0) != (g < 0) {
		q--
	}
	if q == 0 {
		return starlark.Float(math.Copysign(0, f/g)), nil
	}
	whole := math.Floor(q)
	if q-whole > 0.5 {
		whole++
	}
	return starlark.Float(whole), nil
}

// remainder is x % y of numbers: a zero has the sign of y.
func remainder(x, y starlark.Value) (starlark.Value, error) {
	v, err := starlark.Binary(syntax.PERCENT, x, y)
	if f, ok := v.(starlark.Float); ok && f == 0 && err == nil {
		by, _ := starlark.AsFloat(y)
		v = starlark.Float(math.Copysign(0, by))
	}
	return v, err
}

// addTo is x += y: a list grows in place, as in Python.
func addTo(t *starlark.Thread, x, y starlark.Value) (starlark.Value, error) {
	list, ok := x.(*starlark.List)
	if !ok {
		return add(t, x, y)
	}
	return list, extend(t, list, y)
}

func extend(t *starlark.Thread, list *starlark.List, y starlark.Value) error {
	if s, ok := y.(starlark.String); ok {
		var err error
		if y, err = characters(t, s); err != nil {
			return err
		}
	}
	it, ok := y.(starlark.Iterable)
	if !ok {
		return fmt.Errorf("a list cannot grow by %s", KindName(y))
	}
	if err := charge(t, length(y)); err != nil {
		return err
	}
	if other, self := y.(*starlark.List); self && other == list {
		it = starlark.NewList(append([]starlark.Value(nil), elements(list)...))
	}
	iter := it.Iterate()
	defer iter.Done()
	for e := starlark.Value(nil); iter.Next(&e); {
		if err := list.Append(e); err != nil {
			return err
		}
	}
	return nil
}

func elements(list *starlark.List) []starlark.Value {
	out := make([]starlark.Value, list.Len())
	for i := range out {
		out[i] = list.Index(i)
	}
	return out
}

// addToAt is x[i] += y, x[i] *= y and x[i] %= y.
func addToAt(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	old, err := index(a[0], a[1])
	if err != nil {
		return nil, err
	}
	f := map[string]func(*starlark.Thread, starlark.Value, starlark.Value) (starlark.Value, error){opAddTo: addTo, opMul: mul, opMod: mod, opFloor: floorDiv}[string(a[3].(starlark.String))]
	v, err := f(t, old, a[2])
	if err != nil {
		return nil, err
	}
	switch x := a[0].(type) {
	case starlark.HasSetKey:
		return starlark.None, x.SetKey(a[1], v)
	case starlark.HasSetIndex:
		i, err := starlark.AsInt32(a[1])
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i += x.Len()
		}
		return starlark.None, x.SetIndex(i, v)
	}
	return nil, fmt.Errorf("%s takes no assignment to a place in it", KindName(a[0]))
}

// index is x[i]; of text it is the character, not the byte.
func index(x, i starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case *match: // a Mapping too
		return x.group(i)
	case starlark.Mapping:
		v, ok, err := x.Get(i)
		if err == nil && !ok {
			err = &keyError{x, i}
		}
		return v, err
	case starlark.String:
		n, err := place(i, "text")
		if err != nil {
			return nil, err
		}
		s := string(x)
		size := utf8.RuneCountInString(s)
		if n < 0 {
			n += size
		}
		if n < 0 || n >= size {
			return nil, fmt.Errorf("index %s is out of the range of a text of %d characters", i, size)
		}
		from := byteAt(s, n)
		_, w := utf8.DecodeRuneInString(s[from:])
		return starlark.String(s[from : from+w]), nil
	case starlark.Indexable:
		n, err := place(i, KindName(x))
		if err != nil {
			return nil, err
		}
		if n < 0 {
			n += x.Len()
		}
		if n < 0 || n >= x.Len() {
			return nil, fmt.Errorf("index %s is out of the range of %s of %d", i, KindName(x), x.Len())
		}
		return x.Index(n), nil
	}
	return nil, fmt.Errorf("%s has no [%s]%s", KindName(x), i, noneHint(x))
}

// A keyError is a key that does not exist.
type keyError struct {
	in  starlark.Value
	key starlark.Value
}

func (e *keyError) Error() string { return fmt.Sprintf("key %s not in dict", e.key) }

func place(i starlark.Value, of string) (int, error) {
	n, ok := i.(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("an index of %s is %s, expected an integer", of, KindName(i))
	}
	k, err := starlark.AsInt32(n)
	if err != nil {
		return 0, fmt.Errorf("index %s is out of range", i)
	}
	return k, nil
}

// byteAt returns where character n of s begins.
func byteAt(s string, n int) int {
	if n <= 0 {
		return 0
	}
	if isASCII(s) {
		return min(n, len(s))
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// bounds resolves a slice of n elements as Python does.
func bounds(n int, lo, hi, step starlark.Value) (start, end, by int, err error) {
	by = 1
	if step != starlark.None {
		if by, err = place(step, "a slice"); err != nil {
			return 0, 0, 0, err
		}
		if by == 0 {
			return 0, 0, 0, errors.New("the step of a slice is 0")
		}
	}
	clamp := func(v starlark.Value, without, least, most int) (int, error) {
		if v == starlark.None {
			return without, nil
		}
		i, ok := v.(starlark.Int)
		if !ok {
			return 0, fmt.Errorf("a bound of a slice is %s, expected an integer", KindName(v))
		}
		k, ok := i.Int64()
		if !ok {
			k = int64(i.Sign()) << 40
		}
		if k < 0 {
			k += int64(n)
		}
		return int(max(int64(least), min(int64(most), k))), nil
	}
	if by > 0 {
		if start, err = clamp(lo, 0, 0, n); err == nil {
			end, err = clamp(hi, n, 0, n)
		}
		return start, end, by, err
	}
	if start, err = clamp(lo, n-1, -1, n-1); err == nil {
		end, err = clamp(hi, -1, -1, n-1)
	}
	return start, end, by, err
}

func sliceOf(t *starlark.Thread, x, lo, hi, step starlark.Value) (starlark.Value, error) {
	if s, ok := x.(starlark.String); ok {
		return sliceText(t, string(s), lo, hi, step)
	}
	seq, ok := x.(starlark.Sliceable)
	if !ok {
		return nil, fmt.Errorf("%s cannot be sliced%s", KindName(x), noneHint(x))
	}
	start, end, by, err := bounds(seq.Len(), lo, hi, step)
	if err != nil {
		return nil, err
	}
	if err := charge(t, seq.Len()); err != nil {
		return nil, err
	}
	if by > 0 && start > end || by < 0 && start < end {
		end = start
	}
	return seq.Slice(start, end, by), nil
}

func sliceText(t *starlark.Thread, s string, lo, hi, step starlark.Value) (starlark.Value, error) {
	n := len(s)
	ascii := isASCII(s)
	if !ascii {
		n = utf8.RuneCountInString(s)
	}
	start, end, by, err := bounds(n, lo, hi, step)
	if err != nil {
		return nil, err
	}
	if err := chargeText(t, len(s)); err != nil {
		return nil, err
	}
	switch {
	case by == 1 && start >= end:
		return starlark.String(""), nil
	case by == 1 && ascii:
		return starlark.String(s[start:end]), nil
	case by == 1:
		return starlark.String(s[byteAt(s, start):byteAt(s, end)]), nil
	}
	if err := charge(t, n); err != nil {
		return nil, err
	}
	chars := []rune(s)
	var b strings.Builder
	for i := start; by > 0 && i < end || by < 0 && i > end; i += by {
		b.WriteRune(chars[i])
	}
	return starlark.String(b.String()), nil
}

// KindName is a type as Python people call it.
func KindName(v starlark.Value) string {
	switch v.(type) {
	case starlark.NoneType:
		return "None"
	case starlark.String:
		return "text"
	case starlark.Int:
		return "an int"
	case starlark.Float:
		return "a float"
	case starlark.Bool:
		return "a bool"
	case *starlark.List:
		return "a list"
	case *starlark.Dict:
		return "a dict"
	case starlark.Tuple:
		return "a tuple"
	}
	return "a " + v.Type()
}
