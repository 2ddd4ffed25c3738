package mutant

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Types of Thrift's compact protocol.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI16    = 4
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeStruct = 12
)

// A value is any Thrift value. It keeps what it was read from: fields may be repeated, missing, out of order or of the wrong type.
type value struct {
	typ    byte
	num    int64
	bytes  []byte // binary and double
	elem   byte   // type of the items
	items  []*value
	fields []*field
}

type field struct {
	id int16
	*value
}

var errThrift = errors.New("the Thrift struct cannot be read")

// parse reads a struct at the front of b and returns how many bytes it has.
func parse(b []byte) (v *value, n int, err error) {
	r := &reader{b: b}
	v = r.value(typeStruct, 0)
	if r.failed {
		return nil, 0, errThrift
	}
	return v, len(b) - len(r.b), nil
}

type reader struct {
	b      []byte
	failed bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.failed = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) zigzag() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.failed = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return slices.Clone(out)
}

func (r *reader) value(typ byte, depth int) *value {
	v := &value{typ: typ}
	switch {
	case r.failed || depth > 40:
		r.failed = true
	case typ == typeByte:
		v.num = int64(int8(r.byte()))
	case typ >= typeI16 && typ <= typeI64:
		v.num = r.zigzag()
	case typ == typeDouble:
		v.bytes = r.take(8)
	case typ == typeBinary:
		v.bytes = r.take(r.uvarint())
	case typ == typeList || typ == typeSet:
		head := r.byte()
		size := uint64(head >> 4)
		if size == 15 {
			size = r.uvarint()
		}
		v.elem = head & 15
		for i := uint64(0); i < size && !r.failed; i++ {
			item := v.elem
			if item == typeTrue || item == typeFalse {
				item = r.byte()
				v.items = append(v.items, &value{typ: item})
				continue
			}
			v.items = append(v.items, r.value(item, depth+1))
		}
	case typ == typeStruct:
		r.fields(v, depth)
	case typ != typeTrue && typ != typeFalse:
		r.failed = true
	}
	return v
}

func (r *reader) fields(v *value, depth int) {
	id := int16(0)
	for !r.failed {
		head := r.byte()
		if head == 0 {
			return
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			id = int16(r.zigzag())
		}
		v.fields = append(v.fields, &field{id, r.value(head&15, depth+1)})
	}
}

func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

// encode appends v to b.
func (v *value) encode(b []byte) []byte {
	switch v.typ {
	case typeByte:
		b = append(b, byte(v.num))
	case typeI16, typeI32, typeI64:
		b = binary.AppendUvarint(b, zigzag(v.num))
	case typeDouble:
		b = append(b, append(slices.Clone(v.bytes), make([]byte, 8)...)[:8]...)
	case typeBinary:
		b = append(binary.AppendUvarint(b, uint64(len(v.bytes))), v.bytes...)
	case typeList, typeSet:
		if n := len(v.items); n < 15 {
			b = append(b, byte(n<<4)|v.elem)
		} else {
			b = binary.AppendUvarint(append(b, 0xf0|v.elem), uint64(n))
		}
		for _, item := range v.items {
			if item.typ == typeTrue || item.typ == typeFalse {
				b = append(b, item.typ)
				continue
			}
			b = item.encode(b)
		}
	case typeStruct:
		last := int16(0)
		for _, f := range v.fields {
			if delta := f.id - last; delta > 0 && delta < 16 {
				b = append(b, byte(delta<<4)|f.typ)
			} else {
				b = binary.AppendUvarint(append(b, f.typ), zigzag(int64(f.id)))
			}
			last = f.id
			b = f.value.encode(b)
		}
		b = append(b, 0)
	}
	return b
}

func (v *value) clone() *value {
	out := *v
	out.bytes = slices.Clone(v.bytes)
	out.items, out.fields = nil, nil
	for _, item := range v.items {
		out.items = append(out.items, item.clone())
	}
	for _, f := range v.fields {
		out.fields = append(out.fields, &field{f.id, f.value.clone()})
	}
	return &out
}

// at returns the first field of that number below v, step by step; an empty value where there is none.
func (v *value) at(ids ...int16) *value {
	for _, id := range ids {
		i := slices.IndexFunc(v.fields, func(f *field) bool { return f.id == id })
		if i < 0 {
			return &value{}
		}
		v = v.fields[i].value
	}
	return v
}

// set sets an existing number, or adds it.
func (v *value) set(id int16, typ byte, n int64) {
	if f := v.at(id); f.typ != 0 {
		f.num = n
		return
	}
	v.add(id, &value{typ: typ, num: n})
}

// add adds a field in its place by number.
func (v *value) add(id int16, to *value) {
	i := slices.IndexFunc(v.fields, func(f *field) bool { return f.id > id })
	if i < 0 {
		i = len(v.fields)
	}
	v.fields = slices.Insert(v.fields, i, &field{id, to})
}

func (v *value) remove(id int16) {
	v.fields = slices.DeleteFunc(v.fields, func(f *field) bool { return f.id == id })
}
