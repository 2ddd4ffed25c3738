package parquetio

import (
	"fmt"
	"io"
	"os"

	"github.com/rlprep/rlprep/internal/openfiles"
	"github.com/rlprep/rlprep/internal/parquetio/page"
)

const (
	bufferSize = 256 << 10
	// Below this many bytes a read and a copy into the buffer are cheaper than flushing it for the kernel's copy.
	copyInProcess = 64 << 10
)

// Out is what a Writer writes to: an *os.File, to which large copies are made by the kernel, or what brings its bytes to a file itself,
// with copies read by its ReadFrom where it has one.
type Out interface {
	io.Writer
	Name() string
}

// An output is a file that is written from front to back through a buffer that large copies go around.
type output struct {
	f   Out
	buf []byte
	off int64 // of the next byte, from where the output began
	tmp []byte
}

func newOutput(f Out) *output { return &output{f: f, buf: make([]byte, 0, bufferSize)} }

func (o *output) flush() error {
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.f.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

func (o *output) write(b []byte) error {
	o.off += int64(len(b))
	if len(b) > cap(o.buf)-len(o.buf) {
		if err := o.flush(); err != nil {
			return err
		}
		if len(b) >= cap(o.buf) {
			_, err := o.f.Write(b)
			return err
		}
	}
	o.buf = append(o.buf, b...)
	return nil
}

func (o *output) writePages(p *page.Pages) error {
	for _, b := range p.Parts() {
		if err := o.write(b); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a section of src.
func (o *output) copy(src *File, s section) error {
	if s.length > copyInProcess {
		if err := o.flush(); err != nil {
			return err
		}
		n := o.copyLarge(src, s)
		o.off += n
		s.offset, s.length = s.offset+n, s.length-n
	}
	if o.tmp == nil && s.length > 0 {
		o.tmp = make([]byte, bufferSize)
	}
	for s.length > 0 {
		b := o.tmp[:min(s.length, int64(len(o.tmp)))]
		if err := src.readAt(b, s.offset); err != nil {
			return err
		}
		if err := o.write(b); err != nil {
			return err
		}
		s.offset, s.length = s.offset+int64(len(b)), s.length-int64(len(b))
	}
	return nil
}

// copyLarge copies as much of the section as can be copied without o.tmp. What it could not read or write is tried by hand, which tells why.
func (o *output) copyLarge(src *File, s section) (n int64) {
	switch to := o.f.(type) {
	case *os.File:
		switch from := src.f.(type) {
		case *os.File:
			n = copyInKernel(to, from, s.offset, s.length)
		case *openfiles.File:
			_ = from.Use(func(from *os.File) error {
				n = copyInKernel(to, from, s.offset, s.length)
				return nil
			})
		}
	case io.ReaderFrom:
		n, _ = to.ReadFrom(io.NewSectionReader(src.f, s.offset, s.length))
	}
	return n
}

// readAt fills b from offset off, which was checked against the size of the file when it was opened.
func (f *File) readAt(b []byte, off int64) error {
	_, err := f.f.ReadAt(b, off)
	if err == io.EOF {
		return formatErrorf(f.name, "ends before byte %d: it was cut while it was read", off+int64(len(b)))
	}
	if err != nil {
		return fmt.Errorf("%s: read %d bytes at %d: %w", f.name, len(b), off, err)
	}
	return nil
}

// A window reads small sections of a file that lie near each other with few system calls.
type window struct {
	f   *File
	buf []byte
	off int64
	n   int
}

// section returns the bytes of s, valid until the next call.
func (w *window) section(f *File, s section) ([]byte, error) {
	if s.length > 1<<20 {
		b := make([]byte, s.length)
		return b, f.readAt(b, s.offset)
	}
	if f != w.f || s.offset < w.off || s.offset+s.length > w.off+int64(w.n) {
		if w.buf == nil {
			w.buf = make([]byte, 1<<20)
		}
		w.f, w.off = f, s.offset
		w.n = int(min(int64(len(w.buf)), f.size-s.offset))
		if err := f.readAt(w.buf[:w.n], s.offset); err != nil {
			w.f = nil
			return nil, err
		}
	}
	return w.buf[s.offset-w.off:][:s.length], nil
}
