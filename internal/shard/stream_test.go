package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// What is written, in pieces of any size, is what the file has and what is hashed.
func TestStream(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789abcde\n"), 300_000) // 4.8 MB
	for _, size := range []int{0, 1, streamBytes - 1, streamBytes, streamBytes + 1, 4*streamBytes + 4096, len(whole)} {
		for _, piece := range []int{7001, 700_001, 2_500_000} {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			s := newStream(f)
			for at, i := 0, 0; at < size; i++ {
				n := min(piece, size-at)
				var k int64
				if i%3 == 1 {
					k, err = s.ReadFrom(bytes.NewReader(whole[at : at+n]))
				} else {
					m, e := s.Write(whole[at : at+n])
					k, err = int64(m), e
				}
				if err != nil || k != int64(n) {
					t.Fatalf("%d of %d bytes written: %v", k, n, err)
				}
				at += n
			}
			sum, n, err := s.finish()
			want := sha256.Sum256(whole[:size])
			if err != nil || n != int64(size) || sum != hex.EncodeToString(want[:]) {
				t.Errorf("%d bytes in pieces of %d: got %d, %s, %v; want %x", size, piece, n, sum, err, want)
			}
			if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, whole[:size]) {
				t.Errorf("%d bytes in pieces of %d: the file has %d, others than were written (%v)", size, piece, len(got), err)
			}
			f.Close()
		}
	}
}

func TestStreamFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no file that is always full here: %v", err)
	}
	defer full.Close()
	for _, size := range []int{5, 2 * streamBytes, 20 * streamBytes} {
		s := newStream(full)
		_, err := s.Write(make([]byte, size))
		if err == nil && size > 10*streamBytes {
			t.Errorf("%d bytes were written to a full disk", size)
		}
		if _, _, err := s.finish(); err == nil {
			t.Errorf("%d bytes on a full disk: no error at the end", size)
		}
		if _, err := s.Write([]byte("more")); err == nil {
			t.Error("a stream that failed takes more")
		}
	}
}

// A source that fails is told from a file that cannot be written: what was read until then counts.
func TestStreamSourceFails(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newStream(f)
	broken := errors.New("broken")
	n, err := s.ReadFrom(io.MultiReader(bytes.NewReader(make([]byte, 3*streamBytes/2)), iotest.ErrReader(broken)))
	if n != 3*streamBytes/2 || !errors.Is(err, broken) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := s.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, n, err := s.finish(); err != nil || n != 3*streamBytes/2+1 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
