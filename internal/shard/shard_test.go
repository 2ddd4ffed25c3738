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
