package arrowschema

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Arrow's decoder allocates by the counts in a schema message before it looks whether they are there: one flipped bit made
// it ask for 47 GB, and running out of memory ends a Go program. So the message is walked first, with bounds.

var errFlatbuffer = errors.New("damaged")

// maxDepth bounds the nesting of fields.
const maxDepth = 100

// A flatbuffer walks the tables of an Arrow schema message. budget bounds the fields visited: offsets may point anywhere, so
// a small message can describe an endless tree.
type flatbuffer struct {
	b      []byte
	budget int
}

// A flatTable is a table: where it stands and where its vtable and the end of that are.
type flatTable struct {
	pos, vtable, vtableEnd int
}

func (f *flatbuffer) u16(pos int) (int, error) {
	if pos < 0 || pos > len(f.b)-2 {
		return 0, errFlatbuffer
	}
	return int(binary.LittleEndian.Uint16(f.b[pos:])), nil
}

func (f *flatbuffer) u32(pos int) (int, error) {
	if pos < 0 || pos > len(f.b)-4 {
		return 0, errFlatbuffer
	}
	return int(binary.LittleEndian.Uint32(f.b[pos:])), nil
}

// table checks the table at pos: its vtable and every field that the vtable says lie within the message.
func (f *flatbuffer) table(pos int) (flatTable, error) {
	off, err := f.u32(pos)
	if err != nil {
		return flatTable{}, err
	}
	t := flatTable{pos: pos, vtable: pos - int(int32(off))}
	n, err := f.u16(t.vtable)
	if err != nil {
		return t, err
	}
	size, err := f.u16(t.vtable + 2)
	if err != nil || n < 4 || n%2 != 0 || t.vtable+n > len(f.b) || pos+size > len(f.b) {
		return t, errFlatbuffer
	}
	t.vtableEnd = t.vtable + n
	for at := t.vtable + 4; at < t.vtableEnd; at += 2 {
		if off, _ := f.u16(at); off != 0 && (off < 4 || off >= size) {
			return t, errFlatbuffer
		}
	}
	return t, nil
}

// slot returns where field number i of the table stands, 0 where it is absent.
func (f *flatbuffer) slot(t flatTable, i int) int {
	at := t.vtable + 4 + 2*i
	if at >= t.vtableEnd {
		return 0
	}
	off, _ := f.u16(at)
	if off == 0 {
		return 0
	}
	return t.pos + off
}

// follow returns where the offset in slot i points, 0 where it is absent.
func (f *flatbuffer) follow(t flatTable, i int) (int, error) {
	pos := f.slot(t, i)
	if pos == 0 {
		return 0, nil
	}
	off, err := f.u32(pos)
	if err != nil || off == 0 || off > len(f.b)-pos {
		return 0, errFlatbuffer
	}
	return pos + off, nil
}

// vector returns where the elements of the vector in slot i begin and how many there are, each of size bytes.
func (f *flatbuffer) vector(t flatTable, i, size int) (pos, n int, err error) {
	pos, err = f.follow(t, i)
	if err != nil || pos == 0 {
		return 0, 0, err
	}
	n, err = f.u32(pos)
	if err != nil || n > (len(f.b)-pos-4)/size {
		return 0, 0, errFlatbuffer
	}
	return pos + 4, n, nil
}

// tables calls do for each table of the vector in slot i.
func (f *flatbuffer) tables(t flatTable, i int, do func(flatTable) error) error {
	pos, n, err := f.vector(t, i, 4)
	for ; n > 0 && err == nil; n-- {
		if f.budget--; f.budget < 0 {
			return fmt.Errorf("%w: it has more parts than bytes", errFlatbuffer)
		}
		var off int
		var sub flatTable
		if off, err = f.u32(pos); err != nil {
			return err
		}
		if sub, err = f.table(pos + off); err == nil {
			err = do(sub)
		}
		pos += 4
	}
	return err
}

// checkSchemaMessage checks the flatbuffer of an Arrow message (Message.fbs, Schema.fbs): it is a schema without a body, and
// every count in it is of things that are there.
func checkSchemaMessage(b []byte) error {
	f := flatbuffer{b: b, budget: len(b) / 8}
	root, err := f.u32(0)
	if err != nil {
		return err
	}
	msg, err := f.table(root)
	if err != nil {
		return err
	}
	if pos := f.slot(msg, 1); pos == 0 || pos >= len(b) || b[pos] != 1 {
		return fmt.Errorf("%w: not a schema", errFlatbuffer)
	}
	if pos := f.slot(msg, 3); pos != 0 && (pos > len(b)-8 || binary.LittleEndian.Uint64(b[pos:]) != 0) {
		return fmt.Errorf("%w: it has a body", errFlatbuffer)
	}
	pos, err := f.follow(msg, 2)
	if err != nil || pos == 0 {
		return errFlatbuffer
	}
	schema, err := f.table(pos)
	if err != nil {
		return err
	}
	if _, _, err := f.vector(schema, 3, 8); err != nil {
		return err
	}
	if err := f.checkPairs(schema, 2); err != nil {
		return err
	}
	if err := f.checkPairs(msg, 4); err != nil {
		return err
	}
	return f.tables(schema, 1, func(t flatTable) error { return f.checkField(t, 0) })
}

func (f *flatbuffer) checkPairs(t flatTable, slot int) error {
	return f.tables(t, slot, func(kv flatTable) error {
		if _, _, err := f.vector(kv, 0, 1); err != nil {
			return err
		}
		_, _, err := f.vector(kv, 1, 1)
		return err
	})
}

func (f *flatbuffer) checkField(t flatTable, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested more than %d deep", errFlatbuffer, maxDepth)
	}
	if _, _, err := f.vector(t, 0, 1); err != nil {
		return err
	}
	if err := f.checkType(t); err != nil {
		return err
	}
	if err := f.checkPairs(t, 6); err != nil {
		return err
	}
	return f.tables(t, 5, func(c flatTable) error { return f.checkField(c, depth+1) })
}

// Members of the union Type.
const (
	flatInt       = 2
	flatTimestamp = 10
	flatUnion     = 14
	flatLast      = 26 // LargeListView, of Arrow 26
)

// checkType checks the type of a field, and that of its dictionary's indices.
func (f *flatbuffer) checkType(field flatTable) error {
	kind := byte(0)
	if pos := f.slot(field, 2); pos != 0 && pos < len(f.b) {
		kind = f.b[pos]
	}
	pos, err := f.follow(field, 3)
	if err != nil {
		return err
	}
	if kind == 0 || kind > flatLast || pos == 0 {
		return fmt.Errorf("%w: a field without a type that Arrow knows", errFlatbuffer)
	}
	t, err := f.table(pos)
	if err != nil {
		return err
	}
	switch kind {
	case flatInt:
		err = f.checkInt(t)
	case flatTimestamp:
		_, _, err = f.vector(t, 1, 1)
	case flatUnion:
		_, _, err = f.vector(t, 1, 4)
	}
	if err != nil {
		return err
	}
	pos, err = f.follow(field, 4) // dictionary
	if err != nil || pos == 0 {
		return err
	}
	if t, err = f.table(pos); err != nil {
		return err
	}
	if pos, err = f.follow(t, 1); err == nil && pos != 0 {
		if t, err = f.table(pos); err == nil {
			err = f.checkInt(t)
		}
	}
	return err
}

// checkInt checks a table Int: how many bits it says.
func (f *flatbuffer) checkInt(t flatTable) error {
	bits := 0
	if pos := f.slot(t, 0); pos != 0 {
		bits, _ = f.u32(pos)
	}
	if bits != 8 && bits != 16 && bits != 32 && bits != 64 {
		return fmt.Errorf("%w: integers of %d bits", errFlatbuffer, bits)
	}
	return nil
}
