package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/hub/hubtest"
)

const repo = "owner/data"

// pattern is n bytes that depend on seed.
func pattern(seed uint64, n int) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 7))
	for i := 0; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	return b
}

// newServer is a Hub with one dataset: a large file, a small one and an empty one.
func newServer(t testing.TB) (*hubtest.Server, string) {
	t.Helper()
	s := hubtest.New()
	t.Cleanup(s.Close)
	return s, s.Commit(repo, files())
}

var files = sync.OnceValue(func() map[string]hubtest.File {
	return map[string]hubtest.File{
		"main/train-00000-of-00002.parquet": {Data: pattern(1, 3<<20), LFS: true},
		"main/train-00001-of-00002.parquet": {Data: pattern(2, 1<<20), LFS: true},
		"main/a b%.jsonl":                   {Data: []byte("{}\n")},
		"empty.jsonl":                       {Data: nil},
		"README.md":                         {Data: []byte("# data\n")},
	}
})

// newClient is a client of s with a cache of its own, which does not wait long.
func newClient(t testing.TB, s *hubtest.Server, env ...string) *Client {
	t.Helper()
	vars := map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()}
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		vars[k] = v
	}
	c, err := New(func(name string) string { return vars[name] })
	if err != nil {
		t.Fatal(err)
	}
	c.Backoff, c.Idle, c.MinRate = time.Millisecond, 10*time.Second, 0
	return c
}

// fetch lists and fetches what address names and returns the bytes of the first file.
func fetch(c *Client, address string) ([]byte, error) {
	a, err := Parse(address)
	if err != nil {
		return nil, err
	}
	s, err := c.Snapshot(context.Background(), a)
	if err != nil {
		return nil, err
	}
	list, err := s.List(context.Background(), a.Path)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fs.ErrNotExist
	}
	var first []byte
	for i, f := range list {
		p, err := f.Fetch(context.Background())
		if err != nil {
			return nil, err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = b
		}
	}
	return first, nil
}

func TestParse(t *testing.T) {
	for in, want := range map[string]Address{
		"hf://datasets/o/n":                             {"o/n", "", ""},
		"hf://datasets/o/n/":                            {"o/n", "", ""},
		"hf://datasets/o/n@v1.0/main/*.parquet":         {"o/n", "v1.0", "main/*.parquet"},
		"hf://datasets/o/n@refs/convert/parquet/a/b":    {"o/n", "refs/convert/parquet", "a/b"},
		"hf://datasets/o/n@refs%2Fpr%2F3/a":             {"o/n", "refs/pr/3", "a"},
		"hf://datasets/o/n@a%2Fb/c":                     {"o/n", "a/b", "c"},
		"hf://datasets/o/n/ümlaut \u4e2d/日本.jsonl":      {"o/n", "", "ümlaut \u4e2d/日本.jsonl"},
		"hf://datasets/" + "o_1/n-2.x" + "/x@y/z.jsonl": {"o_1/n-2.x", "", "x@y/z.jsonl"},
	} {
		got, err := Parse(in)
		if err != nil || got != want {
			t.Errorf("Parse(%q): %+v, %v, wanted %+v", in, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("Parse(%q) again: %+v, %v", got.String(), again, err)
		}
	}
	for _, in := range []string{"hf://models/o/n", "hf://o/n", "hf://datasets/o", "hf://datasets//n/x", "hf://datasets/../n/x", "hf://datasets/o/n@/x",
		"hf://datasets/o/n/../../x", "hf://datasets/o/n//x", "hf://datasets/o/n/./x", "hf://datasets/o/n@../x/y", "hf://datasets/o/n@%2e%2e%2fx/y",
		"hf://datasets/o/n/a\x00b", "hf://datasets/o/n/a\\b", "hf://datasets/o/a--b/x", "hf://datasets/o/n\x1b[31m/x"} {
		if a, err := Parse(in); err == nil {
			t.Errorf("Parse(%q): %+v, wanted an error", in, a)
		} else if strings.ContainsAny(err.Error(), "\x00\x1b") {
			t.Errorf("Parse(%q): the error acts on a terminal: %q", in, err)
		}
	}
}

func TestNew(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("hf_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env, cache, token string
		offline           bool
	}{
		{"HF_HOME=" + home, home + "/hub", "hf_file", false},
		{"HF_HOME=" + home + " HF_TOKEN=hf_env", home + "/hub", "hf_env", false},
		{"HF_HOME=" + home + " HF_HUB_DISABLE_IMPLICIT_TOKEN=1", home + "/hub", "", false},
		{"HF_HOME=" + home + " HF_HUB_CACHE=/c HF_HUB_OFFLINE=yes", "/c", "hf_file", true},
		{"HOME=/h", "/h/.cache/huggingface/hub", "", false},
		{"HOME=/h HF_HOME=~/x", "/h/x/hub", "", false},
		{"HOME=/h XDG_CACHE_HOME=/x HF_TOKEN_PATH=" + home + "/token", "/x/huggingface/hub", "hf_file", false},
		{"HOME=/h USER=u HF_HOME=/data/$USER/hf", "/data/u/hf/hub", "", false},
	} {
		vars := map[string]string{}
		for _, e := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(e, "=")
			vars[k] = v
		}
		got, err := New(func(name string) string { return vars[name] })
		if err != nil || got.Cache != c.cache || got.Token != c.token || got.Offline != c.offline {
			t.Errorf("%s: cache %s, token %q, offline %v, %v", c.env, got.Cache, got.Token, got.Offline, err)
		}
	}
	for _, bad := range []string{"HF_ENDPOINT=huggingface.co", "HF_ENDPOINT=ftp://x", "HF_HUB_DOWNLOAD_TIMEOUT=soon", "HF_TOKEN=a\nb"} {
		k, v, _ := strings.Cut(bad, "=")
		if _, err := New(func(name string) string { return map[string]string{k: v}[name] }); err == nil || !strings.Contains(err.Error(), k) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestLayout holds the cache to what huggingface_hub writes; testdata/conformance lets it say so itself.
func TestLayout(t *testing.T) {
	s, commit := newServer(t)
	c := newClient(t, s)
	got, err := fetch(c, "hf://datasets/"+repo)
	if err != nil || string(got) != "# data\n" {
		t.Fatalf("%q, %v", got, err)
	}
	dir := filepath.Join(c.Cache, "datasets--owner--data")
	if b, err := os.ReadFile(filepath.Join(dir, "refs", "main")); err != nil || string(b) != commit {
		t.Errorf("refs/main: %q, %v", b, err)
	}
	for name, f := range files() {
		to, err := os.Readlink(filepath.Join(dir, "snapshots", commit, name))
		if err != nil {
			t.Fatal(err)
		}
		up := strings.Repeat("../", 2+strings.Count(name, "/"))
		if !strings.HasPrefix(to, up+"blobs/") {
			t.Errorf("%s links to %s", name, to)
		}
		b, err := os.ReadFile(filepath.Join(dir, "snapshots", commit, name))
		if err != nil || !bytes.Equal(b, f.Data) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		if sum := sha256.Sum256(b); f.LFS && filepath.Base(to) != hex.EncodeToString(sum[:]) || !f.LFS && len(filepath.Base(to)) != 40 {
			t.Errorf("%s has blob %s", name, filepath.Base(to))
		}
	}
	for _, name := range []string{"trees/" + commit + ".json", "../CACHEDIR.TAG"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	whole(t, c)

	// A pinned commit that the cache has needs no Hub, and a branch one question alone.
	s.Requests()
	if _, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache), "hf://datasets/"+repo+"@"+commit+"/main"); err != nil {
		t.Error(err)
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("asked for %q", asked)
	}
	if _, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache), "hf://datasets/"+repo+"/main"); err != nil {
		t.Error(err)
	}
	if asked := s.Requests(); len(asked) != 1 {
		t.Errorf("asked for %q", asked)
	}
}

// whole fails unless every blob in the cache is what its name says, and every file of a snapshot leads to one.
func whole(t testing.TB, c *Client) {
	t.Helper()
	err := filepath.WalkDir(c.Cache, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.Contains(p, "/snapshots/"):
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			for _, f := range files() {
				if bytes.Equal(b, f.Data) {
					return nil
				}
			}
			t.Errorf("%s is no file of the dataset (%d bytes)", p, len(b))
		case strings.Contains(p, "/blobs/") && !strings.HasSuffix(p, ".incomplete"):
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			f := &File{ETag: filepath.Base(p), Size: int64(len(b))}
			sum := f.hash(f.Size)
			sum.Write(b)
			if hex.EncodeToString(sum.Sum(nil)) != f.ETag {
				t.Errorf("%s is not what its name says (%d bytes)", p, len(b))
			}
		case strings.HasSuffix(p, ".tmp"):
			t.Errorf("%s was left", p)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

const train = "main/train-00000-of-00002.parquet"

func resolving(r *http.Request) bool { return strings.Contains(r.URL.Path, "/resolve/") }
func storing(r *http.Request) bool   { return strings.HasPrefix(r.URL.Path, "/repos/") }
func listing(r *http.Request) bool   { return strings.Contains(r.URL.Path, "/tree/") }
func looking(r *http.Request) bool   { return strings.Contains(r.URL.Path, "/revision/") }

// TestFaults lets one thing go wrong, once or always.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		where  func(*http.Request) bool
		always bool
		fault  hubtest.Fault
		want   string // of the error; "": it ends well
		code   int
	}{
		{"drop mid-body", storing, false, hubtest.Fault{Drop: 1 << 20}, "", 0},
		{"drop at once, always", storing, true, hubtest.Fault{Reset: true}, "connection reset", 3},
		{"drop late, always: it gets further each time", storing, true, hubtest.Fault{Drop: 1<<20 + 7}, "", 0},
		{"429 with Retry-After", storing, false, hubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "0.05"}}, "", 0},
		{"429 that asks for an hour", resolving, true, hubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "3600"}}, "asks to wait for 1h0m0s", 3},
		{"429 of the list", listing, false, hubtest.Fault{Status: 429, Header: map[string]string{"RateLimit": `"api";r=0;t=0`}}, "", 0},
		{"500", resolving, false, hubtest.Fault{Status: 500}, "", 0},
		{"503, always", looking, true, hubtest.Fault{Status: 503}, "503 Service Unavailable (8 attempts)", 3},
		{"404 with a gated body", resolving, true, hubtest.Fault{Status: 404, Body: `{"error":"Access to dataset owner/data is restricted. It is a gated repo."}`}, "accept its terms at", 2},
		{"401", looking, true, hubtest.Fault{Status: 401, Body: `{"error":"Invalid username or password."}`}, "the token in use may not read it", 2},
		{"401, token", looking, true, hubtest.Fault{Status: 401, Header: map[string]string{"X-Error-Message": "Invalid credentials in Authorization header"}}, "is not valid: renew HF_TOKEN", 2},
		{"403 of the store", storing, false, hubtest.Fault{Status: 403, Body: "<Error>expired</Error>"}, "", 0},
		{"another etag", resolving, true, hubtest.Fault{Header: map[string]string{"X-Linked-Etag": `"` + strings.Repeat("ab", 32) + `"`}}, "another file now", 3},
		{"another commit", resolving, true, hubtest.Fault{Header: map[string]string{"X-Repo-Commit": strings.Repeat("ab", 20)}}, "answers with commit abab", 3},
		{"shorter", storing, true, hubtest.Fault{Short: 10}, "has 3145718 bytes, not 3145728 as listed", 3},
		{"shorter than claimed", storing, false, hubtest.Fault{Short: 10, Header: map[string]string{"Content-Length": "3145728"}}, "", 0},
		{"longer", storing, true, hubtest.Fault{Extra: 10}, "has 3145738 bytes", 3},
		{"longer, of no length", storing, true, hubtest.Fault{Extra: 10, Chunked: true}, "", 0},
		{"a byte changed", storing, false, hubtest.Fault{Flip: 99}, "", 0},
		{"a byte changed, always", storing, true, hubtest.Fault{Flip: 99}, "has hash", 3},
		{"encoded unasked", storing, true, hubtest.Fault{Header: map[string]string{"Content-Encoding": "gzip"}}, "encoded (gzip)", 3},
		{"trickle", storing, true, hubtest.Fault{Trickle: 5 * time.Millisecond}, "allow less by RLPREP_HUB_MIN_RATE", 3},
		{"slow answer", listing, true, hubtest.Fault{Trickle: 5 * time.Millisecond}, "the answer does not end (1s) (2 times)", 3},
		{"416, always", resolving, true, hubtest.Fault{Status: 416}, "416 Requested Range Not Satisfiable", 3},
		{"Location that is none", resolving, true, hubtest.Fault{Status: 302, Header: map[string]string{"Location": "http://[::1"}}, "failed to parse Location", 3},
		{"list that is an object", listing, true, hubtest.Fault{Body: "{}"}, "not the expected JSON: {, expected a list", 3},
		{"list nested without end", listing, true, hubtest.Fault{Body: "[" + strings.Repeat("[", 3<<20)}, "not the expected JSON", 3},
		{"list with a text without end", listing, true, hubtest.Fault{Body: `[{"path":"` + strings.Repeat("x", 5<<20)}, "a value of more than 1048576 bytes", 3},
		{"stall", storing, false, hubtest.Fault{Stall: time.Minute}, "", 0},
		{"redirect for ever", resolving, true, hubtest.Fault{Status: 302, Header: map[string]string{"Location": "?again"}}, "more than 10 redirects", 3},
		{"redirect to a file", resolving, true, hubtest.Fault{Status: 302, Header: map[string]string{"Location": "file:///etc/passwd"}}, "no address", 3},
		{"list of no JSON", listing, true, hubtest.Fault{Body: "<html>maintenance</html>"}, "not the expected JSON", 3},
		{"list cut off", listing, false, hubtest.Fault{Drop: 50}, "", 0},
		{"no commit", looking, true, hubtest.Fault{Body: `{"sha":"../../etc"}`}, "names no commit", 3},
		{"list with ../", listing, true, hubtest.Fault{Body: `[{"type":"file","path":"../../x","oid":"` + strings.Repeat("a", 40) + `","size":1}]`}, "cannot be trusted", 3},
		{"list with an absolute path", listing, true, hubtest.Fault{Body: `[{"type":"file","path":"/etc/x","oid":"` + strings.Repeat("a", 40) + `","size":1}]`}, "cannot be trusted", 3},
		{"list with NUL", listing, true, hubtest.Fault{Body: `[{"type":"file","path":"a\u0000b","oid":"` + strings.Repeat("a", 40) + `","size":1}]`}, "cannot be trusted", 3},
		{"list with a hash that is a path", listing, true, hubtest.Fault{Body: `[{"type":"file","path":"a","oid":"../../../../tmp/x","size":1}]`}, "has no hash", 3},
		{"list that never ends", listing, true, hubtest.Fault{Header: map[string]string{"Link": `<?cursor=5>; rel="next"`}}, "comes twice", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newServer(t)
			var mu sync.Mutex
			n := 0
			s.Misbehave(func(r *http.Request) *hubtest.Fault {
				mu.Lock()
				defer mu.Unlock()
				if !c.where(r) || n > 0 && !c.always {
					return nil
				}
				n++
				return &c.fault
			})
			client := newClient(t, s, "HF_TOKEN=hf_secret")
			if c.name == "stall" {
				client.Attempts, client.Idle = 4, 3*time.Second
			}
			if strings.HasPrefix(c.name, "trickle") {
				client.MinRate, client.Window = 8<<10, 200*time.Millisecond
			}
			if strings.HasPrefix(c.name, "slow answer") {
				client.Answer = time.Second
			}
			_, err := fetch(client, "hf://datasets/"+repo)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case n == 0:
				t.Error("nothing went wrong")
			case c.want == "" && err != nil:
				t.Errorf("failed: %v", err)
			case c.want != "" && err == nil:
				t.Error("went well")
			case c.want != "" && !strings.Contains(err.Error(), c.want):
				t.Errorf("error %q, wanted %q", err, c.want)
			}
			var e *Error
			if c.code != 0 && (!errors.As(err, &e) || e.ExitCode() != c.code || !strings.Contains(err.Error(), repo)) {
				t.Errorf("error %v, wanted one of the dataset with exit status %d", err, c.code)
			}
			if err != nil && strings.Contains(err.Error(), "hf_secret") {
				t.Error("the error shows the token")
			}
			if l := s.Leaks(); len(l) > 0 {
				t.Errorf("the token went to %q", l)
			}
			whole(t, client)
			passing := strings.Contains(c.name, "503") || strings.Contains(c.name, "connection") || strings.Contains(c.name, "drop") || strings.Contains(c.name, "redirect for ever")
			if c.want != "" && !passing && n > maxSlow+3 { // three other files are fetched before the one that is large
				t.Errorf("%d requests met a fault that cannot pass", n)
			}
		})
	}
}

// TestManyFaults: 20 downloads into one cache with 200 faults among them, each of which ends whole or with an error that says what
// happened; nothing partial is ever seen in the cache.
func TestManyFaults(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	injected, failed := 0, 0
	for i := range 20 {
		s, _ := newServer(t)
		var mu sync.Mutex
		left := 10
		s.Misbehave(func(r *http.Request) *hubtest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if left == 0 || rng.IntN(4) == 0 {
				return nil
			}
			left--
			injected++
			return hubtest.Random(rng)
		})
		c := newClient(t, s)
		c.Attempts, c.Idle = 14, 300*time.Millisecond
		watcher := lookOn(t, c)
		_, err := fetch(c, "hf://datasets/"+repo+"/main")
		watcher()
		if err != nil {
			failed++
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, "hf://datasets/"+repo) {
				t.Errorf("download %d: error that does not say what happened: %v", i, err)
			}
		}
		whole(t, c)
		s.Misbehave(nil)
		for left > 0 { // what the download did not need goes to another, so that all come
			mu.Lock()
			left--
			injected++
			f := hubtest.Random(rng)
			mu.Unlock()
			again := newClient(t, s)
			again.Idle = 300 * time.Millisecond
			once := false
			s.Misbehave(func(r *http.Request) *hubtest.Fault {
				if once || !storing(r) {
					return nil
				}
				once = true
				return f
			})
			if _, err := fetch(again, "hf://datasets/"+repo+"/"+train); err != nil && !strings.Contains(err.Error(), repo) {
				t.Errorf("%s: %v", f.Name, err)
			}
			whole(t, again)
		}
	}
	t.Logf("%d faults, %d of 20 downloads failed", injected, failed)
	if injected < 200 {
		t.Errorf("only %d faults", injected)
	}
}

// lookOn looks at the snapshots over and over: a file that is seen must be whole. The returned function ends it.
func lookOn(t *testing.T, c *Client) func() {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(2 * time.Millisecond):
			}
			names, _ := filepath.Glob(filepath.Join(c.Cache, "*", "snapshots", "*", "main", "*"))
			for _, n := range names {
				info, err := os.Stat(n)
				if strings.HasSuffix(n, ".tmp") {
					continue
				}
				if f, ok := files()["main/"+filepath.Base(n)]; err != nil || !ok || info.Size() != int64(len(f.Data)) {
					t.Errorf("a reader sees %s: %v", n, err)
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

// TestResume takes up what an earlier process left, and does not fetch it again.
func TestResume(t *testing.T) {
	for _, c := range []struct {
		name string
		left func([]byte) []byte
		most int64 // bytes that may be sent
	}{
		{"half", func(b []byte) []byte { return b[:2<<20] }, 1 << 20},
		{"all", func(b []byte) []byte { return b }, 0},
		{"too much", func(b []byte) []byte { return append(slices.Clone(b), 1) }, 3 << 20},
		{"of another file", func(b []byte) []byte { return bytes.Repeat([]byte{9}, 1<<20) }, 5 << 20},
	} {
		s, _ := newServer(t)
		client := newClient(t, s)
		data := files()[train].Data
		sum := sha256.Sum256(data)
		blob := filepath.Join(client.Cache, "datasets--owner--data", "blobs", hex.EncodeToString(sum[:]))
		if err := os.MkdirAll(filepath.Dir(blob), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(blob+".incomplete", c.left(data), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := fetch(client, "hf://datasets/"+repo+"/"+train)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
		if n := s.Sent(); n > c.most {
			t.Errorf("%s: %d bytes were sent, more than %d", c.name, n, c.most)
		}
		whole(t, client)
	}
}

// TestDamagedCache: a blob that was cut off, by whom ever, is fetched again.
func TestDamagedCache(t *testing.T) {
	s, _ := newServer(t)
	c := newClient(t, s)
	if _, err := fetch(c, "hf://datasets/"+repo); err != nil {
		t.Fatal(err)
	}
	blobs, _ := filepath.Glob(filepath.Join(c.Cache, "*", "blobs", "*"))
	for _, b := range blobs {
		if err := os.Truncate(b, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache), "hf://datasets/"+repo); err != nil {
		t.Error(err)
	}
	whole(t, c)
}

func TestOffline(t *testing.T) {
	s, commit := newServer(t)
	c := newClient(t, s)
	if _, err := fetch(c, "hf://datasets/"+repo+"/"+train); err != nil {
		t.Fatal(err)
	}
	s.Close()
	off := func() *Client { return newClient(t, s, "HF_HUB_CACHE="+c.Cache, "HF_HUB_OFFLINE=1") }
	for address, want := range map[string]string{
		"hf://datasets/" + repo + "/" + train:                "",
		"hf://datasets/" + repo + "@" + commit + "/" + train: "",
		"hf://datasets/" + repo + "/main":                    "train-00001-of-00002.parquet is not in the cache",
		"hf://datasets/" + repo + "@v2/" + train:             "revision v2 is not in the cache",
		"hf://datasets/" + repo + "/README.md":               "HF_HUB_OFFLINE is set",
		"hf://datasets/owner/other":                          "HF_HUB_OFFLINE is set",
	} {
		if _, err := fetch(off(), address); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, wanted %q", address, err, want)
		}
	}
	// With no network, a branch is what the cache last saw.
	down := newClient(t, s, "HF_HUB_CACHE="+c.Cache)
	var told []string
	down.Notice = func(s string) { told = append(told, s) }
	if _, err := fetch(down, "hf://datasets/"+repo+"/"+train); err != nil || !strings.Contains(strings.Join(told, "\n"), "from the cache") {
		t.Errorf("%v; told %q", err, told)
	}
	var e *Error
	if _, err := fetch(newClient(t, s), "hf://datasets/"+repo); !errors.As(err, &e) || e.Kind != Network || !strings.Contains(e.Message, "cannot reach 127.0.0.1") {
		t.Errorf("with no network: %v", err)
	}
}

func TestOneRevision(t *testing.T) {
	s, first := newServer(t)
	c := newClient(t, s)
	a, _ := Parse("hf://datasets/" + repo)
	before, err := c.Snapshot(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	s.Commit(repo, map[string]hubtest.File{"new.jsonl": {Data: []byte("{}")}})
	after, err := c.Snapshot(context.Background(), a)
	if err != nil || after.Commit != before.Commit || after.Commit != first {
		t.Errorf("%s, then %s: %v", before.Commit, after.Commit, err)
	}
	if got, err := fetch(c, "hf://datasets/"+repo+"/README.md"); err != nil || string(got) != "# data\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPages(t *testing.T) {
	s := hubtest.New()
	defer s.Close()
	s.PageSize = 7
	all := map[string]hubtest.File{}
	for i := range 50 {
		all[fmt.Sprintf("d%d/f%02d.jsonl", i%3, i)] = hubtest.File{Data: []byte{byte(i)}}
	}
	s.Commit(repo, all)
	a, _ := Parse("hf://datasets/" + repo)
	snap, err := newClient(t, s).Snapshot(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"d1": 17, "": 50, "d1/f01.jsonl": 1, "nothing": 0, "d": 0} {
		if list, err := snap.List(context.Background(), path); err != nil || len(list) != want {
			t.Errorf("%q: %d files, %v", path, len(list), err)
		}
	}
}

func TestRights(t *testing.T) {
	s, _ := newServer(t)
	s.Restrict(repo, "hf_right", false)
	for token, want := range map[string]string{"": "or set HF_TOKEN", "hf_wrong": "the token in use may not read it", "hf_right": ""} {
		_, err := fetch(newClient(t, s, "HF_TOKEN="+token), "hf://datasets/"+repo)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	s.Restrict(repo, "hf_right", true)
	for _, token := range []string{"", "hf_wrong"} {
		if _, err := fetch(newClient(t, s, "HF_TOKEN="+token), "hf://datasets/"+repo); err == nil || !strings.Contains(err.Error(), "a gated dataset") {
			t.Errorf("gated, token %q: %v", token, err)
		}
	}
	if _, err := fetch(newClient(t, s), "hf://datasets/owner/none"); err == nil || !strings.Contains(err.Error(), "no such dataset") {
		t.Error(err)
	}
	if l := s.Leaks(); len(l) > 0 {
		t.Errorf("the token went to %q", l)
	}
}

func TestRanged(t *testing.T) {
	s, _ := newServer(t)
	c := newClient(t, s)
	a, _ := Parse("hf://datasets/" + repo + "/" + train)
	snap, err := c.Snapshot(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	list, err := snap.List(context.Background(), a.Path)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	data, r := files()[train].Data, list[0].ReaderAt(context.Background())
	s.Sent()
	for _, at := range []struct{ off, n int64 }{{0, 10}, {int64(len(data)) - 8, 8}, {1 << 20, 700000}, {3, 3 << 20}, {int64(len(data)), 4}, {100, 0}} {
		b := make([]byte, at.n)
		n, err := r.ReadAt(b, at.off)
		want := data[min(at.off, int64(len(data))):min(at.off+at.n, int64(len(data)))]
		if !bytes.Equal(b[:n], want) || (int64(len(want)) < at.n) != (err == io.EOF) || err != nil && err != io.EOF {
			t.Errorf("%d bytes at %d: %d, %v", at.n, at.off, n, err)
		}
		if at.off == int64(len(data))-8 && s.Sent() > 2*blockSize {
			t.Error("both ends cost more than two blocks")
		}
	}
	s.Misbehave(func(*http.Request) *hubtest.Fault { return &hubtest.Fault{NoRange: true} })
	if _, err := list[0].ReaderAt(context.Background()).ReadAt(make([]byte, 5), 0); err == nil || !strings.Contains(err.Error(), "does not send parts") {
		t.Errorf("whole files in place of parts: %v", err)
	}
	if _, err := os.Stat(c.Cache); err == nil {
		t.Error("something was cached")
	}
}

// TestTogether has several clients, as processes would, fetch one file into one cache: it is fetched once.
func TestTogether(t *testing.T) {
	s, _ := newServer(t)
	cache := t.TempDir()
	var wg sync.WaitGroup
	for range 6 {
		c := newClient(t, s, "HF_HUB_CACHE="+cache)
		wg.Go(func() {
			if _, err := fetch(c, "hf://datasets/"+repo); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.Sent(); n > 4<<20+100 {
		t.Errorf("%d bytes were sent for %d", n, 4<<20+10)
	}
}

func TestInterrupted(t *testing.T) {
	s, _ := newServer(t)
	s.Misbehave(func(r *http.Request) *hubtest.Fault {
		if storing(r) {
			return &hubtest.Fault{Stall: time.Minute}
		}
		return nil
	})
	c := newClient(t, s)
	c.Idle = time.Minute
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	a, _ := Parse("hf://datasets/" + repo + "/" + train)
	snap, err := c.Snapshot(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	list, err := snap.List(ctx, a.Path)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := list[0].Fetch(ctx); !errors.Is(err, context.Canceled) || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// TestReadOnly reads from a cache that cannot be written, and says what helps where it would have to be.
func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	s, _ := newServer(t)
	c := newClient(t, s)
	if _, err := fetch(c, "hf://datasets/"+repo+"/README.md"); err != nil {
		t.Fatal(err)
	}
	dirs := []string{c.Cache, filepath.Join(c.Cache, ".locks"), filepath.Join(c.Cache, "datasets--owner--data"), filepath.Join(c.Cache, "datasets--owner--data", "blobs")}
	for _, d := range dirs {
		os.Chmod(d, 0o555)
		defer os.Chmod(d, 0o777)
	}
	if _, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache), "hf://datasets/"+repo+"/README.md"); err != nil {
		t.Error(err)
	}
	if _, err := fetch(newClient(t, s, "HF_HUB_CACHE="+c.Cache), "hf://datasets/"+repo+"/"+train); err == nil || !strings.Contains(err.Error(), "HF_HOME") {
		t.Error(err)
	}
}

// TestMain keeps the environment of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	for _, v := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		os.Unsetenv(v)
	}
	os.Exit(m.Run())
}
