package schema

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends v as compact JSON, text unescaped beyond what JSON asks (as Python's json.dumps with
// ensure_ascii=False writes it). Missing is null; NaN and infinities are written as Python writes them; bytes that are no
// UTF-8 become U+FFFD.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(b, v.num != 0)
	case Int:
		if v.Big() {
			return strconv.AppendUint(b, v.num, 10)
		}
		return strconv.AppendInt(b, int64(v.num), 10)
	case Float:
		return appendFloat(b, v.Float())
	case Text, Binary, Time, Decimal, Other:
		return AppendQuoted(b, v.Text())
	case List:
		b = append(b, '[')
		for i, e := range v.elems() {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.AppendJSON(b)
		}
		return append(b, ']')
	case Struct:
		b = append(b, '{')
		for i, e := range v.elems() {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendQuoted(b, v.typ.Fields[i].Name)
			b = append(b, ':')
			b = e.AppendJSON(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e16 {
		return append(strconv.AppendFloat(b, f, 'f', -1, 64), ".0"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// AppendQuoted appends s as a JSON string.
func AppendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// Excerpt returns v as JSON, cut to at most n bytes (on a character border) with "…" in place of what was cut.
func (v Value) Excerpt(n int) string {
	if v.kind == Text && len(v.Text()) > 4*n {
		v = TextValue(v.Text()[:4*n]) // the rest would be cut anyway
	}
	return Cut(string(v.AppendJSON(nil)), n)
}

// Cut returns s cut to at most n bytes, on a character border, with "…" at its end where something was cut.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// MarshalJSON writes the schema as [{"name", "type", "nullable"}, …].
func (s *Schema) MarshalJSON() ([]byte, error) {
	type column struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Nullable bool   `json:"nullable"`
	}
	out := make([]column, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = column{f.Name, f.Type.String(), f.Nullable}
	}
	return json.Marshal(out)
}
