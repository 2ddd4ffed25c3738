package spill

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

// Numbers is a list of numbers in a file. Its memory is eight bytes for each block of them. Add adds one; Seal ends that; then several
// goroutines may read.
type Numbers struct {
	file  *os.File
	out   *bufio.Writer
	n     int64
	first []int64 // of each block
}

// numbersBlock is how many numbers are read at a time.
const numbersBlock = 1 << 12

// NewNumbers returns an empty list. create makes its file.
func NewNumbers(create func() (*os.File, error)) (*Numbers, error) {
	f, err := create()
	if err != nil {
		return nil, err
	}
	return &Numbers{file: f, out: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Add adds a number. Between and Count ask that each is greater than the one before.
func (s *Numbers) Add(number int64) error {
	if s.n%numbersBlock == 0 {
		s.first = append(s.first, number)
	}
	s.n++
	if _, err := s.out.Write(binary.BigEndian.AppendUint64(nil, uint64(number))); err != nil {
		return fmt.Errorf("write spill file: %w", err)
	}
	return nil
}

// Seal is called once all numbers were added.
func (s *Numbers) Seal() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("write spill file: %w", err)
	}
	return nil
}

// Len is how many numbers there are.
func (s *Numbers) Len() int64 { return s.n }

// At returns n numbers from the i-th on.
func (s *Numbers) At(i, n int64) ([]int64, error) {
	b := make([]byte, 8*n)
	if _, err := s.file.ReadAt(b, 8*i); err != nil {
		return nil, fmt.Errorf("read spill file: %w", err)
	}
	out := make([]int64, n)
	for k := range out {
		out[k] = int64(binary.BigEndian.Uint64(b[8*k:]))
	}
	return out, nil
}

// Between returns the numbers of [first, end).
func (s *Numbers) Between(first, end int64) ([]int64, error) {
	from, err := s.below(first)
	if err != nil {
		return nil, err
	}
	to, err := s.below(end)
	if err != nil || from == to {
		return nil, err
	}
	return s.At(from, to-from)
}

// Count returns how many numbers are in [first, end).
func (s *Numbers) Count(first, end int64) (int64, error) {
	from, err := s.below(first)
	if err != nil {
		return 0, err
	}
	to, err := s.below(end)
	return to - from, err
}

// below returns how many numbers are below limit.
func (s *Numbers) below(limit int64) (int64, error) {
	block, _ := slices.BinarySearch(s.first, limit)
	if block == 0 {
		return 0, nil
	}
	from := int64(block-1) * numbersBlock
	some, err := s.At(from, min(numbersBlock, s.n-from))
	k, _ := slices.BinarySearch(some, limit)
	return from + int64(k), err
}

// Close closes the file.
func (s *Numbers) Close() error { return s.file.Close() }
