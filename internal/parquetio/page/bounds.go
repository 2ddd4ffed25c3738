package page

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// boundLimit is where bounds of text and bytes are cut: parquet-java and arrow cut the page index so.
const boundLimit = 64

// An ordering is how the values of a leaf compare for minimum and maximum.
type ordering uint8

const (
	unordered ordering = iota // the format defines no order, or readers disagree about it
	orderBool
	orderSigned
	orderUnsigned
	orderFloat
	orderText
	orderBytes
)

// orderingOf returns the order that the format defines for a type, as it stands in Parquet.
func orderingOf(t schema.Type) ordering {
	switch t.Kind {
	case schema.Bool:
		return orderBool
	case schema.Int:
		if t.Unsigned {
			return orderUnsigned
		}
		return orderSigned
	case schema.Float:
		if t.Bits != 16 {
			return orderFloat
		}
	case schema.Text:
		return orderText
	case schema.Binary:
		if t.Name == "" || t.Name == "enum" || t.Name == "bson" {
			return orderBytes
		}
	case schema.Time, schema.Decimal:
		return orderSigned // only where values are integers: see Encoder.ordering
	}
	return unordered
}

// Ordered reports whether values of a type have an order, by which statistics may give the least and the greatest.
func Ordered(t schema.Type) bool { return orderingOf(t) != unordered }

// bounds are the least and the greatest value of a page: views of its buffers.
type bounds struct {
	min, max []byte
	none     bool // there is a NaN, which has no place in an order: no bounds at all
}

// add takes one value, in PLAIN encoding without length.
func (b *bounds) add(o ordering, v []byte) {
	if o == orderFloat && isNaN(v) {
		b.none = true
		return
	}
	if b.min == nil || less(o, v, b.min) {
		b.min = v
	}
	if b.max == nil || less(o, b.max, v) {
		b.max = v
	}
}

func less(o ordering, a, b []byte) bool {
	switch o {
	case orderBool:
		return a[0] < b[0]
	case orderText, orderBytes:
		return bytes.Compare(a, b) < 0
	}
	if len(a) == 4 {
		x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
		switch o {
		case orderSigned:
			return int32(x) < int32(y)
		case orderFloat:
			return math.Float32frombits(x) < math.Float32frombits(y)
		}
		return x < y
	}
	x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
	switch o {
	case orderSigned:
		return int64(x) < int64(y)
	case orderFloat:
		return math.Float64frombits(x) < math.Float64frombits(y)
	}
	return x < y
}

func isNaN(v []byte) bool {
	if len(v) == 4 {
		return math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
	}
	return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(v)))
}

// stats makes statistics of the bounds, copied and cut.
func (b *bounds) stats(o ordering, nulls int64) Stats {
	s := Stats{Nulls: nulls}
	if b.none || b.min == nil || o == unordered {
		return s
	}
	s.Min, s.MinExact = lowerBound(o, b.min)
	s.Max, s.MaxExact = upperBound(o, b.max)
	return s
}

// lowerBound returns a copy of v that is cut where it is long, and whether it is v.
func lowerBound(o ordering, v []byte) ([]byte, bool) {
	switch o {
	case orderFloat:
		out := bytes.Clone(v)
		if isZero(v) {
			out[len(out)-1] = 0x80 // -0.0, as the format wants: +0.0 would hide a -0.0
		}
		return out, true
	case orderText, orderBytes:
		c := cutBound(o, v)
		return append([]byte{}, c...), len(c) == len(v)
	}
	return bytes.Clone(v), true
}

// upperBound returns a copy of v, cut and made greater where it is long; nil when there is no such value.
func upperBound(o ordering, v []byte) ([]byte, bool) {
	switch o {
	case orderFloat:
		out := bytes.Clone(v)
		if isZero(v) {
			out[len(out)-1] = 0
		}
		return out, true
	case orderText, orderBytes:
		c := append([]byte{}, cutBound(o, v)...)
		if len(c) == len(v) {
			return c, true
		}
		if o == orderText && utf8.Valid(c) {
			return nextText(c), false
		}
		return nextBytes(c), false
	}
	return bytes.Clone(v), true
}

func isZero(v []byte) bool {
	for _, c := range v[:len(v)-1] {
		if c != 0 {
			return false
		}
	}
	return v[len(v)-1]&0x7f == 0
}

func cutBound(o ordering, v []byte) []byte {
	if len(v) <= boundLimit {
		return v
	}
	n := boundLimit
	if o == orderText {
		for n > boundLimit-utf8.UTFMax && !utf8.RuneStart(v[n]) {
			n--
		}
		if !utf8.RuneStart(v[n]) {
			n = boundLimit // no UTF-8
		}
	}
	return v[:n]
}

// nextText returns the least UTF-8 text of at most as many characters that is greater than every text beginning with b; nil
// when there is none.
func nextText(b []byte) []byte {
	for len(b) > 0 {
		r, n := utf8.DecodeLastRune(b)
		b = b[:len(b)-n]
		if r++; r == 0xD800 { // surrogates are no characters
			r = 0xE000
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(b, r)
		}
	}
	return nil
}

// nextBytes is nextText for bytes.
func nextBytes(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xFF {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// merge widens the statistics of a chunk by those of one of its pages. first says that no page with a value came before.
func (s *Stats) merge(o ordering, p Stats, first bool) {
	s.Nulls += p.Nulls
	if first {
		s.Min, s.MinExact, s.Max, s.MaxExact = p.Min, p.MinExact, p.Max, p.MaxExact
		return
	}
	switch {
	case s.Min == nil || p.Min == nil:
		s.Min, s.MinExact = nil, false
	case less(o, p.Min, s.Min):
		s.Min, s.MinExact = p.Min, p.MinExact
	case p.MinExact && bytes.Equal(p.Min, s.Min):
		s.MinExact = true
	}
	switch {
	case s.Max == nil || p.Max == nil:
		s.Max, s.MaxExact = nil, false
	case less(o, s.Max, p.Max):
		s.Max, s.MaxExact = p.Max, p.MaxExact
	case p.MaxExact && bytes.Equal(p.Max, s.Max):
		s.MaxExact = true
	}
}
