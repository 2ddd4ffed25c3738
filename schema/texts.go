package schema

import (
	"sort"
	"unsafe"
)

// Texts are values of text or bytes, one behind the other without a gap, so that what is rare is looked for in all of them at
// once. They are a view: they die with what they were made of.
type Texts struct {
	bytes   []byte
	offsets []int32 // offsets[0] is where bytes begins
}

// NewTexts returns the texts whose ends lie in b at offsets, as Arrow has them: one offset more than there are texts, each counted
// from where offsets[0] stands, which is the beginning of b; none for no text. Neither is copied.
func NewTexts(b []byte, offsets []int32) Texts { return Texts{b, offsets} }

// OneText returns s as the only text.
func OneText(s string) Texts {
	return Texts{unsafe.Slice(unsafe.StringData(s), len(s)), []int32{0, int32(len(s))}}
}

// Len is the number of texts.
func (t Texts) Len() int { return max(0, len(t.offsets)-1) }

// At returns text i.
func (t Texts) At(i int) string {
	b := t.bytes[t.offsets[i]-t.offsets[0] : t.offsets[i+1]-t.offsets[0]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// All returns the bytes of all texts.
func (t Texts) All() []byte { return t.bytes }

// End returns where text i ends in All.
func (t Texts) End(i int) int { return int(t.offsets[i+1] - t.offsets[0]) }

// IndexAt returns the text, not before text from, that holds byte at of All.
func (t Texts) IndexAt(at, from int) int {
	return from + sort.Search(t.Len()-from, func(i int) bool { return t.End(from+i) > at })
}

// A TextColumn gathers texts, one behind the other: Bytes is appended to, and End ends a text.
type TextColumn struct {
	Bytes   []byte
	offsets []int32
}

// End makes what was appended to Bytes since the last End a text.
func (c *TextColumn) End() {
	if len(c.offsets) == 0 {
		c.offsets = append(c.offsets, 0)
	}
	c.offsets = append(c.offsets, int32(len(c.Bytes)))
}

// Len is the number of texts.
func (c *TextColumn) Len() int { return max(0, len(c.offsets)-1) }

// Offsets returns where texts begin and the last one ends in Bytes, as Arrow has them. It is c's own memory.
func (c *TextColumn) Offsets() []int32 {
	if len(c.offsets) == 0 {
		c.offsets = append(c.offsets, 0)
	}
	return c.offsets
}

// Reset forgets the texts and keeps the memory.
func (c *TextColumn) Reset() { c.Bytes, c.offsets = c.Bytes[:0], c.offsets[:0] }
