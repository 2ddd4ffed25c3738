package lintcache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const recordSize = 10

func open(t *testing.T, limit int64) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "cache"), limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, key string, records []byte, head string) {
	t.Helper()
	w := s.Create(key)
	if w == nil {
		t.Fatal("no writer")
	}
	for i := 0; i < len(records); i += recordSize {
		w.Write(records[i:i+recordSize], markOf(i/recordSize))
	}
	w.Commit([]byte(head))
}

func markOf(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }

// get returns what is kept, and whether something is that is whole.
func get(s *Store, key string) (records, head []byte, ok bool) {
	var shown, again []byte
	e := s.Load(key, recordSize, func(b []byte) { shown = append(shown, b...) })
	if e == nil {
		return nil, nil, false
	}
	defer e.Close()
	var b []byte
	for i := range e.Blocks() {
		marks, err := e.Marks(i, nil)
		if err != nil {
			return nil, nil, false
		}
		again = append(again, marks...)
		if b, err = e.Records(i, b); err != nil {
			return nil, nil, false
		}
		records = append(records, b...)
	}
	for i := range len(records) / recordSize {
		if binary.LittleEndian.Uint64(again[8*i:]) != markOf(i) {
			return nil, nil, false
		}
	}
	return records, e.Head(), bytes.Equal(shown, again)
}

func TestRoundTrip(t *testing.T) {
	s := open(t, 1<<20)
	for _, n := range []int{0, 1, 7, blockRecords, 10000} {
		key, records := fmt.Sprintf("key\n%d", n), bytes.Repeat([]byte("0123456789"), n)
		put(t, s, key, records, "head")
		if got, head, ok := get(s, key); !ok || !bytes.Equal(got, records) || string(head) != "head" {
			t.Errorf("%d records: %d bytes, head %q, %v", n, len(got), head, ok)
		}
	}
	if _, _, ok := get(s, "another"); ok {
		t.Error("something is kept under a key that was never used")
	}
	put(t, s, "key\n1", []byte("9876543210"), "new")
	if got, head, _ := get(s, "key\n1"); string(got) != "9876543210" || string(head) != "new" {
		t.Errorf("replaced: %q, %q", got, head)
	}
	w := s.Create("left out")
	w.Write([]byte("0123456789"), 1)
	w.Discard()
	if _, _, ok := get(s, "left out"); ok {
		t.Error("what was discarded is there")
	}
	if parts, _ := filepath.Glob(filepath.Join(s.dir, "*"+partSuffix)); len(parts) > 0 {
		t.Errorf("left: %q", parts)
	}
}

// TestDamage: an entry of which any byte is wrong, or that is cut off or longer anywhere, or that lies under another's name, is none.
func TestDamage(t *testing.T) {
	s := open(t, 1<<20)
	put(t, s, "k", []byte("0123456789abcdefghij"), "the head")
	put(t, s, "other", []byte("0123456789abcdefghij"), "the head")
	name := s.name("k")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := get(s, "k"); ok {
			t.Errorf("%s: taken", what)
		}
	}
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			try(fmt.Sprintf("byte %d, bit %d", i, bit), bad)
		}
		try(fmt.Sprintf("cut off at %d", i), good[:i])
	}
	try("longer", append(bytes.Clone(good), 0))
	text, err := os.ReadFile(s.name("other"))
	if err != nil {
		t.Fatal(err)
	}
	try("another's", text)
	try("records of another size", nil)
	if err := os.WriteFile(name, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := get(s, "k"); !ok {
		t.Error("the good one is not taken")
	}
	if e := s.Load("k", 7, func([]byte) {}); e != nil {
		t.Error("records of another size are taken")
	}
}

// TestBound: the folder is brought below its limit, what was used last stays, and what a killed run has left goes.
func TestBound(t *testing.T) {
	s := open(t, 20_000)
	old := time.Now().Add(-48 * time.Hour)
	for i := range 20 {
		key := fmt.Sprint(i)
		put(t, s, key, bytes.Repeat([]byte("0123456789"), 100), "")
		if err := os.Chtimes(s.name(key), old, old.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(s.dir, "x"+partSuffix)
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	get(s, "3") // is used
	s.Close()
	entries, size := s.Size()
	if size > 20_000 || entries < 8 {
		t.Errorf("%d entries of %d bytes", entries, size)
	}
	for key, want := range map[string]bool{"0": false, "3": true, "4": false, "19": true} {
		if _, _, ok := get(s, key); ok != want {
			t.Errorf("entry %s: %v", key, ok)
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed run left is still there")
	}
	put(t, s, "huge", bytes.Repeat([]byte("0123456789"), 600), "")
	if _, _, ok := get(s, "huge"); ok {
		t.Error("an entry larger than half of all was kept")
	}
}

// TestTogether: runs that write and read the same entry at once see it whole.
func TestTogether(t *testing.T) {
	s := open(t, 1<<20)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			records := bytes.Repeat([]byte(fmt.Sprintf("%010d", i)), 1000)
			for range 50 {
				put(t, s, "k", records, fmt.Sprint(i))
				got, head, ok := get(s, "k")
				if !ok || len(got) != len(records) || string(got[:recordSize]) != fmt.Sprintf("%010s", head) {
					t.Errorf("records of %q, head %q, %v", got[:min(len(got), recordSize)], head, ok)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A folder that cannot be made, and one that cannot be written to, keep nothing and fail nothing.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "cache"), 1); err == nil {
		t.Error("a folder within a file")
	}
	s := open(t, 1<<20)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if w := s.Create("k"); w != nil {
		t.Error("a writer without a folder")
	}
	if _, _, ok := get(s, "k"); ok {
		t.Error("something is kept in no folder")
	}
	s.Close()
}
