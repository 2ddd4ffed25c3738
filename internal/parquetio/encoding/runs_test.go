package encoding

import (
	"slices"
	"strings"
	"testing"
)

// A bit-packed run may end within its last group, where the values end, and no earlier: Arrow refuses such a page.
func TestCutRuns(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		want []uint8 // nil: an error
	}{
		{"whole", []byte{2<<1 | 1, 0x0f, 0x01}, []uint8{1, 1, 1, 1, 0, 0, 0, 0, 1}},
		{"a group too many", []byte{2<<1 | 1, 0x0f}, nil},
		{"two groups too many", []byte{3<<1 | 1, 0x0f}, nil},
	} {
		got := make([]uint8, max(3, len(c.want)))
		_, _, err := ReadRawLevels(got, c.b, 1)
		if (err == nil) != (c.want != nil) || c.want != nil && !slices.Equal(got[:len(c.want)], c.want) {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
	}
	wide := Hybrid{b: []byte{2<<1 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 9}, width: 8} // the second group has one of its eight bytes
	got := make([]uint32, 9)
	if err := ReadHybrid(&wide, got); err != nil || got[8] != 9 {
		t.Errorf("cut in the last group: %v, %v", got, err)
	}
}

func TestLevelEncodings(t *testing.T) {
	b := []byte{2, 0, 0, 0, 6, 1}
	for encoding, ok := range map[int32]bool{RLE: true, BitPacked: true, Plain: false, Delta: false, 9: false, -1: false} {
		_, _, _, err := ReadLevels(make([]uint8, 3), b, 1, encoding)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "levels in encoding") {
			t.Errorf("encoding %d: %v", encoding, err)
		}
	}
}
