package page

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
)

var (
	errValuesShort = errors.New("values are cut off")
	errNoSuchEntry = errors.New("a value points beyond the dictionary")
)

// Values are the values of a page that were not read yet. One of the forms below is set.
type Values struct {
	left int

	plain   []byte // text, PLAIN: length and bytes of each
	offsets []int32
	data    []byte          // with offsets: text; without: values of width bytes
	bits    []byte          // booleans, from bit at on
	at      int             // bit
	runs    encoding.Hybrid // booleans in RLE, numbers in the dictionary
	dict    *Dict           // of the chunk
	form    valueForm
	width   int
	most    int64 // bytes of a value
}

type valueForm uint8

const (
	formPlainText valueForm = iota
	formOffsets
	formFixed
	formBits
	formRuns
	formDict
)

// Open sets v to the n values that b holds in that encoding. width is 0 for text, and for booleans with isBool.
func (v *Values) Open(b []byte, n, width int, isBool bool, enc int32, dict *Dict, most int64) error {
	*v = Values{left: n, width: width, dict: dict, most: most}
	if n == 0 {
		v.form = formFixed
		return nil
	}
	switch {
	case enc == encoding.RLEDictionary || enc == encoding.PlainDictionary:
		return v.openDict(b)
	case isBool:
		return v.openBools(b, enc)
	case width == 0:
		return v.openText(b, enc)
	}
	return v.openFixed(b, enc)
}

// UnknownEncoding returns the error for encoding e, by its number, of what.
func UnknownEncoding(e int32, what string) error {
	return fmt.Errorf("%s in encoding %d, which rlprep cannot read: rewrite the file (pyarrow.parquet)", what, e)
}

func (v *Values) openDict(b []byte) error {
	switch {
	case v.dict == nil:
		return fmt.Errorf("values point into a dictionary, but the column has no dictionary")
	case len(b) == 0 || b[0] > 32:
		return errValuesShort
	}
	v.form, v.runs = formDict, encoding.NewHybrid(b[1:], int(b[0]))
	return nil
}

func (v *Values) openBools(b []byte, enc int32) error {
	switch enc {
	case encoding.Plain:
		if v.left > 8*len(b) {
			return errValuesShort
		}
		v.form, v.bits = formBits, b
		return nil
	case encoding.RLE:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return errValuesShort
		}
		v.form, v.runs = formRuns, encoding.NewHybrid(b[4:4+binary.LittleEndian.Uint32(b)], 1)
		return nil
	}
	return UnknownEncoding(enc, "booleans")
}

func (v *Values) openText(b []byte, enc int32) (err error) {
	v.form = formOffsets
	switch enc {
	case encoding.Plain:
		if v.left > len(b)/4 {
			return errValuesShort
		}
		v.form, v.plain = formPlainText, b
	case encoding.DeltaLength:
		v.offsets, v.data, err = encoding.DecodeDeltaLength(b, v.left)
	case encoding.DeltaByteArray:
		v.offsets, v.data, err = encoding.DecodeDeltaByteArray(b, v.left, maxGrown)
	default:
		err = UnknownEncoding(enc, "text or bytes")
	}
	if err == nil && int64(len(v.data)) > v.most {
		for i, end := range v.offsets[1:] {
			if n := int64(end - v.offsets[i]); n > v.most {
				return TooLong(n, v.most)
			}
		}
	}
	return err
}

func (v *Values) openFixed(b []byte, enc int32) (err error) {
	v.form = formFixed
	switch {
	case enc == encoding.Plain:
		v.data = b
	case enc == encoding.Delta && (v.width == 4 || v.width == 8):
		v.data, _, err = encoding.DecodeDelta(make([]byte, 0, min(v.left, 8*len(b)+1024)*v.width), b, v.left, v.width)
	case enc == encoding.ByteStreamSplit:
		v.data, err = encoding.DecodeByteStreamSplit(b, v.left, v.width)
	case enc == encoding.DeltaByteArray:
		return v.openDeltaFixed(b)
	default:
		err = UnknownEncoding(enc, "values")
	}
	if err == nil && v.left*v.width > len(v.data) {
		err = errValuesShort
	}
	return err
}

// openDeltaFixed reads FIXED_LEN_BYTE_ARRAY in DELTA_BYTE_ARRAY.
func (v *Values) openDeltaFixed(b []byte) error {
	offsets, data, err := encoding.DecodeDeltaByteArray(b, v.left, maxGrown)
	if err != nil {
		return err
	}
	for i, o := range offsets {
		if int(o) != i*v.width {
			return fmt.Errorf("value %d: not of %d bytes", i, v.width)
		}
	}
	v.data = data
	return nil
}

// Typical returns about how many bytes a value has, for those of a dictionary at most.
func (v *Values) Typical() int {
	switch v.form {
	case formPlainText:
		return len(v.plain)/max(v.left, 1) + 1
	case formOffsets:
		return len(v.data)/max(v.left, 1) + 1
	case formDict:
		return v.dict.most + 1 // all may be the one that is huge
	}
	return max(v.width, 1)
}

// Read moves the next n values to out, which is nil to skip them.
func (v *Values) Read(n int, out *Builder, shared *Buffers) error {
	switch {
	case n > v.left:
		return errValuesShort
	case n == 0:
		return nil
	}
	v.left -= n
	if out != nil {
		out.n += n
	}
	switch v.form {
	case formPlainText:
		return v.readPlain(n, out)
	case formOffsets:
		if out != nil {
			out.copyText(v.data, v.offsets[:n+1])
		}
		v.offsets = v.offsets[n:]
	case formFixed:
		if out != nil {
			out.Data = append(slices.Grow(out.Data, max(n, min(out.Expect-out.n+n, Limits.Slice/v.width))*v.width), v.data[:n*v.width]...)
		}
		v.data = v.data[n*v.width:]
	case formBits:
		if out != nil {
			out.copyBits(v.bits, v.at, n)
		}
		v.at += n
	default:
		return v.readNumbers(n, out, shared)
	}
	return nil
}

// readPlain reads text in PLAIN encoding: first lengths, so that memory is allocated once, then bytes.
func (v *Values) readPlain(n int, out *Builder) error {
	b, size := v.plain, 0
	for range n {
		if len(b) < 4 {
			return errValuesShort
		}
		k := binary.LittleEndian.Uint32(b)
		if uint64(k) > uint64(len(b)-4) {
			return errValuesShort
		}
		if int64(k) > v.most {
			return TooLong(int64(k), v.most)
		}
		b = b[4+k:]
		size += int(k)
	}
	from := v.plain
	v.plain = b
	if out == nil {
		return nil
	}
	out.grow(n, size)
	data, offsets := out.Data, out.Offsets
	for range n {
		k := binary.LittleEndian.Uint32(from)
		data = append(data, from[4:4+k]...)
		offsets = append(offsets, int32(len(data)))
		from = from[4+k:]
	}
	out.Data, out.Offsets = data, offsets
	return nil
}

// readNumbers reads values that are runs of small numbers: entries of the dictionary, or booleans.
func (v *Values) readNumbers(n int, out *Builder, shared *Buffers) error {
	shared.numbers = sized32(shared.numbers, 1024)
	for n > 0 {
		numbers := shared.numbers[:min(n, len(shared.numbers))]
		n -= len(numbers)
		if err := encoding.ReadHybrid(&v.runs, numbers); err != nil {
			return err
		}
		if v.form == formRuns {
			if out != nil {
				out.appendBits(numbers)
			}
			continue
		}
		if int(slices.Max(numbers)) >= v.dict.n {
			return errNoSuchEntry
		}
		if out != nil {
			out.entries(v.dict, numbers)
		}
	}
	return nil
}

func sized32(b []uint32, n int) []uint32 {
	if cap(b) < n {
		return make([]uint32, n)
	}
	return b[:n]
}
