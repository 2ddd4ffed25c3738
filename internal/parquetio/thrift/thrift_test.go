package thrift

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// drawStruct makes an encoded struct with random fields, and says which.
func drawStruct(t *rapid.T, depth int) (b []byte, fields map[int16][]byte) {
	var w StructWriter
	fields = map[int16][]byte{}
	id := int16(0)
	for range rapid.IntRange(0, 6).Draw(t, "fields") {
		id += rapid.Int16Range(1, 40).Draw(t, "delta")
		typ := rapid.SampledFrom([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13}).Draw(t, "type")
		value := drawThrift(t, typ, depth)
		b = append(w.Field(b, id, typ), value...)
		fields[id] = value
	}
	return w.Stop(b), fields
}

func drawThrift(t *rapid.T, typ byte, depth int) []byte {
	switch typ {
	case I8:
		return []byte{7}
	case I16, I32, I64:
		return AppendInt(nil, rapid.Int64().Draw(t, "int"))
	case Double:
		return make([]byte, 8)
	case UUID:
		return make([]byte, 16)
	case Binary:
		return AppendBytes(nil, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"))
	case List:
		n := rapid.IntRange(0, 20).Draw(t, "n")
		b := AppendList(nil, I32, n)
		for range n {
			b = AppendInt(b, rapid.Int64().Draw(t, "elem"))
		}
		return b
	case Struct:
		if depth == 0 {
			return []byte{Stop}
		}
		b, _ := drawStruct(t, depth-1)
		return b
	}
	return nil
}

// What an edit does not name is kept; what it names is as it says, whether it was there or not.
func TestRewrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, fields := drawStruct(t, 3)
		var edits []Edit
		id := int16(0)
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			id += rapid.Int16Range(1, 40).Draw(t, "id")
			e := Edit{ID: id}
			delete(fields, id)
			if rapid.Bool().Draw(t, "set") {
				e.Type, e.Num = I64, rapid.Int64().Draw(t, "value")
				fields[id] = AppendInt(nil, e.Num)
			}
			edits = append(edits, e)
		}
		out, err := Rewrite(nil, src, edits)
		if err != nil {
			t.Fatal(err)
		}
		s := Scanner{Buf: out}
		var at, last int16
		n := 0
		for typ, ok := s.Field(&at); ok; typ, ok = s.Field(&at) {
			start := s.At
			s.Skip(typ, 0)
			want, ok := fields[at]
			if !ok || !bytes.Equal(out[start:s.At], want) {
				t.Fatalf("field %d: %x, want %x (%v)", at, out[start:s.At], want, ok)
			}
			if at <= last {
				t.Fatalf("field %d after %d", at, last)
			}
			last = at
			n++
		}
		if s.Err != nil || s.At != len(out) || n != len(fields) {
			t.Fatalf("%d fields of %d, %d bytes of %d, %v", n, len(fields), s.At, len(out), s.Err)
		}
	})
}

// Fields in any order, or there twice, come out in order, the last one counting.
func TestRewriteUnordered(t *testing.T) {
	var w StructWriter
	b := w.Int(nil, 5, I32, 50)
	b = w.Int(b, 2, I32, 20)
	b = w.Int(b, 9, I32, 90)
	b = w.Stop(w.Int(b, 5, I32, 55))
	got, err := Rewrite(nil, b, []Edit{{ID: 2, Type: I64, Num: 21}, {ID: 3, Type: I32, Num: 30}, {ID: 9}})
	if err != nil {
		t.Fatal(err)
	}
	var v StructWriter
	want := v.Int(nil, 2, I64, 21)
	want = v.Int(want, 3, I32, 30)
	want = v.Stop(v.Int(want, 5, I32, 55))
	if !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if _, err := Rewrite(nil, v.Stop(w.Int(b[:0:0], -3, I32, 1)), nil); err == nil {
		t.Error("a field with a negative number was taken")
	}
}

func TestScannerBounds(t *testing.T) {
	deep := bytes.Repeat([]byte{1<<4 | Struct}, 10_000)
	for name, b := range map[string][]byte{
		"binary longer than the rest": {1<<4 | Binary, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"list longer than the rest":   {1<<4 | List, 0xf0 | I32, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"map longer than the rest":    {1<<4 | Map, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x55},
		"varint without end":          {1<<4 | I64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"unknown type":                {1<<4 | 14, 0},
		"no stop":                     {1<<4 | True},
		"empty":                       {},
		"deep":                        deep,
		"deep lists":                  append([]byte{1<<4 | List}, bytes.Repeat([]byte{1<<4 | List}, 10_000)...),
	} {
		s := Scanner{Buf: b}
		s.Skip(Struct, 0)
		if s.Err == nil {
			t.Errorf("%s: no error", name)
		}
		if s.At != len(b) {
			t.Errorf("%s: at %d after an error, want %d", name, s.At, len(b))
		}
	}
}
