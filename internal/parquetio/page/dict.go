package page

import (
	"encoding/binary"
	"math"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

// A Dict is the dictionary of a chunk, decoded.
type Dict struct {
	n     int
	data  []byte   // fixed width: the values, one after the other; else PLAIN
	ends  []uint32 // text: of each value in data; it begins 4 bytes after the end before
	width int
	most  int // bytes of the longest value
}

// entry returns entry i of a dictionary of text.
func (d *Dict) entry(i uint32) []byte {
	from := uint32(4)
	if i > 0 {
		from += d.ends[i-1]
	}
	return d.data[from:d.ends[i]]
}

// CountedDict is a dictionary of n entries of which nothing else is known: enough to skip values.
func CountedDict(n int) *Dict { return &Dict{n: n} }

// NewDict decodes the body of a dictionary page of n entries and keeps the body. width is how many bytes a value has, 0 for text and bytes. An
// error says that the body is too short.
func NewDict(body []byte, n, width int) (*Dict, error) {
	d := &Dict{n: n, data: body, width: width, most: width}
	if width > 0 {
		if n*width > len(body) {
			return nil, errValuesShort
		}
		return d, nil
	}
	if n > len(body)/4 {
		return nil, errValuesShort
	}
	d.ends = make([]uint32, n)
	at := 0
	for i := range n {
		if len(body)-at < 4 {
			return nil, errValuesShort
		}
		size := binary.LittleEndian.Uint32(body[at:])
		if uint64(size) > uint64(len(body)-at-4) {
			return nil, errValuesShort
		}
		at += 4 + int(size)
		d.most = max(d.most, int(size))
		d.ends[i] = uint32(at)
	}
	return d, nil
}

// Len returns how many entries d has.
func (d *Dict) Len() int { return d.n }

// Longest returns how many bytes the longest entry has.
func (d *Dict) Longest() int { return d.most }

// Values returns the entries of a dictionary of type t, nil where it holds values that are not understood.
func (d *Dict) Values(t schema.Type, p encoding.Physical) []schema.Value {
	out := make([]schema.Value, d.n)
	switch t.Kind {
	case schema.Text, schema.Binary:
		all := string(d.data)
		for i := range out {
			out[i] = d.bytesValue(all, i, t.Kind == schema.Text)
		}
	case schema.Int:
		for i := range out {
			out[i] = schema.IntValue(d.int(i, t.Unsigned))
		}
	case schema.Float:
		for i := range out {
			switch p {
			case encoding.Float:
				out[i] = schema.FloatValue(float64(math.Float32frombits(binary.LittleEndian.Uint32(d.data[4*i:]))))
			case encoding.Double:
				out[i] = schema.FloatValue(math.Float64frombits(binary.LittleEndian.Uint64(d.data[8*i:])))
			default:
				return nil
			}
		}
	default:
		return nil
	}
	return out
}

// bytesValue returns entry i, a part of all, which is d.data.
func (d *Dict) bytesValue(all string, i int, text bool) schema.Value {
	from, to := i*d.width, (i+1)*d.width
	if d.width == 0 {
		from, to = 4, int(d.ends[i])
		if i > 0 {
			from += int(d.ends[i-1])
		}
	}
	if text {
		return schema.TextValue(all[from:to])
	}
	return schema.BinaryValue(all[from:to])
}

func (d *Dict) int(i int, unsigned bool) int64 {
	switch {
	case d.width == 8:
		return int64(binary.LittleEndian.Uint64(d.data[8*i:]))
	case unsigned:
		return int64(binary.LittleEndian.Uint32(d.data[4*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(d.data[4*i:])))
}
