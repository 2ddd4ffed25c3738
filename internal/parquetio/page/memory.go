package page

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/rlprep/rlprep/internal/parquetio/freelist"
)

// Buffers is the memory of a reader of several leaves. It goes from one reader to the next: pages of a file are much alike.
type Buffers struct {
	packed  []byte // a page as it is stored; held no longer than a call
	numbers []uint32
	Leaves  []LeafBuffers
}

// LeafBuffers is the memory of one leaf: its open page and, where the reader may use them again, the values of its vectors.
type LeafBuffers struct {
	Page    []byte
	Data    []byte
	Offsets []int32

	OtherData    []byte // in turn with these, where slices are read ahead
	OtherOffsets []int32
}

var bufferPool = freelist.New(func() *Buffers { return &Buffers{} })

// TakeBuffers returns memory for a reader of so many leaves. The reader owns it until GiveBack.
func TakeBuffers(leaves int) *Buffers {
	b := bufferPool.Get()
	b.Leaves = slices.Grow(b.Leaves, max(0, leaves-len(b.Leaves)))[:max(leaves, len(b.Leaves))]
	return b
}

// keptBytes is how much memory is kept for other pages.
const keptBytes = 8 << 20

// GiveBack keeps the memory for another reader, but for what is uncommonly large.
func (b *Buffers) GiveBack() {
	const most = keptBytes
	if cap(b.packed) > most {
		b.packed = nil
	}
	for i := range b.Leaves {
		if l := &b.Leaves[i]; cap(l.Page)+cap(l.Data)+cap(l.OtherData)+4*(cap(l.Offsets)+cap(l.OtherOffsets)) > most {
			*l = LeafBuffers{}
		}
	}
	bufferPool.Put(b)
}

// pooledPages is the least size of a buffer of pages that is worth keeping.
const pooledPages = 64 << 10

// pagePools hold buffers by size: four classes from one power of two to the next, so that none is much larger than it need be.
var pagePools [4 * 40]sync.Pool // *[]byte

// pageClass returns the size of the least class that holds n bytes, and its number.
func pageClass(n int) (size, class int) {
	power := bits.Len(uint(max(n, pooledPages) - 1)) // n <= 1<<power
	quarter := 1 << (power - 3)                      // of the way from the power below
	steps := (max(n, pooledPages) - 1<<(power-1) + quarter - 1) / quarter
	return 1<<(power-1) + steps*quarter, 4*(power-16) + steps
}

// GetBuffer returns an empty buffer for n bytes of pages.
func GetBuffer(n int) []byte {
	if n < pooledPages/4 {
		return make([]byte, 0, n)
	}
	size, class := pageClass(n)
	if p, _ := pagePools[class].Get().(*[]byte); p != nil {
		return (*p)[:0]
	}
	return make([]byte, 0, size)
}

// PutBuffer keeps b for a later GetBuffer. The caller does not use b after that.
func PutBuffer(b []byte) {
	if size, class := pageClass(cap(b)); size == cap(b) {
		pagePools[class].Put(&b)
	}
}
