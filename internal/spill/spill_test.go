package spill

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// runs lays sorted runs of 8-byte records into one file.
func runs(lists [][]uint64) (out []Run) {
	var file bytes.Buffer
	for _, l := range lists {
		off := file.Len()
		for _, v := range l {
			file.Write(binary.BigEndian.AppendUint64(nil, v))
		}
		out = append(out, Run{Off: int64(off), Len: int64(file.Len() - off)})
	}
	for i := range out {
		out[i].From = bytes.NewReader(file.Bytes())
	}
	return out
}

func rest(t *rapid.T, m *Merger) (out []uint64) {
	for {
		b, err := m.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, binary.BigEndian.Uint64(b))
	}
}

func TestMergerSorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, 20), 0, 12), 0, 6).Draw(t, "lists")
		var want []uint64
		for i := range lists {
			slices.Sort(lists[i])
			want = append(want, lists[i]...)
		}
		slices.Sort(want)
		m, err := NewMerger(8, runs(lists))
		if err != nil {
			t.Fatal(err)
		}
		take := rapid.IntRange(0, len(want)).Draw(t, "take")
		var got []uint64
		for range take {
			b, err := m.Next()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, binary.BigEndian.Uint64(b))
		}
		if take > 0 { // a copy begins with the record at hand
			c, err := m.Clone()
			if err != nil {
				t.Fatal(err)
			}
			if tail := rest(t, c); !slices.Equal(tail, want[take-1:]) {
				t.Fatalf("copy at %d gives %v, want %v", take, tail, want[take-1:])
			}
		}
		if got = append(got, rest(t, m)...); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestMergerRefusesHalfRecords(t *testing.T) {
	if _, err := NewMerger(8, []Run{{From: bytes.NewReader(make([]byte, 12)), Len: 12}}); err == nil {
		t.Error("a run of 12 bytes was taken for records of 8")
	}
}
