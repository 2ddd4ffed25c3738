package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/rlprep/rlprep/internal/infile"
)

// damage is a file of the cache that is not what its name says.
type damage struct{ path, sum, want string }

func (d *damage) Error() string {
	return fmt.Sprintf("what the cache has of it (%s) has the hash %s, not %s", d.path, d.sum, d.want)
}

// hash starts the hash that names the file: SHA-256, or git's of a blob of that size.
func (f *File) hash(size int64) hash.Hash {
	if len(f.ETag) == 64 {
		return sha256.New()
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// verify compares the file at path, in the cache, with its hash. That is done once for a state of the file: a note below .locks, where
// huggingface_hub keeps nothing but locks, has the size, the time of the last change and the number of what was compared.
func (f *File) verify(ctx context.Context, path string) error {
	if f.ETag == "" {
		return nil // no link and no list: nothing says what it should be
	}
	in, err := infile.Open(path)
	if err != nil {
		return f.inCacheError(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return f.inCacheError(err)
	}
	if have, err := infile.ReadFile(f.note()); err == nil && string(have) == state(info) {
		return nil
	}
	h := f.hash(info.Size())
	if _, err := io.CopyBuffer(h, &cancelable{ctx, in}, make([]byte, 1<<20)); err != nil {
		return f.inCacheError(err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.ETag {
		return &damage{path, sum, f.ETag}
	}
	f.remember(path)
	return nil
}

// remember notes the state of a file that was compared with its hash. Where the cache cannot be written, it is compared again next time.
func (f *File) remember(path string) {
	if info, err := os.Stat(path); err == nil && f.ETag != "" {
		_ = replace(f.note(), []byte(state(info)))
	}
}

func (f *File) note() string {
	c := f.Snapshot.c
	return filepath.Join(c.Cache, ".locks", folderName(f.Snapshot.Address), f.ETag+".verified")
}

// state distinguishes a state of a file from others without reading it.
func state(info os.FileInfo) string {
	return fmt.Sprintf("%d bytes, changed at %d, file %d\n", info.Size(), info.ModTime().UnixNano(), inode(info))
}

// A cancelable reader ends with its context.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *cancelable) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(b)
}
