package encoding

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// The trial of parquet-go's encodings: every pair below does the same work, ours and theirs. TestParquetGo compares what comes out,
// TestParquetGoDamaged counts what theirs do with damaged pages, BenchmarkParquetGo takes the time. docs/design.md has the figures.

// A pair is one piece of work, done by this package and by parquet-go.
type pair struct {
	name  string
	bytes int // of the values, decoded
	// same says that both must return the same bytes: a decoder's always are, an encoder's need not be.
	same         bool
	ours, theirs func() ([]byte, error)
}

// words returns the memory of v.
func words[T int32 | int64 | uint32](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// pairs returns the work over pages of n values, as row numbers, texts, roles and scores of data sets have them.
func pairs(t testing.TB, n int) (all []pair) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	must := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var steps64, noise64 []int64
	var steps32, lengths []int32
	for i := range n {
		steps64 = append(steps64, int64(i)+int64(r.IntN(3)))
		noise64 = append(noise64, r.Int64())
		steps32 = append(steps32, int32(i))
		lengths = append(lengths, int32(100+r.IntN(200)))
	}
	var packed delta.BinaryPackedEncoding
	int64s := func(name string, v []int64) {
		page, out64, out := AppendDelta64(nil, words(v)), make([]int64, n), make([]byte, 0, 8*n)
		theirPage := []byte{}
		all = append(all, pair{"delta decode int64 " + name, 8 * n, true,
			func() ([]byte, error) { b, _, err := DecodeDelta(out[:0], page, n, 8); return b, err },
			func() ([]byte, error) { v, err := packed.DecodeInt64(out64, page); return words(v), err },
		}, pair{"delta encode int64 " + name, 8 * n, false,
			func() ([]byte, error) { page = AppendDelta64(page[:0], words(v)); return page, nil },
			func() (b []byte, err error) { theirPage, err = packed.EncodeInt64(theirPage, v); return theirPage, err },
		})
	}
	int64s("steps", steps64)
	int64s("noise", noise64)
	page32, out32, plain32 := AppendDelta32(nil, words(steps32)), make([]int32, n), make([]byte, 0, 4*n)
	all = append(all, pair{"delta decode int32", 4 * n, true,
		func() ([]byte, error) { b, _, err := DecodeDelta(plain32[:0], page32, n, 4); return b, err },
		func() ([]byte, error) { v, err := packed.DecodeInt32(out32, page32); return words(v), err },
	})

	// Texts.
	offsets := make([]uint32, 1, n+1)
	for _, l := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+uint32(l))
	}
	text := make([]byte, offsets[n])
	for i := range text {
		text[i] = "abcdefgh ijklmnop"[r.IntN(17)]
	}
	var lengthed delta.LengthByteArrayEncoding
	var prefixed delta.ByteArrayEncoding
	var plainly plain.Encoding
	withLengths := must(lengthed.EncodeByteArray(nil, text, offsets))
	withPrefixes := must(prefixed.EncodeByteArray(nil, text, offsets))
	plainText := must(plainly.EncodeByteArray(nil, text, offsets))
	data, ends := make([]byte, 0, len(text)), make([]uint32, 0, n+1)
	theirs := func(f func([]byte, []byte, []uint32) ([]byte, []uint32, error), page []byte) func() ([]byte, error) {
		return func() ([]byte, error) { b, _, err := f(data, page, ends); return b, err }
	}
	all = append(all, pair{"delta length text decode", len(text), true,
		func() ([]byte, error) {
			_, b, err := DecodeDeltaLength(withLengths, n)
			return append(data[:0], b...), err
		},
		theirs(lengthed.DecodeByteArray, withLengths),
	}, pair{"delta text decode", len(text), true,
		func() ([]byte, error) { _, b, err := DecodeDeltaByteArray(withPrefixes, n, len(text)); return b, err },
		theirs(prefixed.DecodeByteArray, withPrefixes),
	}, pair{"plain text decode", len(text), true,
		func() ([]byte, error) { return copyPlain(data[:0], plainText) },
		theirs(plainly.DecodeByteArray, plainText),
	})

	// Fixed widths.
	var split bytestreamsplit.Encoding
	for _, width := range []int{2, 4, 8, 16} {
		v := words(noise64)[:n/2*width]
		count := len(v) / width
		page := must(split.EncodeFixedLenByteArray(nil, v[:count*width], width))
		out2 := make([]byte, 0, len(v))
		f := func() ([]byte, error) { return split.DecodeFixedLenByteArray(out2[:0], page, width) }
		switch width {
		case 4:
			into := make([]int32, count)
			f = func() ([]byte, error) { v, err := split.DecodeInt32(into, page); return words(v), err }
		case 8:
			into := make([]int64, count)
			f = func() ([]byte, error) { v, err := split.DecodeInt64(into, page); return words(v), err }
		}
		all = append(all, pair{fmt.Sprintf("byte stream split decode of %d bytes", width), len(page), true,
			func() ([]byte, error) { return DecodeByteStreamSplit(page, count, width) }, f})
	}
	return append(all, runPairs(t, r, n)...)
}

// runPairs are the pairs of the RLE / bit-packed hybrid: levels and numbers in a dictionary.
func runPairs(t testing.TB, r *rand.Rand, n int) (all []pair) {
	t.Helper()
	levels := map[string][]uint8{"all equal": bytes.Repeat([]byte{1}, n), "one in fifty differs": nil, "lists of two": nil}
	for i := range n {
		levels["one in fifty differs"] = append(levels["one in fifty differs"], uint8(min(1, r.IntN(50))))
		levels["lists of two"] = append(levels["lists of two"], uint8(i%2))
	}
	for _, name := range []string{"all equal", "one in fifty differs", "lists of two"} {
		v := levels[name]
		theirs := rle.Encoding{BitWidth: 1}
		page := AppendHybrid(nil, v, 1)
		out, out2, enc, enc2 := make([]byte, n), make([]byte, 0, n+8), []byte{}, []byte{}
		all = append(all, pair{"levels decode, " + name, n, true,
			func() ([]byte, error) { h := NewHybrid(page, 1); return out, ReadHybrid(&h, out) },
			func() ([]byte, error) { b, err := theirs.DecodeLevels(out2, page); return b[:min(n, len(b))], err },
		}, pair{"levels encode, " + name, n, false,
			func() ([]byte, error) { enc = AppendHybrid(enc[:0], v, 1); return enc, nil },
			func() (b []byte, err error) { enc2, err = theirs.EncodeLevels(enc2, v); return enc2, err },
		})
	}
	for _, entries := range []int{4, 1000} {
		var v []uint32
		var signed []int32
		for range n {
			v = append(v, uint32(r.IntN(entries)))
			signed = append(signed, int32(v[len(v)-1]))
		}
		width := bits.Len(uint(entries - 1))
		theirs := rle.Encoding{BitWidth: width}
		page := AppendHybrid(nil, v, width)
		out, out2, enc, enc2 := make([]uint32, n), make([]int32, 0, n+8), []byte{}, []byte{}
		all = append(all, pair{fmt.Sprintf("numbers decode, %d entries", entries), 4 * n, true,
			func() ([]byte, error) { h := NewHybrid(page, width); return words(out), ReadHybrid(&h, out) },
			func() ([]byte, error) {
				b, err := theirs.DecodeInt32(out2, page)
				return words(b[:min(n, len(b))]), err
			},
		}, pair{fmt.Sprintf("numbers encode, %d entries", entries), 4 * n, false,
			func() ([]byte, error) { enc = AppendHybrid(enc[:0], v, width); return enc, nil },
			func() (b []byte, err error) { enc2, err = theirs.EncodeInt32(enc2, signed); return enc2, err },
		})
	}
	return all
}

// copyPlain copies the texts of a page in PLAIN encoding, as parquetio does.
func copyPlain(dst, b []byte) ([]byte, error) {
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errDeltaShort
		}
		n := binary.LittleEndian.Uint32(b)
		dst = append(dst, b[4:4+n]...)
		b = b[4+n:]
	}
	return dst, nil
}

// TestParquetGo compares what both return of pages of many lengths.
func TestParquetGo(t *testing.T) {
	differ := map[string]int{}
	lengths := []int{1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 130, 1000, 4097}
	for _, n := range lengths {
		for _, p := range pairs(t, n) {
			ours, err := p.ours()
			theirs, theirErr := p.theirs()
			if err != nil || theirErr != nil {
				t.Errorf("%d values: %s: ours %v, parquet-go's %v", n, p.name, err, theirErr)
				continue
			}
			if bytes.Equal(ours, theirs) {
				continue
			}
			if p.same {
				t.Errorf("%d values: %s: results differ", n, p.name)
			}
			differ[p.name]++
		}
	}
	for name, n := range differ {
		t.Logf("%s: other bytes for %d of %d lengths", name, n, len(lengths))
	}
}

// BenchmarkParquetGo takes the time of every pair, one after the other: compare ours and parquet-go's of one name.
func BenchmarkParquetGo(b *testing.B) {
	for _, p := range pairs(b, 20_000) {
		for _, who := range []struct {
			name string
			do   func() ([]byte, error)
		}{{"ours", p.ours}, {"parquet-go", p.theirs}} {
			b.Run(p.name+"/"+who.name, func(b *testing.B) {
				b.SetBytes(int64(p.bytes))
				for b.Loop() {
					if _, err := who.do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestParquetGoDamaged holds the reasons why parquet-go's decoders are not given damaged pages: where one fails, it can be looked at again.
func TestParquetGoDamaged(t *testing.T) {
	panics := func(f func()) (p any) {
		defer func() { p = recover() }()
		f()
		return nil
	}
	if panics(func() { new(plain.Encoding).DecodeByteArray(nil, []byte("\x00\x00\x00\x00\x05\x00\x00\x00a"), nil) }) == nil {
		t.Error("plain: a text that is cut off is no panic any more")
	}
	if panics(func() { (&rle.Encoding{BitWidth: 8}).DecodeInt32(nil, []byte{0x11, 1}) }) == nil {
		t.Error("rle: a packed run that is cut off is no panic any more")
	}
	const many = 1 << 20
	if out, _ := (&rle.Encoding{BitWidth: 1}).DecodeLevels(nil, append(binary.AppendUvarint(nil, many<<1), 1)); len(out) != many {
		t.Errorf("rle: a run gives %d levels of the %d that it claims", len(out), many)
	}
	head := binary.AppendUvarint(append(binary.AppendUvarint(nil, 128), 4), many)
	if out, _ := new(delta.BinaryPackedEncoding).DecodeInt64(nil, append(head, 0)); len(out) < many {
		t.Errorf("delta: memory for %d values of the %d that a header claims", len(out), many)
	}
}
