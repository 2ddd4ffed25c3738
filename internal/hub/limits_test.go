package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/hub/hubtest"
)

// lister is a Hub whose list of files is what page writes; it counts the pages.
func lister(t *testing.T, page func(w http.ResponseWriter, r *http.Request, n int)) (c *Client, snap *Snapshot, pages *atomic.Int32) {
	t.Helper()
	pages = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/revision/") {
			fmt.Fprintf(w, `{"siblings":[{"rfilename":"x"}],"sha":%q}`, strings.Repeat("a", 40))
			return
		}
		page(w, r, int(pages.Add(1)))
	}))
	t.Cleanup(s.Close)
	c, err := New(func(name string) string { return map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()}[name] })
	if err != nil {
		t.Fatal(err)
	}
	c.Backoff = time.Millisecond
	snap, err = c.Snapshot(context.Background(), Address{Repo: repo})
	if err != nil {
		t.Fatal(err)
	}
	return c, snap, pages
}

func listedFile(path string) string {
	return fmt.Sprintf(`{"type":"file","path":%q,"oid":%q,"size":1,"lfs":{"oid":%q,"size":1}}`, path, strings.Repeat("b", 40), strings.Repeat("c", 64))
}

// TestListWithoutEnd: each page names another one; the list ends at a limit, which the error names.
func TestListWithoutEnd(t *testing.T) {
	for _, limit := range []struct {
		set  func(*limits)
		want string
		most int32
	}{
		{func(l *limits) { l.entries = 1000 }, "has more than 1000 entries: name a folder", 11},
		{func(l *limits) { l.bytes = 1 << 20 }, "more than", 100},
		{func(l *limits) { l.pages = 7 }, "has more than 7 pages", 7},
		{func(l *limits) { l.time = 0 }, "takes more than 0s", 1},
	} {
		c, snap, pages := lister(t, func(w http.ResponseWriter, r *http.Request, n int) {
			w.Header().Set("Link", fmt.Sprintf(`<%s?cursor=%d>; rel="next"`, r.URL.Path, n))
			var files []string
			for i := range 100 {
				files = append(files, listedFile(fmt.Sprintf("d/%d-%d.parquet", n, i)))
			}
			fmt.Fprintf(w, "[%s]", strings.Join(files, ","))
		})
		limit.set(&c.list)
		_, err := snap.List(context.Background(), "")
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), limit.want) || pages.Load() > limit.most {
			t.Errorf("%v after %d pages, wanted %q after %d", err, pages.Load(), limit.want, limit.most)
		}
	}
}

// TestListInPieces: a page of 32 MB is read entry by entry: the memory that is taken for it is a small part of that.
func TestListInPieces(t *testing.T) {
	line := []byte(strings.Repeat(listedFile("data/train.parquet")+",", 1000))
	c, snap, _ := lister(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Write([]byte("["))
		for n := 0; n < 32<<20; n += len(line) {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
		w.Write([]byte(listedFile("data/test.parquet") + "]"))
	})
	_ = c
	var peak atomic.Uint64
	done := make(chan struct{})
	stopped := make(chan struct{})
	runtime.GC()
	var first runtime.MemStats
	runtime.ReadMemStats(&first)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapSys-m.HeapReleased))
			}
		}
	}()
	list, err := snap.List(context.Background(), "")
	close(done)
	<-stopped
	if err != nil || len(list) != 2 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	if grown := int64(peak.Load()) - int64(first.HeapSys-first.HeapReleased); grown > 16<<20 {
		t.Errorf("the heap grew by %d MiB for a page of 32 MiB", grown>>20)
	}
}

// TestNoTLS: an https address of a server that speaks none is refused at once.
func TestNoTLS(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer s.Close()
	c, err := New(func(name string) string {
		return map[string]string{"HF_ENDPOINT": strings.Replace(s.URL, "http:", "https:", 1), "HF_HOME": t.TempDir()}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	c.Backoff, c.Notice = time.Millisecond, func(s string) { told = append(told, s) }
	if _, err := fetch(c, "hf://datasets/"+repo); err == nil || !strings.Contains(err.Error(), "HTTP response to HTTPS client") || len(told) > 0 {
		t.Errorf("%v; told %q", err, told)
	}
}

// TestNoHTTP: an answer that is no HTTP, or whose header never ends, gets one more attempt.
func TestNoHTTP(t *testing.T) {
	for name, want := range map[string]string{"garbage": "malformed HTTP", "header": "response headers exceeded"} {
		var asked atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			if name == "garbage" {
				fmt.Fprint(conn, "hello\r\n\r\n")
				return
			}
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n")
			line := []byte("X-A: " + strings.Repeat("y", 60_000) + "\r\n")
			for range 400 {
				if _, err := conn.Write(line); err != nil {
					return
				}
			}
		}))
		defer s.Close()
		c, err := New(func(name string) string { return map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()}[name] })
		if err != nil {
			t.Fatal(err)
		}
		c.Backoff = time.Millisecond
		if _, err := fetch(c, "hf://datasets/"+repo); err == nil || !strings.Contains(err.Error(), want) || asked.Load() > 3 {
			t.Errorf("%s: %v after %d requests", name, err, asked.Load())
		}
	}
}

// TestMinRate reads the limit from the environment.
func TestMinRate(t *testing.T) {
	for in, want := range map[string]int64{"": 8192, "0": 0, "1000": 1000, "-1": -1, "fast": -1} {
		c, err := New(func(name string) string { return map[string]string{"RLPREP_HUB_MIN_RATE": in, "HOME": "/h"}[name] })
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "RLPREP_HUB_MIN_RATE")) || want >= 0 && (err != nil || c.MinRate != want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestKillLosesLittle: what has come is in the unfinished file while the server stalls: all but the last 64 KiB.
func TestKillLosesLittle(t *testing.T) {
	s, _ := newServer(t)
	const sent = 300 << 10
	s.Misbehave(func(r *http.Request) *hubtest.Fault {
		if storing(r) {
			return &hubtest.Fault{Drop: sent, Pause: 10 * time.Millisecond, Stay: time.Minute}
		}
		return nil
	})
	c := newClient(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	a, _ := Parse("hf://datasets/" + repo + "/" + train)
	snap, err := c.Snapshot(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	list, err := snap.List(ctx, a.Path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := list[0].Fetch(ctx)
		ended <- err
	}()
	var have int64
	for range 6_000 { // a minute
		names, _ := filepath.Glob(filepath.Join(c.Cache, "*", "blobs", "*.incomplete"))
		for _, n := range names {
			if info, err := os.Stat(n); err == nil {
				have = info.Size()
			}
		}
		if have >= sent-pieceBytes {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if have < sent-pieceBytes {
		t.Errorf("%d of %d bytes are kept", have, sent)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWrongBlob: a blob of the right size with other bytes is fetched again where there is a network, and reported where there is none. What
// was compared once is not read again.
func TestWrongBlob(t *testing.T) {
	s, _ := newServer(t)
	c := newClient(t, s)
	address := "hf://datasets/" + repo + "/" + train
	if _, err := fetch(c, address); err != nil {
		t.Fatal(err)
	}
	data := files()[train].Data
	sum := sha256.Sum256(data)
	blob := filepath.Join(c.Cache, "datasets--owner--data", "blobs", hex.EncodeToString(sum[:]))
	spoil := func() {
		t.Helper()
		if err := os.WriteFile(blob, pattern(9, len(data)), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(blob, time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	spoil()
	_, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache, "HF_HUB_OFFLINE=1"), address)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Damaged || !strings.Contains(err.Error(), "remove it, and run again") || !strings.Contains(err.Error(), "datasets--owner--data") {
		t.Errorf("offline: %v", err)
	}
	again := newClient(t, s, "HF_HUB_CACHE="+c.Cache)
	var told []string
	again.Notice = func(s string) { told = append(told, s) }
	if got, err := fetch(again, address); err != nil || !bytes.Equal(got, data) || !strings.Contains(strings.Join(told, "\n"), "fetching it again") {
		t.Errorf("%d bytes, %v, told %q", len(got), err, told)
	}
	whole(t, c)

	// What Python put there is read once: the note has its state.
	notes, _ := filepath.Glob(filepath.Join(c.Cache, ".locks", "*", "*.verified"))
	if len(notes) != 1 {
		t.Fatalf("notes %q", notes)
	}
	if err := os.Remove(notes[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache), address); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(blob)
	if err != nil {
		t.Fatal(err)
	}
	if note, err := os.ReadFile(notes[0]); err != nil || string(note) != state(info) {
		t.Errorf("the note is %q, %v", note, err)
	}
	if s.Sent() > 2*int64(len(data)) {
		t.Error("a file that is right was fetched again")
	}
}

// TestFolderForBlob: a folder where a file belongs is named, and nothing about rights is said.
func TestFolderForBlob(t *testing.T) {
	for _, suffix := range []string{"", ".incomplete"} {
		s, _ := newServer(t)
		c := newClient(t, s)
		sum := sha256.Sum256(files()[train].Data)
		blob := filepath.Join(c.Cache, "datasets--owner--data", "blobs", hex.EncodeToString(sum[:])) + suffix
		if err := os.MkdirAll(blob, 0o777); err != nil {
			t.Fatal(err)
		}
		_, err := fetch(c, "hf://datasets/"+repo+"/"+train)
		if err == nil || !strings.Contains(err.Error(), "the cache has a folder where a file belongs: remove "+blob) {
			t.Errorf("%s: %v", suffix, err)
		}
	}
}
