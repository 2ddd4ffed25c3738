// Package spill sorts more records than memory should hold: runs of sorted records of one size are written to files and
// merged from there.
package spill

import (
	"bufio"
	"bytes"
	"container/heap"
	"fmt"
	"io"
	"slices"
)

// A Run is a range of a file that holds sorted records.
type Run struct {
	From io.ReaderAt
	Off  int64
	Len  int64
}

// A Merger gives the records of sorted runs in the order of their bytes, equal ones in the order of the runs. Its memory is
// 16 KiB a run.
type Merger struct {
	heap    merger
	started bool
}

// NewMerger returns a merger of records of size bytes each.
func NewMerger(size int, runs []Run) (*Merger, error) {
	m := &Merger{}
	for i, r := range runs {
		if r.Len%int64(size) != 0 {
			return nil, fmt.Errorf("spill file: run of %d bytes is no multiple of %d", r.Len, size)
		}
		c := &cursor{order: i, run: r, record: make([]byte, size), in: bufio.NewReaderSize(io.NewSectionReader(r.From, r.Off, r.Len), 16<<10)}
		switch err := c.next(); err {
		case nil:
			m.heap = append(m.heap, c)
		case io.EOF:
		default:
			return nil, err
		}
	}
	heap.Init(&m.heap)
	return m, nil
}

// Clone returns a merger that gives the record at which m stands (the last that Next gave) and those after it.
func (m *Merger) Clone() (*Merger, error) {
	runs := make([]Run, 0, len(m.heap))
	size := 0
	cs := slices.Clone(m.heap)
	slices.SortFunc(cs, func(a, b *cursor) int { return a.order - b.order })
	for _, c := range cs {
		size = len(c.record)
		done := c.read - int64(size) // the current record is given again
		runs = append(runs, Run{From: c.run.From, Off: c.run.Off + done, Len: c.run.Len - done})
	}
	if size == 0 {
		return &Merger{}, nil
	}
	return NewMerger(size, runs)
}

// Next returns the next record, valid until the following call, and io.EOF after the last.
func (m *Merger) Next() ([]byte, error) {
	if m.started && len(m.heap) > 0 {
		switch err := m.heap[0].next(); err {
		case nil:
			heap.Fix(&m.heap, 0)
		case io.EOF:
			heap.Pop(&m.heap)
		default:
			return nil, err
		}
	}
	m.started = true
	if len(m.heap) == 0 {
		return nil, io.EOF
	}
	return m.heap[0].record, nil
}

type cursor struct {
	order  int
	run    Run
	read   int64 // bytes taken of run
	record []byte
	in     *bufio.Reader
}

func (c *cursor) next() error {
	n, err := io.ReadFull(c.in, c.record)
	c.read += int64(n)
	if err == io.ErrUnexpectedEOF {
		return fmt.Errorf("read spill file: %w", err)
	}
	return err
}

type merger []*cursor

func (m merger) Len() int { return len(m) }
func (m merger) Less(i, j int) bool {
	if c := bytes.Compare(m[i].record, m[j].record); c != 0 {
		return c < 0
	}
	return m[i].order < m[j].order
}
func (m merger) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merger) Push(x any)   { *m = append(*m, x.(*cursor)) }
func (m *merger) Pop() any {
	old := *m
	c := old[len(old)-1]
	*m = old[:len(old)-1]
	return c
}
