package parquetio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/andybalholm/brotli"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
)

// A handPage is a page whose header says what the test wants.
type handPage struct {
	body   []byte // as it is stored
	says   int64  // bytes uncompressed
	values int
}

// handFile writes a file of one row group with a column of required bytes for each page.
func handFile(t testing.TB, codec Codec, rows int, pages ...handPage) *File {
	t.Helper()
	b := []byte(magic)
	var columns, elements []byte
	var root thrift.StructWriter
	elements = root.Stop(root.Int(thrift.AppendBytes(root.Field(elements, 4, thrift.Binary), "schema"), 5, thrift.I32, int64(len(pages))))
	for i, p := range pages {
		name, start := fmt.Sprintf("c%d", i), int64(len(b))
		var h, d thrift.StructWriter
		head := h.Int(nil, 1, thrift.I32, page.Data)
		head = h.Int(head, 2, thrift.I32, p.says)
		head = h.Int(head, 3, thrift.I32, int64(len(p.body)))
		head = d.Int(h.Field(head, 5, thrift.Struct), 1, thrift.I32, int64(p.values))
		head = d.Int(head, 2, thrift.I32, encoding.Plain)
		head = d.Int(head, 3, thrift.I32, encoding.RLE)
		head = h.Stop(d.Stop(d.Int(head, 4, thrift.I32, encoding.RLE)))
		b = append(append(b, head...), p.body...)

		var e, c, m thrift.StructWriter
		elements = e.Int(e.Int(elements, 1, thrift.I32, int64(encoding.ByteArray)), 3, thrift.I32, required)
		elements = e.Stop(thrift.AppendBytes(e.Field(elements, 4, thrift.Binary), name))
		columns = m.Int(c.Field(c.Int(columns, 2, thrift.I64, 0), 3, thrift.Struct), 1, thrift.I32, int64(encoding.ByteArray))
		columns = thrift.AppendInt(thrift.AppendList(m.Field(columns, 2, thrift.List), thrift.I32, 1), encoding.Plain)
		columns = thrift.AppendBytes(thrift.AppendList(m.Field(columns, 3, thrift.List), thrift.Binary, 1), name)
		columns = m.Int(columns, 4, thrift.I32, int64(codec))
		columns = m.Int(columns, 5, thrift.I64, int64(rows))
		columns = m.Int(columns, 6, thrift.I64, p.says+int64(len(head)))
		columns = m.Int(columns, 7, thrift.I64, int64(len(b))-start)
		columns = c.Stop(m.Stop(m.Int(columns, 9, thrift.I64, start)))
	}
	var f, g thrift.StructWriter
	footer := f.Int(nil, 1, thrift.I32, 2)
	footer = append(thrift.AppendList(f.Field(footer, 2, thrift.List), thrift.Struct, len(pages)+1), elements...)
	footer = f.Int(footer, 3, thrift.I64, int64(rows))
	footer = thrift.AppendList(f.Field(footer, 4, thrift.List), thrift.Struct, 1)
	footer = append(thrift.AppendList(g.Field(footer, 1, thrift.List), thrift.Struct, len(pages)), columns...)
	footer = f.Stop(g.Stop(g.Int(g.Int(footer, 2, thrift.I64, 0), 3, thrift.I64, int64(rows))))
	b = append(b, footer...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), magic...)
	return openBytes(t, b)
}

// plain is one value in PLAIN encoding.
func plain(v []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(v))), v...)
}

// packed compresses b with any codec that is read.
func packed(t testing.TB, codec Codec, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch codec {
	case None:
		return b
	case Snappy, Zstd:
		p, err := compress.Compress(nil, b, codec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	case compress.LZ4Raw:
		return lz4Block(t, b)
	case compress.LZ4:
		p := lz4Block(t, b)
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(b))), uint32(len(p)))
		return append(head, p...)
	case compress.Gzip:
		w = gzip.NewWriter(&out)
	case compress.Brotli:
		w = brotli.NewWriter(&out)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var readCodecs = []Codec{None, Snappy, compress.Gzip, compress.Brotli, compress.LZ4, Zstd, compress.LZ4Raw}

// readRows reads everything and returns the first error.
func readRows(f *File, lane *Lane) error {
	leaves := make([]int, len(f.leaves))
	for i := range leaves {
		leaves[i] = i
	}
	r, err := f.ReaderIn(lane, 0, leaves, 0, f.NumRows())
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Next(100); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A page that says that it is large, and is not, is refused before memory of that size is asked for.
func TestPagesThatLie(t *testing.T) {
	for _, codec := range readCodecs {
		if codec == None {
			continue // a page that is not compressed has two sizes, which must be equal
		}
		// Runs compress well; random bytes are what a bound by the compressed size would let pass.
		noise := make([]byte, 8<<20)
		r := &rand{3}
		for i := range noise {
			noise[i] = byte(r.next() >> 8)
		}
		for name, body := range map[string][]byte{"tiny": bytes.Repeat([]byte("ab"), 50), "noise": append(noise, make([]byte, 1<<10)...)} {
			f := handFile(t, codec, 1, handPage{packed(t, codec, plain(body)), 1 << 30, 1})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readRows(f, &Lane{})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), f.name+": row group 0: column c0: byte ") || !strings.Contains(err.Error(), "decompress (") {
				t.Errorf("%s: %s: %v", codec.String(), name, err)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 200 {
				t.Errorf("%s: %s: %d MiB were asked for", codec.String(), name, took)
			}
		}
	}
}

// The limits hold to the byte, for every codec, and say what to do.
func TestValueLimit(t *testing.T) {
	for _, codec := range readCodecs {
		value := bytes.Repeat([]byte("what is 2 + 2? "), 1000)
		two := append(plain(value), plain(value[:10])...)
		f := handFile(t, codec, 2, handPage{packed(t, codec, two), int64(len(two)), 2})
		f.LimitValues(int64(len(value)))
		if err := readRows(f, &Lane{}); err != nil {
			t.Errorf("%s: a value as long as the limit: %v", codec.String(), err)
		}
		f.LimitValues(int64(len(value) - 1))
		if err := readRows(f, &Lane{}); err == nil || !strings.Contains(err.Error(), "row group 0: column c0: ") || !strings.HasSuffix(err.Error(), "a value of 15000 bytes; at most 14999 are read: raise --max-value-bytes") {
			t.Errorf("%s: a value longer than the limit: %v", codec.String(), err)
		}
		f.LimitValues(int64(len(two)-1) / page.ValuesWorth)
		if err := readRows(f, &Lane{}); err == nil || !strings.Contains(err.Error(), "a page of 15018 bytes uncompressed") {
			t.Errorf("%s: a page larger than the limit: %v", codec.String(), err)
		}
	}
}

// In every encoding of text, and in a dictionary.
func TestValueLimitOfEncodings(t *testing.T) {
	for _, name := range []string{"pyarrow-plain", "pyarrow-v1-zstd", "pyarrow-types"} {
		f := openFile(t, sample(name))
		f.LimitValues(1)
		refused := 0
		for i, l := range f.leaves {
			r, err := f.Reader(0, []int{i}, 0, f.groups[0].Rows)
			if err == nil {
				_, err = r.Next(1 << 20)
				r.Close()
			}
			if err != nil && strings.Contains(err.Error(), "--max-value-bytes") && strings.Contains(err.Error(), string(l.Path)) {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: no column is refused", name)
		}
	}
}

// hugeFrom makes pages huge from so many bytes on.
func hugeFrom(t *testing.T, n int64) {
	huge, room := page.Limits.Huge, sharedHuge
	page.Limits.Huge, sharedHuge = n, n
	t.Cleanup(func() { page.Limits.Huge, sharedHuge = huge, room })
}

// Many readers of huge pages: no more than the shared room and one page are held, nobody waits for ever, and all is given back.
func TestHugePagesOfManyReaders(t *testing.T) {
	hugeFrom(t, 100_000)
	value := bytes.Repeat([]byte{'x'}, 90_000)
	two := append(plain(value), plain(value)...)
	page := handPage{packed(t, Zstd, two), int64(len(two)), 2}
	f := handFile(t, Zstd, 2, page, page)
	f.LimitValues(100_000)
	var most int64
	var watch sync.WaitGroup
	done := make(chan struct{})
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				hugePages.Lock()
				most = max(most, hugePages.held)
				hugePages.Unlock()
				time.Sleep(10 * time.Microsecond)
			}
		}
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := readRows(f, &Lane{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(done)
	watch.Wait()
	if hugePages.held != 0 || hugePages.senior != nil {
		t.Errorf("%d bytes are held still, senior %v", hugePages.held, hugePages.senior)
	}
	if most == 0 || most > sharedHuge+4*100_000 {
		t.Errorf("at most %d bytes were held at once", most)
	}
}

// Two readers of one goroutine share a lane: the second does not wait for the first. What both hold is bounded.
func TestHugePagesTogether(t *testing.T) {
	hugeFrom(t, 100_000)
	value := bytes.Repeat([]byte{'x'}, 90_000)
	two := append(plain(value), plain(value)...)
	f := handFile(t, Zstd, 2, handPage{packed(t, Zstd, two), int64(len(two)), 2})
	f.LimitValues(100_000)
	lane := &Lane{}
	var open []*Reader
	var err error
	for range 3 {
		r, e := f.ReaderIn(lane, 0, []int{0}, 0, 2)
		if e != nil {
			t.Fatal(e)
		}
		open = append(open, r)
		if _, err = r.Next(1); err != nil {
			break
		}
	}
	if len(open) != 3 || err == nil || !strings.Contains(err.Error(), "huge pages of 540024 bytes would be in memory at once") {
		t.Errorf("%d readers: %v", len(open), err)
	}
	for _, r := range open {
		r.Close()
	}
	if hugePages.held != 0 || lane.held != 0 {
		t.Errorf("%d bytes are held still", hugePages.held)
	}
}

// One row of many columns with large values is refused, with what helps.
func TestCrowdedRow(t *testing.T) {
	value := bytes.Repeat([]byte{'x'}, 90_000)
	pages := make([]handPage, 6)
	for i := range pages {
		pages[i] = handPage{plain(value), int64(len(value)) + 4, 1}
	}
	f := handFile(t, None, 1, pages...)
	f.LimitValues(100_000)
	if err := readRows(f, &Lane{}); err == nil || !strings.Contains(err.Error(), "column c4: ") || !strings.Contains(err.Error(), "one row has 360") {
		t.Errorf("got %v", err)
	}
}
