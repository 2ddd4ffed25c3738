package shard

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// publish writes a shard of a task with this text.
func publish(t *testing.T, d *Dir, task int, text string) {
	t.Helper()
	f, err := d.Create(task)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(false, func(n int64, sum string) ([]byte, error) {
		if n != int64(len(text)) || len(sum) != 64 {
			t.Errorf("record of %q: %d bytes, sha256 %s", text, n, sum)
		}
		return []byte(`{"done":true}`), nil
	}); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, out string) *Dir {
	t.Helper()
	d, err := Open(out, "plan", []string{"a.parquet", "b.parquet"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTaskIsTakenUp(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := open(t, out)
	publish(t, d, 0, "rows")
	d.Close()

	d = open(t, out)
	defer d.Close()
	if b, err := d.Record(0); err != nil || string(b) != `{"done":true}` {
		t.Errorf("record of a task that is done: %q, %v", b, err)
	}
	if b, err := d.Record(1); err != nil || b != nil {
		t.Errorf("record of a task that is not: %q, %v", b, err)
	}
	if err := os.WriteFile(d.shardPath(0), []byte("r0ws"), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := d.Record(0); err != nil || b != nil {
		t.Errorf("record of a shard that was changed: %q, %v", b, err)
	}
}

func TestAnotherPlanStartsAfresh(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := open(t, out)
	publish(t, d, 0, "rows")
	d.Close()
	d, err := Open(out, "other", []string{"a.parquet", "b.parquet"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, _ := d.Record(0); b != nil {
		t.Error("a shard of another plan was taken up")
	}
}

func TestLock(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := open(t, out)
	_, err := Open(out, "plan", nil)
	var locked *LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("second run: %v, want an error that says who is at work", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, out).Close()
}

func TestFinalizeThenVerify(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	d := open(t, out)
	publish(t, d, 0, "rows of a")
	publish(t, d, 1, "rows of b")
	m := &Manifest{Format: 1, Tool: "rlprep", Shards: []ShardFile{}}
	for _, name := range []string{"x.parquet", "b.parquet"} {
		i := len(m.Shards)
		sum, n, err := hashFile(d.shardPath(i))
		if err != nil {
			t.Fatal(err)
		}
		m.Shards = append(m.Shards, ShardFile{Name: name, Bytes: n, SHA256: sum})
	}
	m.DatasetSHA256 = DatasetHash(m.Shards)
	if _, err := os.Stat(out); err == nil {
		t.Error("OUT is there before it is finished")
	}
	if err := d.Finalize([]string{"x.parquet", "b.parquet"}, m); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("beside OUT: %v", entries)
	}
	if _, diffs, err := Verify(out); err != nil || len(diffs) > 0 {
		t.Fatalf("verify: %v, %v", diffs, err)
	}
	os.WriteFile(filepath.Join(out, "x.parquet"), []byte("r0ws of a"), 0o666)
	os.Remove(filepath.Join(out, "b.parquet"))
	os.WriteFile(filepath.Join(out, "new.parquet"), nil, 0o666)
	_, diffs, err := Verify(out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range diffs {
		names = append(names, d.Name)
	}
	if !slices.Equal(names, []string{"x.parquet", "b.parquet", "new.parquet"}) {
		t.Errorf("verify found %v", diffs)
	}
}

func TestFinal(t *testing.T) {
	splits := []string{"train", "train", "train", "test"}
	for _, c := range []struct {
		empty    []bool
		numbered bool
		want     []string
	}{
		{[]bool{false, true, false, false}, true, []string{"train-00000-of-00002.parquet", "", "train-00001-of-00002.parquet", "test-00000-of-00001.parquet"}},
		{[]bool{true, true, false, true}, false, []string{"", "", "train.parquet", ""}},
	} {
		if got := Final(splits, c.empty, c.numbered); !slices.Equal(got, c.want) {
			t.Errorf("Final(%v): got %q, want %q", c.empty, got, c.want)
		}
	}
}
