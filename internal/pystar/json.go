package pystar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

var jsonModule = &starlarkstruct.Module{Name: "json", Members: starlark.StringDict{
	"dumps": builtin("dumps", dumps), "loads": builtin("loads", loads),
}}

// A dumper writes JSON as Python's json.dumps does.
type dumper struct {
	t           *starlark.Thread
	b           strings.Builder
	ascii, sort bool
	indent      string
	lines       bool
	item, key   string // separators
}

func dumps(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	ascii, sorted := true, false
	var indent, separators starlark.Value = starlark.None, starlark.None
	if err := starlark.UnpackArgs("dumps", args, kwargs, "obj", &v, "ensure_ascii?", &ascii, "indent?", &indent, "separators?", &separators, "sort_keys?", &sorted); err != nil {
		return nil, err
	}
	d := &dumper{t: t, ascii: ascii, sort: sorted, item: ", ", key: ": "}
	switch x := indent.(type) {
	case starlark.NoneType:
	case starlark.Int:
		n, err := starlark.AsInt32(x)
		if err != nil || n < 0 || n > 32 {
			return nil, errors.New("dumps: indent is 0 to 32 blanks")
		}
		d.indent, d.lines, d.item = strings.Repeat(" ", n), true, ","
	case starlark.String:
		d.indent, d.lines, d.item = string(x), true, ","
	default:
		return nil, fmt.Errorf("dumps: indent is %s", KindName(indent))
	}
	if pair, ok := separators.(starlark.Tuple); ok && len(pair) == 2 {
		a, ok1 := pair[0].(starlark.String)
		b, ok2 := pair[1].(starlark.String)
		if !ok1 || !ok2 {
			return nil, errors.New("dumps: separators are two texts")
		}
		d.item, d.key = string(a), string(b)
	} else if separators != starlark.None {
		return nil, errors.New("dumps: separators are a tuple of two texts")
	}
	if err := d.value(v, 0); err != nil {
		return nil, err
	}
	return starlark.String(d.b.String()), nil
}

func (d *dumper) value(v starlark.Value, depth int) error {
	if depth > MaxDepth {
		return ErrDeep
	}
	if err := charge(d.t, 1+len(d.indent)*depth/bytesAStep); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.NoneType:
		d.b.WriteString("null")
	case starlark.Bool:
		fmt.Fprint(&d.b, bool(v))
	case starlark.Int:
		if err := chargeText(d.t, bits(v)); err != nil {
			return err
		}
		d.b.WriteString(v.String())
	case starlark.Float:
		d.float(float64(v))
	case starlark.String:
		return d.text(string(v))
	case starlark.Tuple:
		return d.list(v, depth)
	case *starlark.List:
		return d.list(elements(v), depth)
	case *starlark.Dict:
		return d.dict(v, depth)
	default:
		return fmt.Errorf("dumps: %s is nothing that JSON has", KindName(v))
	}
	return nil
}

func (d *dumper) float(f float64) {
	switch {
	case math.IsNaN(f):
		d.b.WriteString("NaN")
	case math.IsInf(f, 1):
		d.b.WriteString("Infinity")
	case math.IsInf(f, -1):
		d.b.WriteString("-Infinity")
	default:
		d.b.WriteString(floatText(f))
	}
}

func (d *dumper) text(s string) error {
	if err := chargeText(d.t, 2*len(s)); err != nil {
		return err
	}
	d.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			d.b.WriteByte('\\')
			d.b.WriteRune(r)
		case r == '\n':
			d.b.WriteString(`\n`)
		case r == '\r':
			d.b.WriteString(`\r`)
		case r == '\t':
			d.b.WriteString(`\t`)
		case r == '\b':
			d.b.WriteString(`\b`)
		case r == '\f':
			d.b.WriteString(`\f`)
		case r < ' ' || d.ascii && r >= 0x7f && r < 0x10000:
			fmt.Fprintf(&d.b, `\u%04x`, r)
		case d.ascii && r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&d.b, `\u%04x\u%04x`, hi, lo)
		default:
			d.b.WriteRune(r)
		}
	}
	d.b.WriteByte('"')
	return nil
}

func (d *dumper) newline(depth int) {
	if d.lines {
		d.b.WriteByte('\n')
		d.b.WriteString(strings.Repeat(d.indent, depth))
	}
}

func (d *dumper) list(list []starlark.Value, depth int) error {
	d.b.WriteByte('[')
	for i, e := range list {
		if i > 0 {
			d.b.WriteString(d.item)
		}
		d.newline(depth + 1)
		if err := d.value(e, depth+1); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		d.newline(depth)
	}
	d.b.WriteByte(']')
	return nil
}

func (d *dumper) dict(v *starlark.Dict, depth int) error {
	items := v.Items()
	if d.sort {
		for _, kv := range items {
			if _, ok := kv[0].(starlark.String); !ok {
				return errors.New("dumps: sort_keys with keys that are no text")
			}
		}
		sort.SliceStable(items, func(i, j int) bool { return items[i][0].(starlark.String) < items[j][0].(starlark.String) })
	}
	d.b.WriteByte('{')
	for i, kv := range items {
		if i > 0 {
			d.b.WriteString(d.item)
		}
		d.newline(depth + 1)
		key := kv[0]
		switch k := key.(type) {
		case starlark.String:
		case starlark.Int, starlark.Float:
			text, err := str(d.t, k)
			if err != nil {
				return err
			}
			key = starlark.String(text)
		case starlark.Bool:
			key = starlark.String(fmt.Sprint(bool(k)))
		case starlark.NoneType:
			key = starlark.String("null")
		default:
			return fmt.Errorf("dumps: a key is %s", KindName(key))
		}
		if err := d.text(string(key.(starlark.String))); err != nil {
			return err
		}
		d.b.WriteString(d.key)
		if err := d.value(kv[1], depth+1); err != nil {
			return err
		}
	}
	if len(items) > 0 {
		d.newline(depth)
	}
	d.b.WriteByte('}')
	return nil
}

func loads(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs("loads", args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	s, ok := v.(starlark.String)
	if !ok {
		return nil, fmt.Errorf("loads of %s, expected text%s", KindName(v), noneHint(v))
	}
	if err := charge(t, len(s)); err != nil {
		return nil, err
	}
	if !utf8.ValidString(string(s)) {
		return nil, errors.New("loads: the text is not UTF-8")
	}
	if halfPair(string(s)) {
		return nil, fmt.Errorf("loads of %s: half of a surrogate pair (\\ud800 to \\udfff), which no text can hold here", Cut(s.String(), 60))
	}
	d := json.NewDecoder(strings.NewReader(string(s)))
	d.UseNumber()
	out, err := load(d, 0)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("loads of %s: %w", Cut(s.String(), 60), err)
	}
	return out, nil
}

// halfPair reports whether an escape of JSON text is half of a surrogate pair without the other.
func halfPair(s string) bool {
	unit := func(i int) uint64 { // of the escape at i, 0 for none
		if !strings.HasPrefix(s[min(i, len(s)):], `\u`) || i+6 > len(s) {
			return 0
		}
		n, _ := strconv.ParseUint(s[i+2:i+6], 16, 16)
		return n
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		switch n := unit(i); {
		case n >= 0xd800 && n < 0xdc00 && unit(i+6) >= 0xdc00 && unit(i+6) < 0xe000:
			i += 11
		case n >= 0xd800 && n < 0xe000:
			return true
		default:
			i++ // what is escaped
		}
	}
	return false
}

// load makes Starlark's values as Python's json.loads makes Python's, with integers of any size. It stands on encoding/json, not on
// schema/jsontext, whose values have 64 bits and which this package does not know.
func load(d *json.Decoder, depth int) (starlark.Value, error) {
	if depth > MaxDepth {
		return nil, ErrDeep
	}
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch x := tok.(type) {
	case string:
		return starlark.String(x), nil
	case bool:
		return starlark.Bool(x), nil
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			if len(x) > maxDigits {
				return nil, fmt.Errorf("%s has more than %d digits", Cut(x.String(), 40), maxDigits)
			}
			i, ok := new(big.Int).SetString(x.String(), 10)
			if !ok {
				return nil, fmt.Errorf("%s is no integer", Cut(x.String(), 40))
			}
			return starlark.MakeBigInt(i), nil
		}
		f, err := x.Float64()
		if math.IsInf(f, 0) {
			err = nil
		}
		return starlark.Float(f), err
	case json.Delim:
		if x == '[' {
			return loadList(d, depth)
		}
		return loadDict(d, depth)
	}
	return starlark.None, nil
}

func loadList(d *json.Decoder, depth int) (starlark.Value, error) {
	var out []starlark.Value
	for d.More() {
		v, err := load(d, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.Token()
	return starlark.NewList(out), err
}

func loadDict(d *json.Decoder, depth int) (starlark.Value, error) {
	out := starlark.NewDict(4)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := load(d, depth+1)
		if err != nil {
			return nil, err
		}
		if err := out.SetKey(starlark.String(key.(string)), v); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}
