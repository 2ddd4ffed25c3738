package shard

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestMembers: members of one plan see each other's records and claims; a whole run waits for all of them, and takes up what they did.
func TestMembers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	names := []string{"a.parquet", "b.parquet"}
	a, err := Join(out, "plan", names)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Join(out, "plan", names)
	if err != nil {
		t.Fatal(err)
	}
	release, err := a.Claim(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Claim(0); !errors.As(err, new(*ClaimedError)) {
		t.Errorf("a task that is claimed: %v", err)
	}
	publish(t, a, 0, "rows")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if rec, err := b.Record(0); err != nil || string(rec) != `{"done":true}` {
		t.Errorf("record of another member: %q, %v", rec, err)
	}
	if err := os.Truncate(b.shardPath(0), 3); err != nil {
		t.Fatal(err)
	}
	if rec, err := b.Record(0); err != nil || rec != nil {
		t.Errorf("record of a shard that was cut: %q, %v", rec, err)
	}
	publish(t, b, 0, "rows")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{"plan", "other"} {
		if _, err := Open(out, plan, names); !errors.As(err, new(*LockedError)) {
			t.Errorf("plan %s beside a member: %v", plan, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Open(out, "plan", names)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := d.Record(0); err != nil || rec == nil {
		t.Errorf("record of a member that left: %q, %v", rec, err)
	}
	if _, err := Join(out, "plan", names); !errors.As(err, new(*LockedError)) {
		t.Errorf("joined beside a whole run: %v", err)
	}
	if err := d.Abandon(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
