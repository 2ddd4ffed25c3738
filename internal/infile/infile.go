// Package infile opens what a run reads. A named pipe without a writer, a socket or a device may never end, so Open refuses them at once; Stream reads a
// pipe, and ends with its context.
package infile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrNotRegular is the reason, within an *os.PathError, why Open and Stream refuse a file.
var ErrNotRegular = errors.New("not a regular file")

// kind says what a file is that is not regular, and reports whether it is a pipe.
func kind(mode os.FileMode) (what string, pipe bool) {
	switch {
	case mode&os.ModeNamedPipe != 0:
		return "a pipe", true
	case mode&os.ModeSocket != 0:
		return "a socket", false
	case mode&os.ModeDevice != 0:
		return "a device", false
	}
	return "a special file", false
}

func refused(name string, mode os.FileMode) error {
	what, _ := kind(mode)
	return &os.PathError{Op: "open", Path: name, Err: fmt.Errorf("%s, %w", what, ErrNotRegular)}
}

// Open is os.Open for a regular file or a directory. It refuses anything else, and never waits for another process.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name) // opening a device can change it
	if err != nil {
		return nil, err
	}
	if !plain(info) {
		return nil, refused(name, info.Mode())
	}
	f, err := openNow(name)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && plain(info) {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	return nil, refused(name, info.Mode()) // it was exchanged meanwhile
}

func plain(info os.FileInfo) bool { return info.Mode().IsRegular() || info.IsDir() }

// ReadFile is os.ReadFile for what Open opens.
func ReadFile(name string) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Stream is Open that takes a pipe, too, such as bash makes for <(command). Waiting for its writer and reading from it end when ctx does.
func Stream(ctx context.Context, name string) (io.ReadCloser, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if _, pipe := kind(info.Mode()); !pipe {
		return Open(name)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name) // waits for a writer
		done <- opened{f, err}
	}()
	select {
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				o.f.Close()
			}
		}()
		return nil, context.Cause(ctx)
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return &stream{Interruptible(ctx, o.f), o.f}, nil
	}
}

type stream struct {
	io.Reader
	io.Closer
}

// maxStream is how much ReadAll takes from a pipe.
const maxStream = 64 << 20

// ReadAll is os.ReadFile for what Stream opens.
func ReadAll(ctx context.Context, name string) ([]byte, error) {
	in, err := Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if f, ok := in.(*os.File); ok {
		return io.ReadAll(f)
	}
	b, err := io.ReadAll(io.LimitReader(in, maxStream+1))
	if err == nil && len(b) > maxStream {
		err = &os.PathError{Op: "read", Path: name, Err: fmt.Errorf("the pipe has more than %d MiB", maxStream>>20)}
	}
	return b, err
}

// Interruptible returns a reader of r whose Read returns when ctx ends, also where a Read of r does not.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx: ctx, r: r, answers: make(chan answer, 1)}
}

type interruptible struct {
	ctx     context.Context
	r       io.Reader
	answers chan answer
	buf     []byte
	have    []byte // read, and not asked for yet
	err     error
}

type answer struct {
	n   int
	err error
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.have) == 0 && i.err == nil {
		if i.buf == nil {
			i.buf = make([]byte, 64<<10)
		}
		go func(buf []byte) { // buf is not looked at before the answer
			n, err := i.r.Read(buf)
			i.answers <- answer{n, err}
		}(i.buf)
		select {
		case <-i.ctx.Done():
			i.err = context.Cause(i.ctx)
		case a := <-i.answers:
			i.have, i.err = i.buf[:a.n], a.err
		}
	}
	n := copy(p, i.have)
	i.have = i.have[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, i.err
}
