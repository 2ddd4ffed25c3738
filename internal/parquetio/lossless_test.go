package parquetio

import (
	"bytes"
	"testing"
)

// Every footer that other writers made is, rewritten with no edits, the same bytes.
func TestRewriteIsLossless(t *testing.T) {
	for _, name := range samples(t) {
		f := openFile(t, name)
		b := rewrite(t, f.footer)
		if !bytes.Equal(b, f.footer) {
			t.Errorf("%s: footer of %d bytes became %d", name, len(f.footer), len(b))
		}
		for i := range f.chunks {
			meta := f.chunks[i].meta.Of(f.footer)
			if b := rewrite(t, meta); !bytes.Equal(b, meta) {
				t.Errorf("%s: chunk %d changed", name, i)
			}
		}
	}
}
