package hub

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// blockSize is how much a ranged read fetches at least, blocksKept how many blocks are kept.
const (
	blockSize  = 256 << 10
	blocksKept = 32
)

// ReaderAt reads parts of the file from the Hub, and keeps nothing on disk. It may be used from several goroutines at once,
// until ctx ends.
func (f *File) ReaderAt(ctx context.Context) io.ReaderAt {
	return &ranged{f: f, ctx: ctx, blocks: map[int64][]byte{}}
}

type ranged struct {
	f   *File
	ctx context.Context

	mu     sync.Mutex
	blocks map[int64][]byte // by number; the last is short
	order  []int64          // oldest first
}

// ReadAt implements io.ReaderAt.
func (r *ranged) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: read at %d", r.f.shown(), off)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	want := min(int64(len(b)), r.f.Size-off)
	n := int64(0)
	for n < want {
		at := off + n
		k := at / blockSize
		if r.blocks[k] == nil {
			last := (off + want - 1) / blockSize
			for last > k && r.blocks[last] != nil {
				last--
			}
			if last-k >= blocksKept { // too much to keep: straight to the caller
				got, err := r.fetch(at, want-n)
				n += int64(copy(b[n:want], got))
				return int(n), err
			}
			if err := r.load(k, last); err != nil {
				return int(n), err
			}
		}
		n += int64(copy(b[n:want], r.blocks[k][at-k*blockSize:]))
	}
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// load fetches blocks from first to last in one request.
func (r *ranged) load(first, last int64) error {
	from := first * blockSize
	b, err := r.fetch(from, min((last+1)*blockSize, r.f.Size)-from)
	if err != nil {
		return err
	}
	for k := first; k <= last; k++ {
		r.blocks[k] = b[(k-first)*blockSize : min((k-first+1)*blockSize, int64(len(b)))]
		r.order = append(r.order, k)
	}
	for len(r.order) > blocksKept {
		delete(r.blocks, r.order[0])
		r.order = r.order[1:]
	}
	return nil
}

// fetch asks for n bytes.
func (r *ranged) fetch(from, n int64) ([]byte, error) {
	f, c := r.f, r.f.Snapshot.c
	header := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, from+n-1)}}
	b := make([]byte, n)
	err := c.retry(r.ctx, f.shown().String(), nil, func() error {
		res, err := c.send(r.ctx, http.MethodGet, f.resolveURL(), header, nil)
		if err != nil {
			return c.explain(f.shown(), err)
		}
		defer res.close()
		if err := f.check(res, from, n); err != nil {
			return err
		}
		if res.StatusCode == http.StatusOK && n < f.Size {
			help := ""
			if c.Whole != "" {
				help = ": " + c.Whole + ", which fetches it whole"
			}
			return &Error{Network, fmt.Sprintf("%s: %s does not send parts of files%s", f.shown(), res.Request.URL.Host, help), nil}
		}
		if _, err := io.ReadFull(res.body, b); err != nil {
			return c.broken(r.ctx, res.Request.URL, err)
		}
		return nil
	})
	return b, err
}
