package rule

import (
	"encoding/binary"
	"math"

	"github.com/rlprep/rlprep/schema"
	"github.com/zeebo/xxh3"
)

// A Hasher makes a Key of many parts without joining them: the digests of the parts are hashed. It is the same on every
// machine, and keeps its scratch from one key to the next.
type Hasher struct{ digests []byte }

// Reset begins a new key.
func (h *Hasher) Reset() { h.digests = h.digests[:0] }

// Text adds a string.
func (h *Hasher) Text(s string) {
	d := xxh3.HashString128(s)
	h.digests = binary.LittleEndian.AppendUint64(h.digests, d.Hi)
	h.digests = binary.LittleEndian.AppendUint64(h.digests, d.Lo)
}

// Uint adds a number.
func (h *Hasher) Uint(n uint64) { h.digests = binary.LittleEndian.AppendUint64(h.digests, n) }

// Value adds a value of any kind: equal values add the same, a null differs from every value.
func (h *Hasher) Value(v schema.Value) {
	h.Uint(uint64(v.Kind()))
	switch v.Kind() {
	case schema.Bool, schema.Int:
		h.Uint(uint64(v.Int()))
		if v.Bool() {
			h.Uint(1)
		}
	case schema.Float:
		h.Uint(math.Float64bits(v.Float()))
	case schema.List, schema.Struct:
		h.Uint(uint64(v.Len()))
		for i := range v.Len() {
			h.Value(v.Elem(i))
		}
	case schema.Missing, schema.Null:
	default:
		h.Text(v.Text())
	}
}

// Key returns the key of what was added since Reset.
func (h *Hasher) Key() Key { return xxh3.Hash128(h.digests).Bytes() }

// Sum returns 64 bits of what was added since Reset.
func (h *Hasher) Sum() uint64 { return xxh3.Hash(h.digests) }
