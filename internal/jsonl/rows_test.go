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
