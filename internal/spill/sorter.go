package spill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/rlprep/rlprep/internal/tempfile"
)

// A Sorter sorts records of one size by their bytes. It holds so many of them in memory; sorted runs of more go to a file.
type Sorter struct {
	size    int
	most    int
	create  func() (*os.File, error)
	records []byte
	order   []int32 // scratch: the records of a run, sorted
	sorted  []byte  // scratch
	runs    []Run
	file    *os.File
	written int64
}

// NewSorter returns a sorter of about n records of size bytes, of which most are held in memory. create makes the file, if one is needed.
func NewSorter(size, most int, n int64, create func() (*os.File, error)) *Sorter {
	return &Sorter{size: size, most: most, create: create, records: make([]byte, 0, int(min(n, int64(most)))*size)}
}

// Add adds a copy of a record.
func (s *Sorter) Add(record []byte) error {
	if s.records = append(s.records, record...); len(s.records) < s.most*s.size {
		return nil
	}
	return s.flush()
}

// AddNumber adds a number as a record of eight bytes.
func (s *Sorter) AddNumber(n int64) error {
	return s.Add(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

// Numbers ends adding and writes the numbers in order, each once.
func (s *Sorter) Numbers(to *Numbers) error {
	m, err := s.Merge()
	if err != nil {
		return err
	}
	last := int64(-1)
	b, err := m.Next()
	for ; err == nil; b, err = m.Next() {
		if n := int64(binary.BigEndian.Uint64(b)); n != last {
			last = n
			if err := to.Add(n); err != nil {
				return err
			}
		}
	}
	if err != io.EOF {
		return err
	}
	return to.Seal()
}

// Merge ends adding and returns the records in order.
func (s *Sorter) Merge() (*Merger, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	return NewMerger(s.size, s.runs)
}

// flush makes a sorted run of the records in memory. The first run stays there.
func (s *Sorter) flush() (err error) {
	if len(s.records) == 0 {
		return nil
	}
	at := func(i int32) []byte { return s.records[int(i)*s.size:][:s.size] }
	s.order = s.order[:0]
	for i := range len(s.records) / s.size {
		s.order = append(s.order, int32(i))
	}
	slices.SortFunc(s.order, func(a, b int32) int { return bytes.Compare(at(a), at(b)) })
	s.sorted = slices.Grow(s.sorted[:0], len(s.records))
	for _, i := range s.order {
		s.sorted = append(s.sorted, at(i)...)
	}
	run := Run{From: bytes.NewReader(s.sorted), Len: int64(len(s.sorted))}
	s.records = s.records[:0]
	if len(s.runs) == 0 {
		s.runs, s.sorted = append(s.runs, run), nil
		return nil
	}
	if s.file == nil {
		if s.file, err = s.create(); err != nil {
			return err
		}
	}
	if _, err := s.file.Write(s.sorted); err != nil {
		return fmt.Errorf("write spill file: %w", err)
	}
	s.runs = append(s.runs, Run{From: s.file, Off: s.written, Len: run.Len})
	s.written += run.Len
	return nil
}

// Close closes the file.
func (s *Sorter) Close() {
	if s.file != nil {
		s.file.Close()
	}
}

// Nameless returns a file in dir ("": the system's) that is gone when it is closed.
func Nameless(dir string) (*os.File, error) {
	f, err := tempfile.Create(dir, ".rlprep-*.keys")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
