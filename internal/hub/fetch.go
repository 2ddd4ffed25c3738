package hub

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rlprep/rlprep/internal/filelock"
)

// Fetch returns where the file is in the cache, whole. What the cache lacks is downloaded, verified by size and hash, and only then gets its
// name; a download that broke off is resumed. What others put into the cache is compared with its hash before its first use.
func (f *File) Fetch(ctx context.Context) (string, error) {
	c, s := f.Snapshot.c, f.Snapshot
	if p, ok := f.Cached(); ok {
		switch err := f.verify(ctx, p); {
		case err == nil:
			if err := s.save(); err != nil && !readOnly(err) {
				return "", f.inCacheError(err)
			}
			return p, nil
		case !errors.As(err, new(*damage)):
			return "", err
		case c.Offline:
			return "", &Error{Damaged, fmt.Sprintf("%s: %v, and HF_HUB_OFFLINE is set: remove it, and run again with a network", f.shown(), err), err}
		default:
			c.notice("%s: %v: fetching it again", f.shown(), err)
		}
	}
	if c.Offline {
		return "", c.notCached(f.shown(), "it")
	}
	blob := c.dir(s.Address, "blobs", f.ETag)
	for _, dir := range []string{filepath.Dir(blob), filepath.Join(c.Cache, ".locks", folderName(s.Address))} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", f.inCacheError(err)
		}
	}
	c.tag()
	lock, err := filelock.Wait(ctx, filepath.Join(c.Cache, ".locks", folderName(s.Address), f.ETag+".lock"), func() {
		c.notice("%s: another process is downloading it: waiting", f.shown())
	})
	if err != nil {
		return "", f.inCacheError(err)
	}
	defer func() { _ = lock.Release() }() // the kernel releases it at the latest when the process ends
	return f.fetchLocked(ctx, blob)
}

// fetchLocked fetches what another process has not fetched meanwhile.
func (f *File) fetchLocked(ctx context.Context, blob string) (string, error) {
	if p, ok := f.Cached(); ok && f.verify(ctx, p) == nil { // by the process that had the lock
		return p, nil
	}
	for _, p := range []string{blob, blob + ".incomplete", f.pointer()} {
		if info, err := os.Lstat(p); err == nil && info.IsDir() {
			return "", &Error{Damaged, fmt.Sprintf("%s: the cache has a folder where a file belongs: remove %s", f.shown(), p), nil}
		}
	}
	if info, err := os.Stat(blob); err != nil || !info.Mode().IsRegular() || info.Size() != f.Size || f.verify(ctx, blob) != nil {
		if err := f.download(ctx, blob); err != nil {
			return "", err
		}
	}
	if err := f.link(blob); err != nil {
		return "", f.inCacheError(err)
	}
	f.remember(f.pointer())
	return f.pointer(), f.inCacheError(f.Snapshot.save())
}

// shown is the file's address as the user wrote the revision.
func (f *File) shown() Address {
	a := f.Snapshot.Address
	a.Path = f.Path
	return a
}

func readOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// inCacheError says of an error of the file system which file it kept from the cache.
func (f *File) inCacheError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s (%d bytes): no room in the cache (%s): %w: make room, or name another place by HF_HOME", f.shown(), f.Size, f.Snapshot.c.Cache, err)
	case errors.As(err, &path), errors.As(err, &link):
		return fmt.Errorf("%s: cannot be kept in the cache (%s): %w: name a place that can be written by HF_HOME", f.shown(), f.Snapshot.c.Cache, err)
	}
	return err
}

// A download is a blob on its way.
type download struct {
	*File
	out  *os.File
	sum  hash.Hash
	done atomic.Int64 // bytes written and hashed
	etag string       // of the answer that the bytes so far came from, where it can be used for If-Range
}

// download fetches the blob and gives it its name when it is verified.
func (f *File) download(ctx context.Context, blob string) error {
	c := f.Snapshot.c
	d := &download{File: f}
	if err := d.open(blob + ".incomplete"); err != nil {
		return f.inCacheError(err)
	}
	defer func() { d.out.Close() }()
	if d.done.Load() > 0 {
		c.notice("%s: resumed at %d of %d bytes", f.shown(), d.done.Load(), f.Size)
	}
	err := c.retry(ctx, f.shown().String(), d.done.Load, func() error {
		if d.done.Load() < f.Size || f.Size == 0 {
			if err := d.attempt(ctx); err != nil {
				return err
			}
		}
		if got := hex.EncodeToString(d.sum.Sum(nil)); got != f.ETag {
			if err := d.restart(); err != nil {
				return err
			}
			return odd("what came has hash %s, not %s as listed", got, f.ETag)
		}
		return nil
	})
	if err != nil {
		if errors.Is(err, syscall.ENOSPC) || d.done.Load() == 0 {
			os.Remove(d.out.Name())
		}
		return f.inCacheError(err)
	}
	if err := d.out.Sync(); err != nil {
		return f.inCacheError(err)
	}
	return f.inCacheError(os.Rename(d.out.Name(), blob))
}

// open opens the unfinished file and hashes what is in it.
func (d *download) open(name string) error {
	out, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	d.out = out
	info, err := out.Stat()
	if err != nil || info.Size() > d.Size || !info.Mode().IsRegular() {
		return errors.Join(err, d.restart())
	}
	d.done.Store(0)
	d.etag, d.sum = "", d.hash(d.Size)
	n, err := io.CopyBuffer(d.sum, struct{ io.Reader }{io.NewSectionReader(out, 0, info.Size())}, make([]byte, 1<<20))
	d.done.Store(n)
	return err
}

// restart begins again with a new file. The old one is unlinked, not cut: where locks do nothing, another process may be
// writing to it.
func (d *download) restart() error {
	name := d.out.Name()
	d.out.Close()
	if err := os.Remove(name); err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	d.out = out
	d.done.Store(0)
	d.etag, d.sum = "", d.hash(d.Size)
	return nil
}

// attempt asks for what is missing and takes what comes.
func (d *download) attempt(ctx context.Context) error {
	c := d.Snapshot.c
	header := http.Header{}
	from := d.done.Load()
	if from > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		if d.etag != "" {
			header.Set("If-Range", d.etag)
		}
	}
	res, err := c.send(ctx, http.MethodGet, d.resolveURL(), header, nil)
	if err != nil {
		var e *statusError
		if errors.As(err, &e) && e.code == http.StatusRequestedRangeNotSatisfiable && from > 0 {
			if err := d.restart(); err != nil {
				return err
			}
			return odd("%w", e)
		}
		return c.explain(d.shown(), err)
	}
	defer res.close()
	if err := d.check(res, from, d.Size-from); err != nil {
		return err
	}
	if res.StatusCode == http.StatusOK && from > 0 {
		if err := d.restart(); err != nil { // the server sends all, or another file than before
			return err
		}
	}
	if etag := res.Header.Get("ETag"); !strings.HasPrefix(etag, "W/") {
		d.etag = etag
	}
	return d.receive(ctx, res)
}

// resolveURL is where the Hub has the file.
func (f *File) resolveURL() string {
	s := f.Snapshot
	return s.c.Endpoint + "/datasets/" + s.Address.Repo + "/resolve/" + s.Commit + "/" + escapePath(f.Path)
}

// check sees that an answer is of the file, at the commit and with the hash that were listed, and has the bytes asked for: n from
// an offset, or all of them.
func (f *File) check(res *answer, from, n int64) error {
	etag := strings.Trim(strings.TrimPrefix(res.etag, "W/"), `"`)
	switch {
	case res.commit != "" && res.commit != f.Snapshot.Commit:
		return odd("the Hub answers with commit %s, not %s", cut(res.commit), f.Snapshot.Commit)
	case etag != "" && blobHash.MatchString(etag) && etag != f.ETag:
		return odd("the Hub has another file now: its hash is %s, not %s as listed", etag, f.ETag)
	case res.Header.Get("Content-Encoding") != "" && res.Header.Get("Content-Encoding") != "identity":
		return odd("the answer is encoded (%s)", cut(res.Header.Get("Content-Encoding")))
	}
	if res.StatusCode == http.StatusOK {
		n = f.Size
	} else {
		var a, z, size int64
		_, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/%d", &a, &z, &size)
		if err != nil || a != from || size != f.Size || z != from+n-1 {
			return odd("asked for bytes %d to %d of %d, the answer has %q", from, from+n-1, f.Size, cut(res.Header.Get("Content-Range")))
		}
	}
	if res.ContentLength >= 0 && res.ContentLength != n {
		return odd("the answer has %d bytes, not %d as listed", res.ContentLength, n)
	}
	return nil
}

// receive writes and hashes what comes, at once.
func (d *download) receive(ctx context.Context, res *answer) error {
	const size, buffers = 512 << 10, 4
	free, full := make(chan []byte, buffers), make(chan []byte, buffers)
	for range buffers {
		free <- make([]byte, size)
	}
	hashed := make(chan struct{})
	go func() {
		defer close(hashed)
		for b := range full {
			d.sum.Write(b)
			free <- b[:size]
		}
	}()
	err := d.copy(ctx, res, free, full)
	close(full)
	<-hashed
	return err
}

// A piece that came is written when it has so many bytes, or when the last write was so long ago: a process that is killed loses no more.
const (
	pieceBytes = 64 << 10
	pieceTime  = time.Second
)

func (d *download) copy(ctx context.Context, res *answer, free <-chan []byte, full chan<- []byte) error {
	c, done := d.Snapshot.c, d.done.Load()
	body := io.LimitReader(res.body, d.Size-done) // whatever follows, the hash tells whether this is the file
	for done < d.Size {
		b := <-free
		n, err := readPiece(body, b)
		if n > 0 {
			if _, err := d.out.WriteAt(b[:n], done); err != nil {
				return err
			}
			full <- b[:n]
			done += int64(n)
			d.done.Store(done)
			if c.Progress != nil {
				c.Progress(d.Path, done, d.Size)
			}
		}
		switch {
		case done == d.Size:
		case err == io.EOF:
			return &transient{err: fmt.Errorf("the connection ended after %d of %d bytes", done, d.Size)}
		case err != nil:
			return c.broken(ctx, res.Request.URL, err)
		}
	}
	return nil
}

// readPiece reads until a piece is large or old enough.
func readPiece(r io.Reader, b []byte) (n int, err error) {
	for start := time.Now(); n < pieceBytes && err == nil; {
		var k int
		k, err = r.Read(b[n:])
		if n += k; n > 0 && time.Since(start) >= pieceTime {
			break
		}
	}
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
