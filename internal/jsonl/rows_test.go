package jsonl

import (
	"io"
	"strings"
	"testing"
)

// zeros is a text of n bytes without a line end.
type zeros int64

func (z zeros) ReadAt(b []byte, off int64) (int, error) {
	n := min(int64(len(b)), int64(z)-off)
	for i := range b[:n] {
		b[i] = 'x'
	}
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func TestTooLongRow(t *testing.T) {
	for _, array := range []bool{false, true} {
		s := (&Text{At: zeros(64 << 20), Array: array, Limit: 8 << 20}).scanner(Spot{Line: 1})
		s.after = true
		_, err := s.next()
		if array {
			err = s.element()
		}
		if err == nil || !strings.Contains(err.Error(), "more than 8388608 bytes") || cap(s.buf) > 10<<20 {
			t.Errorf("array %v: error %v", array, err)
		}
	}
}

// The text of rows that were handed out is not held: a huge one would be in memory twice.
func TestRowsAreNotHeld(t *testing.T) {
	f, err := embedded(t, `{"a":"`+strings.Repeat("x", hugeRow)+`"}`+"\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.open(f.layout.Ranges(1 << 20)[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next(t.Context(), 10)
	if err != nil || b.Rows != 1 {
		t.Fatal(b, err)
	}
	if r.decoder.Src != nil || cap(r.scan.buf) >= hugeRow {
		t.Errorf("%d bytes of a row that was read, in a buffer of %d", len(r.decoder.Src), cap(r.scan.buf))
	}
}
