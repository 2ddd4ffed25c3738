package compress

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// lz4Block compresses b, which must be compressible.
func lz4Block(t testing.TB, b []byte) []byte {
	t.Helper()
	dst := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, dst, nil)
	if err != nil || n == 0 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	return dst[:n]
}

// The codec LZ4 has several forms, and no file says which it is in.
func TestLZ4Forms(t *testing.T) {
	text := bytes.Repeat([]byte("what is 2 + 2? "), 400)
	half := len(text) / 2
	be := binary.BigEndian.AppendUint32
	block := func(b, part []byte) []byte {
		packed := lz4Block(t, part)
		return append(be(b, uint32(len(packed))), packed...)
	}
	var frame bytes.Buffer
	w := lz4.NewWriter(&frame)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{
		"hadoop":                      block(be(nil, uint32(len(text))), text),
		"hadoop, two runs":            block(be(block(be(nil, uint32(half)), text[:half]), uint32(len(text)-half)), text[half:]),
		"hadoop, two blocks in a run": block(block(be(nil, uint32(len(text))), text[:half]), text[half:]),
		"frame":                       frame.Bytes(),
		"block":                       lz4Block(t, text),
	} {
		dst := make([]byte, len(text))
		if n, err := length(src, int64(len(text)), LZ4); n != int64(len(text)) || err != nil {
			t.Errorf("%s: length %d, %v", name, n, err)
		}
		if err := Decompress(dst, src, LZ4); err != nil || !bytes.Equal(dst, text) {
			t.Errorf("%s: %v", name, err)
		}
		for cut := range len(src) - 8 { // no size is believed; a frame ends with a mark and a checksum that the library does not ask for
			if err := Decompress(make([]byte, len(text)), src[:cut], LZ4); err == nil {
				t.Errorf("%s: %d of %d bytes are enough", name, cut, len(src))
			}
		}
		for _, n := range []int{len(text) - 1, len(text) + 1} {
			if err := Decompress(make([]byte, n), src, LZ4); err == nil {
				t.Errorf("%s: taken for %d bytes, not %d", name, n, len(text))
			}
		}
	}
}

// A page header that says 0 bytes, before a block of LZ4 that has some.
func TestLZ4OfNothing(t *testing.T) {
	for _, codec := range []Codec{LZ4, LZ4Raw} {
		for _, src := range [][]byte{{0x30, 'a', 'b', 'c'}, {0x10, 'a'}, {}} {
			if err := Decompress([]byte{}, src, codec); err == nil && len(src) > 0 {
				t.Errorf("%s: %x is taken for nothing", codec, src)
			}
			if err := Decompress(nil, src, codec); err == nil && len(src) > 0 {
				t.Errorf("%s: %x is taken for nothing", codec, src)
			}
		}
		if err := Decompress([]byte{}, []byte{0}, LZ4Raw); err != nil {
			t.Errorf("an empty block: %v", err)
		}
	}
}
