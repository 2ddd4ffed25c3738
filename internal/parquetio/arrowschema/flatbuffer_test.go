package arrowschema

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// Offsets may point to one thing twice: a few hundred bytes describe a tree of 2^60 fields, a chain of them one of any depth.
func TestEndlessArrowSchema(t *testing.T) {
	for name, c := range map[string]struct{ depth, width int }{"wide": {60, 2}, "deep": {5000, 1}} {
		b := schemaMessage(c.depth, c.width)
		if err := checkSchemaMessage(b); err == nil {
			t.Errorf("%s: %d bytes were taken", name, len(b))
		}
	}
	if err := checkSchemaMessage(schemaMessage(3, 1)); err != nil {
		t.Errorf("the test's own message is refused: %v", err)
	}
}

// schemaMessage makes a message with a schema whose field has depth fields below each other, each width times.
func schemaMessage(depth, width int) []byte {
	u16 := func(b []byte, v ...int) []byte {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		}
		return b
	}
	u32 := func(b []byte, v ...int) []byte {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
		return b
	}
	// A vtable stands before its table, so the offset back to it is its size.
	b := u32(nil, 16)
	b = u16(b, 12, 12, 0, 8, 4, 0)            // Message: header_type, header
	b = append(u32(b, 12, 20, 1), 0, 0, 0, 0) // header 20 bytes on, type 1: Schema
	b = u16(b, 8, 8, 0, 4)                    // Schema: fields
	b = u32(b, 8, 4)
	for i := range depth + 1 {
		// a vector of fields: each is a vtable of 16 bytes, then the table
		n := 1
		if i > 0 {
			n = width
		}
		b = u32(b, n)
		for k := range n {
			b = u32(b, 4*(n-k)+16)
		}
		children := 4
		if i == depth {
			children = 0
		}
		b = u16(b, 16, 16, 0, 0, 12, 8, 0, children) // Field: type's kind, type, children
		b = u32(b, 16, 20, 12, 1)                    // children 20 bytes on, behind the type, which is 12 bytes on: Null
		b = u32(u16(b, 4, 4), 4)
	}
	return b
}

// A type that Arrow does not know, no type, and integers of other widths: Arrow makes no schema of these.
func TestArrowSchemaTypes(t *testing.T) {
	good := schemaMessage(0, 1)
	kind := len(good) - 12 // behind it, the table of the type
	for _, to := range []byte{flatInt, flatLast + 1, 0} {
		b := bytes.Clone(good)
		b[kind] = to
		if err := checkSchemaMessage(b); err == nil {
			t.Errorf("a field of kind %d is taken", to)
		}
	}
	if err := checkSchemaMessage(good); err != nil {
		t.Error(err)
	}
}
