package page

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/schema"
)

// FuzzPage gives one page of each kind of values to the decoders.
func FuzzPage(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0}, uint16(2), uint8(0), uint8(0))
	f.Add(encoding.AppendDelta64(nil, bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 200)), uint16(200), uint8(8), uint8(encoding.Delta))
	f.Add(encoding.AppendDelta32(nil, bytes.Repeat([]byte{1, 2, 3, 4, 9, 9, 9, 9}, 200)), uint16(400), uint8(4), uint8(encoding.Delta))
	f.Add([]byte{1, 0x03, 0x55}, uint16(8), uint8(0), uint8(encoding.RLEDictionary))
	f.Add(append(encoding.AppendDelta32(nil, []byte{1, 0, 0, 0, 2, 0, 0, 0}), 'a', 'b', 'c'), uint16(2), uint8(0), uint8(encoding.DeltaLength))
	f.Fuzz(func(t *testing.T, b []byte, n uint16, width, enc uint8) {
		dict, err := NewDict([]byte{1, 0, 0, 0, 'x', 0, 0, 0, 0}, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		if width = width % 17; width > 0 {
			dict, _ = NewDict(make([]byte, 2*int(width)), 2, int(width))
		}
		var shared Buffers
		for _, isBool := range []bool{false, true} {
			var v Values
			if v.Open(b, int(n), int(width), isBool, int32(enc%10), dict, 256<<20) != nil {
				continue
			}
			kind := encoding.ByteArray
			if width > 0 {
				kind = encoding.FixedLenByteArray
			}
			out := Builder{Kind: kind, Width: int(width)}
			for _, k := range []int{int(n) / 3, 0, int(n) - int(n)/3} {
				if v.Read(k, &out, &shared) != nil {
					return
				}
			}
			if !isBool && out.Array(true).Len() != int(n) {
				t.Errorf("%d values of %d", out.n, n)
			}
		}
		levels := make([]uint8, n)
		_, _, _, _ = encoding.ReadLevels(levels, b, width%8+1, int32(enc))
	})
}

// Values of 8 and 16 bits are stored as INT32. Higher bits are cut, as pyarrow does.
func TestNarrowIntegers(t *testing.T) {
	for _, c := range []struct {
		t    schema.Type
		want []int32
	}{
		{schema.Type{Kind: schema.Int, Bits: 8}, []int32{1, -1, -128, 112}},
		{schema.Type{Kind: schema.Int, Bits: 8, Unsigned: true}, []int32{1, 255, 128, 112}},
		{schema.Type{Kind: schema.Int, Bits: 16}, []int32{1, -1, 128, 4464}},
		{schema.Type{Kind: schema.Int, Bits: 16, Unsigned: true}, []int32{1, 65535, 128, 4464}},
	} {
		o := Builder{Kind: encoding.Int32, n: 4}
		for _, v := range []int32{1, -1, 128, 70000} {
			o.Data = binary.LittleEndian.AppendUint32(o.Data, uint32(v))
		}
		o.CutTo(c.t)
		if got := o.Array(false).(*array.Int32).Int32Values(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.t, got, c.want)
		}
	}
}
