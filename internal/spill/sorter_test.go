package spill

import (
	"encoding/binary"
	"io"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Records come back in the order of their bytes, however few are held in memory; as numbers, each once.
func TestSorter(t *testing.T) {
	dir := t.TempDir()
	create := func() (*os.File, error) { return Nameless(dir) }
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 0, 60).Draw(t, "numbers")
		for range rapid.IntRange(0, 10).Draw(t, "twice") {
			if len(in) > 0 {
				in = append(in, rapid.SampledFrom(in).Draw(t, "again"))
			}
		}
		most := rapid.IntRange(1, 20).Draw(t, "most")
		records, numbers := NewSorter(8, most, int64(len(in)), create), NewSorter(8, most, 0, create)
		defer records.Close()
		defer numbers.Close()
		for _, n := range in {
			if err := records.Add(binary.BigEndian.AppendUint64(nil, uint64(n))); err != nil {
				t.Fatal(err)
			}
			if err := numbers.AddNumber(n); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(in)
		m, err := records.Merge()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range in {
			if b, err := m.Next(); err != nil || int64(binary.BigEndian.Uint64(b)) != n {
				t.Fatalf("got %x, %v, want %d", b, err, n)
			}
		}
		if _, err := m.Next(); err != io.EOF {
			t.Fatalf("got %v", err)
		}
		list, err := NewNumbers(create)
		if err != nil {
			t.Fatal(err)
		}
		defer list.Close()
		if err := numbers.Numbers(list); err != nil {
			t.Fatal(err)
		}
		checkNumbers(t, list, slices.Compact(in))
	})
}

func checkNumbers(t *rapid.T, list *Numbers, want []int64) {
	got, err := list.Between(0, 1<<62)
	if err != nil || list.Len() != int64(len(want)) || !slices.Equal(got, want) {
		t.Fatalf("%v: got %v, want %v", err, got, want)
	}
	for range 5 {
		first := rapid.Int64Range(0, 1<<40).Draw(t, "first")
		end := rapid.Int64Range(first, 1<<40+1).Draw(t, "end")
		if len(want) > 0 && rapid.Bool().Draw(t, "of the list") {
			first = rapid.SampledFrom(want).Draw(t, "first of the list")
			end = max(first, end)
		}
		var in []int64
		for _, n := range want {
			if n >= first && n < end {
				in = append(in, n)
			}
		}
		got, err := list.Between(first, end)
		n, countErr := list.Count(first, end)
		if err != nil || countErr != nil || n != int64(len(in)) || !slices.Equal(got, in) {
			t.Fatalf("%v %v: [%d, %d): got %v, counted %d, want %v", err, countErr, first, end, got, n, in)
		}
	}
}

// A list of many blocks is searched block by block.
func TestNumbersOfManyBlocks(t *testing.T) {
	list, err := NewNumbers(func() (*os.File, error) { return Nameless(t.TempDir()) })
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	const n = 5*numbersBlock + 17
	for i := range int64(n) {
		if err := list.Add(3 * i); err != nil {
			t.Fatal(err)
		}
	}
	if err := list.Seal(); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int64{0, 1, numbersBlock - 1, numbersBlock, numbersBlock + 1, 3 * numbersBlock, n - 1} {
		if c, err := list.Count(0, 3*i); err != nil || c != i {
			t.Errorf("%d numbers below %d, %v", c, 3*i, err)
		}
		if got, err := list.Between(3*i, 3*i+1); err != nil || !slices.Equal(got, []int64{3 * i}) {
			t.Errorf("got %v, %v", got, err)
		}
		if got, err := list.At(i, 1); err != nil || got[0] != 3*i {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if _, err := list.At(n, 1); err == nil {
		t.Error("a number behind the last")
	}
}
