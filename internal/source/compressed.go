package source

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A decompressor makes a reader of the text in r.
type decompressor struct {
	name string
	open func(r io.Reader) (io.ReadCloser, error)
}

func codec(head []byte) *decompressor {
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return &decompressor{"gzip", newGzipMembers}
	case bytes.HasPrefix(head, zstdMagic):
		return &decompressor{"zstd", func(r io.Reader) (io.ReadCloser, error) {
			frames := &zstdFrames{in: &counted{bufio.NewReaderSize(r, 64<<10), 0}}
			d, err := zstd.NewReader(frames, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		}}
	}
	return nil
}

// maxWindow is how much memory a zstd frame may ask for: what "zstd --long=28" takes.
const maxWindow = 256 << 20

// trailing says that a compressed file goes on behind its data.
type trailing struct{ at int64 }

func (t *trailing) Error() string {
	return fmt.Sprintf("the compressed data ends at byte %d, and what follows is garbage: cut it off, or copy the file again", t.at)
}

// counted is a bufio.Reader that knows how many bytes were taken.
type counted struct {
	*bufio.Reader
	taken int64
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.taken += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader, so that a gzip reader takes no more than its member.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.taken++
	}
	return b, err
}

// gzipMembers reads the members of a gzip file one after the other. Zeros behind the last are padding, as Python's gzip has it.
type gzipMembers struct {
	in *counted
	z  *gzip.Reader
}

func newGzipMembers(r io.Reader) (io.ReadCloser, error) {
	g := &gzipMembers{in: &counted{bufio.NewReaderSize(r, 64<<10), 0}}
	z, err := gzip.NewReader(g.in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	g.z = z
	return g, nil
}

// Read implements io.Reader.
func (g *gzipMembers) Read(b []byte) (int, error) {
	for {
		n, err := g.z.Read(b)
		switch {
		case err != io.EOF:
			return n, err
		case n > 0:
			return n, nil
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the member behind this one; io.EOF where there is none.
func (g *gzipMembers) next() error {
	end := g.in.taken
	for c := byte(0); c == 0; {
		var err error
		if c, err = g.in.ReadByte(); err != nil {
			return err
		}
	}
	if err := g.in.UnreadByte(); err != nil {
		return err
	}
	g.in.taken--
	if head, _ := g.in.Peek(len(gzipMagic)); !bytes.Equal(head, gzipMagic) {
		return &trailing{end}
	}
	if err := g.z.Reset(g.in); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

// Close implements io.Closer.
func (g *gzipMembers) Close() error { return g.z.Close() }

// zstdFrames passes frames on and looks where each ends, which the decoder does not tell: garbage behind the last one is not a frame that is
// cut off.
type zstdFrames struct {
	in    *counted
	left  int64 // bytes of the part that is passed on
	state zstdPart
	sum   bool // the frame has a checksum
}

// A zstdPart is what comes next.
type zstdPart uint8

const (
	zstdFrame zstdPart = iota
	zstdBlock
	zstdSum
)

// Read implements io.Reader.
func (z *zstdFrames) Read(b []byte) (int, error) {
	for z.left == 0 {
		if err := z.next(); err != nil {
			return 0, err
		}
	}
	n, err := z.in.Read(b[:min(int64(len(b)), z.left)])
	z.left -= int64(n)
	return n, err
}

// next looks at the part that begins here. One that is cut off is passed on as it is: the decoder says so.
func (z *zstdFrames) next() error {
	switch z.state {
	case zstdFrame:
		return z.frame()
	case zstdBlock:
		head, _ := z.in.Peek(3)
		if len(head) < 3 {
			z.left = 3
			return nil
		}
		v := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		if z.left = 3 + v>>3; v>>1&3 == 1 { // one byte, repeated
			z.left = 4
		}
		if v&1 == 1 {
			z.state = zstdSum
		}
		return nil
	}
	z.state = zstdFrame
	if z.sum {
		z.left = 4
	}
	return nil
}

func (z *zstdFrames) frame() error {
	head, err := z.in.Peek(zstd.HeaderMaxSize)
	if len(head) == 0 {
		return err
	}
	var h zstd.Header
	skippable := len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
	if !skippable && !bytes.HasPrefix(head, zstdMagic) {
		return &trailing{z.in.taken}
	}
	if err := h.Decode(head); err != nil {
		z.left = int64(len(head)) // the decoder refuses it
		return nil
	}
	if h.Skippable {
		z.left = int64(h.HeaderSize) + int64(h.SkippableSize)
		return nil
	}
	z.left, z.state, z.sum = int64(h.HeaderSize), zstdBlock, h.HasCheckSum
	return nil
}
