package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
)

// followBytes is how much of a file is hashed, and handed to the disk, at a time.
const followBytes = 1 << 20

// A follower reads a file back and hashes it while it is being written, some way behind the writer, and has the system write to the disk
// what has come so far: so little is left to do at the end. The hash is of what can be read back.
type follower struct {
	f    *os.File
	sum  hash.Hash
	done chan struct{}
	err  error

	mu    sync.Mutex
	more  sync.Cond
	limit int64 // bytes that will not change
	end   bool  // there will be no more
}

// follow starts a follower of the file name.
func follow(name string) (*follower, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	w := &follower{f: f, sum: sha256.New(), done: make(chan struct{})}
	w.more.L = &w.mu
	go w.run()
	return w, nil
}

// advance says that the first n bytes will not change, and with end that these are all.
func (w *follower) advance(n int64, end bool) {
	w.mu.Lock()
	w.limit, w.end = n, end
	w.mu.Unlock()
	w.more.Signal()
}

func (w *follower) run() {
	defer close(w.done)
	buf := make([]byte, followBytes)
	for at := int64(0); ; {
		w.mu.Lock()
		for w.limit-at < followBytes && !w.end {
			w.more.Wait()
		}
		limit := w.limit
		w.mu.Unlock()
		if at >= limit {
			return
		}
		for at < limit {
			n, err := w.f.ReadAt(buf[:min(followBytes, limit-at)], at)
			w.sum.Write(buf[:n])
			if n == 0 {
				w.err = fmt.Errorf("%s: read back %d of %d bytes: %w", w.f.Name(), at, limit, err)
				if errors.Is(err, io.EOF) {
					w.err = fmt.Errorf("%s: read back %d of %d bytes", w.f.Name(), at, limit)
				}
				return
			}
			writeBack(w.f, at, int64(n))
			at += int64(n)
		}
	}
}

// finish waits for the hash of all n bytes.
func (w *follower) finish(n int64) (string, error) {
	w.advance(n, true)
	<-w.done
	return hex.EncodeToString(w.sum.Sum(nil)), errors.Join(w.err, w.f.Close())
}

// stop ends a follower whose file is given up.
func (w *follower) stop() { _, _ = w.finish(0) }
