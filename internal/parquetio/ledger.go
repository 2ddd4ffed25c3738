package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/rlprep/rlprep/internal/parquetio/compress"
	"github.com/rlprep/rlprep/internal/parquetio/page"
)

// A ledger keeps what is said of the chunks that are made, until it is read again, in order. That is all that a Writer keeps of a row
// group and what makes its memory grow with the file, so it is compressed and holds no pointers.
type ledger struct {
	blocks []ledgerBlock
	open   []byte // entries of the next block
}

type ledgerBlock struct {
	packed []byte
	size   int
}

// ledgerBlockSize is about how many bytes of entries are compressed together.
const ledgerBlockSize = 64 << 10

// An entry is what is said of one chunk, encoded: its ColumnMetaData, its ColumnIndex and its OffsetIndex; empty: none.
type entry [3][]byte

func (e *entry) meta() []byte    { return e[0] }
func (e *entry) columns() []byte { return e[1] }
func (e *entry) offsets() []byte { return e[2] }

// add adds a copy of e.
func (l *ledger) add(e entry) error {
	if len(l.open) >= ledgerBlockSize {
		if err := l.pack(); err != nil {
			return err
		}
	}
	for _, b := range e {
		l.open = append(binary.AppendUvarint(l.open, uint64(len(b))), b...)
	}
	return nil
}

func (l *ledger) pack() error {
	packed, err := compress.Compress(page.GetBuffer(len(l.open)/2), l.open, Zstd)
	if err != nil {
		return err
	}
	l.blocks = append(l.blocks, ledgerBlock{bytes.Clone(packed), len(l.open)})
	page.PutBuffer(packed)
	l.open = l.open[:0]
	return nil
}

// A ledgerReader gives the entries in the order in which they were added.
type ledgerReader struct {
	ledger *ledger
	block  int
	rest   []byte // of the block
	buf    []byte
}

var errLedger = errors.New("fewer column chunks are described than were written (please report this)")

// next returns the next entry, valid until the following call.
func (r *ledgerReader) next() (e entry, err error) {
	if len(r.rest) == 0 {
		if err := r.load(); err != nil {
			return e, err
		}
	}
	for i := range e {
		n, used := binary.Uvarint(r.rest)
		if used <= 0 || n > uint64(len(r.rest)-used) {
			return e, errLedger
		}
		e[i], r.rest = r.rest[used:][:n], r.rest[used:][n:]
	}
	return e, nil
}

func (r *ledgerReader) load() error {
	r.block++
	switch {
	case r.block <= len(r.ledger.blocks):
		b := &r.ledger.blocks[r.block-1]
		r.buf = page.Sized(r.buf, b.size)
		r.rest = r.buf
		return compress.Decompress(r.buf, b.packed, Zstd)
	case r.block == len(r.ledger.blocks)+1 && len(r.ledger.open) > 0:
		r.rest = r.ledger.open
		return nil
	}
	return errLedger
}
