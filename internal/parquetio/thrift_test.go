package parquetio

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
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
			meta := f.chunks[i].meta.of(f.footer)
			if b := rewrite(t, meta); !bytes.Equal(b, meta) {
				t.Errorf("%s: chunk %d changed", name, i)
			}
		}
	}
}

// drawStruct makes an encoded struct with random fields, and says which.
func drawStruct(t *rapid.T, depth int) (b []byte, fields map[int16][]byte) {
	var w structWriter
	fields = map[int16][]byte{}
	id := int16(0)
	for range rapid.IntRange(0, 6).Draw(t, "fields") {
		id += rapid.Int16Range(1, 40).Draw(t, "delta")
		typ := rapid.SampledFrom([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13}).Draw(t, "type")
		value := drawThrift(t, typ, depth)
		b = append(w.field(b, id, typ), value...)
		fields[id] = value
	}
	return w.stop(b), fields
}

func drawThrift(t *rapid.T, typ byte, depth int) []byte {
	switch typ {
	case thriftI8:
		return []byte{7}
	case thriftI16, thriftI32, thriftI64:
		return appendInt(nil, rapid.Int64().Draw(t, "int"))
	case thriftDouble:
		return make([]byte, 8)
	case thriftUUID:
		return make([]byte, 16)
	case thriftBinary:
		return appendBytes(nil, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"))
	case thriftList:
		n := rapid.IntRange(0, 20).Draw(t, "n")
		b := appendList(nil, thriftI32, n)
		for range n {
			b = appendInt(b, rapid.Int64().Draw(t, "elem"))
		}
		return b
	case thriftStruct:
		if depth == 0 {
			return []byte{thriftStop}
		}
		b, _ := drawStruct(t, depth-1)
		return b
	}
	return nil
}

// What an edit does not name is kept; what it names is as it says, whether it was there or not.
func TestRewriteStruct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, fields := drawStruct(t, 3)
		var edits []edit
		id := int16(0)
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			id += rapid.Int16Range(1, 40).Draw(t, "id")
			e := edit{id: id}
			delete(fields, id)
			if rapid.Bool().Draw(t, "set") {
				e.typ, e.num = thriftI64, rapid.Int64().Draw(t, "value")
				fields[id] = appendInt(nil, e.num)
			}
			edits = append(edits, e)
		}
		out, err := rewriteStruct(nil, src, edits)
		if err != nil {
			t.Fatal(err)
		}
		s := scanner{b: out}
		var at, last int16
		n := 0
		for typ, ok := s.field(&at); ok; typ, ok = s.field(&at) {
			start := s.pos
			s.skip(typ, 0)
			want, ok := fields[at]
			if !ok || !bytes.Equal(out[start:s.pos], want) {
				t.Fatalf("field %d: %x, want %x (%v)", at, out[start:s.pos], want, ok)
			}
			if at <= last {
				t.Fatalf("field %d after %d", at, last)
			}
			last = at
			n++
		}
		if s.err != nil || s.pos != len(out) || n != len(fields) {
			t.Fatalf("%d fields of %d, %d bytes of %d, %v", n, len(fields), s.pos, len(out), s.err)
		}
	})
}

// Fields in any order, or there twice, come out in order, the last one counting.
func TestRewriteUnordered(t *testing.T) {
	var w structWriter
	b := w.int(nil, 5, thriftI32, 50)
	b = w.int(b, 2, thriftI32, 20)
	b = w.int(b, 9, thriftI32, 90)
	b = w.stop(w.int(b, 5, thriftI32, 55))
	got := rewrite(t, b, edit{id: 2, typ: thriftI64, num: 21}, edit{id: 3, typ: thriftI32, num: 30}, edit{id: 9})
	var v structWriter
	want := v.int(nil, 2, thriftI64, 21)
	want = v.int(want, 3, thriftI32, 30)
	want = v.stop(v.int(want, 5, thriftI32, 55))
	if !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if _, err := rewriteStruct(nil, v.stop(w.int(b[:0:0], -3, thriftI32, 1)), nil); err == nil {
		t.Error("a field with a negative number was taken")
	}
}

func TestScannerBounds(t *testing.T) {
	deep := bytes.Repeat([]byte{1<<4 | thriftStruct}, 10_000)
	for name, b := range map[string][]byte{
		"binary longer than the rest": {1<<4 | thriftBinary, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"list longer than the rest":   {1<<4 | thriftList, 0xf0 | thriftI32, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"map longer than the rest":    {1<<4 | thriftMap, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x55},
		"varint without end":          {1<<4 | thriftI64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"unknown type":                {1<<4 | 14, 0},
		"no stop":                     {1<<4 | thriftTrue},
		"empty":                       {},
		"deep":                        deep,
		"deep lists":                  append([]byte{1<<4 | thriftList}, bytes.Repeat([]byte{1<<4 | thriftList}, 10_000)...),
	} {
		s := scanner{b: b}
		s.skip(thriftStruct, 0)
		if s.err == nil {
			t.Errorf("%s: no error", name)
		}
		if s.pos != len(b) {
			t.Errorf("%s: at %d after an error, want %d", name, s.pos, len(b))
		}
	}
}
