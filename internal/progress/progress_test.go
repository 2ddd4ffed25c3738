package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// Where there is no terminal, a line is logged every few seconds, with the rate and the time left.
func TestProgressLog(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, 100_000, false)
	clock := p.start
	p.now = func() time.Time { return clock }
	for range 8 {
		clock = clock.Add(2 * time.Second)
		p.Rows(5_000, "train-00001-of-00004")
	}
	p.Done()
	want := "rows=15000 rows_per_s=2500 eta=34s shard=train-00001-of-00004\n" +
		"rows=30000 rows_per_s=2500 eta=28s shard=train-00001-of-00004\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestProgressUnknownTotal(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, -1, false)
	start := p.start
	p.now = func() time.Time { return start.Add(10 * time.Second) }
	p.Rows(10, "")
	if got, want := out.String(), "rows=10 rows_per_s=1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressQuiet(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, 10, true)
	p.Rows(10, "x")
	p.Done()
	if out.Len() > 0 {
		t.Errorf("quiet, but wrote %q", out.String())
	}
}

// The bar shows rows, rows/s and the shard, takes itself away, and stands many workers.
func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	p := &Run{w: &out, total: 5_000, now: time.Now, bar: newBar(&out, 5_000)}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 10 {
				p.Rows(100, "train-00000-of-00002")
				time.Sleep(10 * time.Millisecond) // it draws at most every 65 ms
			}
		})
	}
	workers.Wait()
	p.Done()
	p.Done()
	for _, want := range []string{"train-00000-of-00002", "rows/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
	if p.rows != 4_000 {
		t.Errorf("%d rows", p.rows)
	}
	newBar(&out, 0) // an empty file is no reason to fail
}

func TestIsTerminal(t *testing.T) {
	if IsTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is a terminal")
	}
}

// Where there is no terminal, downloads are lines, too, and every message is one.
func TestDownloads(t *testing.T) {
	var out bytes.Buffer
	d := NewDownloads(&out)
	clock := time.Now()
	d.now = func() time.Time { return clock }
	d.Say("resumed")
	d.At("a.parquet", 100, 1000)
	clock = clock.Add(10 * time.Second)
	d.At("a.parquet", 600, 1000)
	d.At("b.parquet", 5, 50)
	d.Done()
	(*Downloads)(nil).Done()
	if got, want := out.String(), "resumed\nfetched=600 of=1000 bytes_per_s=50 file=a.parquet\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
