package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/schema"
)

// useCache gives the test a cache of its own, in which files count as settled at once.
func useCache(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv(check.CacheVariable, dir)
	cacheClock = func() time.Time { return time.Now().Add(time.Hour) }
	t.Cleanup(func() { cacheClock = time.Now })
	return filepath.Join(dir, "lint")
}

// A cachedSet is a small data set that is edited at random.
type cachedSet struct {
	*testing.T
	r       *rand.Rand
	dir     string
	columns []schema.Field
	files   []string
}

// rows are few different ones, so that files share prompts and indices, with faults among them.
func (s *cachedSet) rows() []row {
	out := make([]row, 1+s.r.IntN(6))
	for i := range out {
		out[i] = toolRow(s.r.IntN(40))
		switch s.r.IntN(8) {
		case 0:
			out[i]["agent_name"] = nil
		case 1:
			out[i]["agent_name"] = "single_turn_agent"
		case 2:
			out[i]["prompt"].([]any)[1].(row)["role"] = "human"
		case 3:
			out[i]["data_source"] = "my/data"
		}
	}
	return out
}

// write makes or replaces a file; what it is then can be told from what it was, as a clock that ticks tells it.
func (s *cachedSet) write(name string) {
	s.Helper()
	before, _ := os.Stat(name)
	for {
		if strings.HasSuffix(name, ".parquet") {
			f := &testFile{name: filepath.Base(name), group: 1 + s.r.IntN(3)}
			f.rows = append(f.rows, s.rows()...)
			f.write(s.T, s.dir, s.columns)
		} else {
			var text []byte
			for _, r := range s.rows() {
				line, err := json.Marshal(r)
				if err != nil {
					s.Fatal(err)
				}
				if s.r.IntN(10) == 0 { // bytes that are no UTF-8
					line = bytes.Replace(line, []byte("apples"), []byte("app\xffles"), 1)
				}
				text = append(append(text, line...), '\n')
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				s.Fatal(err)
			}
		}
		after, err := os.Stat(name)
		if err != nil {
			s.Fatal(err)
		}
		if before == nil || after.ModTime().After(before.ModTime()) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// edit changes the set, or the cache.
func (s *cachedSet) edit(cache string) {
	s.Helper()
	pick := func() int { return s.r.IntN(len(s.files)) }
	switch op := s.r.IntN(10); {
	case op < 4 || len(s.files) < 2:
		s.write(s.files[pick()])
	case op == 4:
		name := filepath.Join(s.dir, fmt.Sprintf("train-%d.%s", s.r.IntN(1000), []string{"parquet", "jsonl"}[s.r.IntN(2)]))
		s.write(name)
		if !slices.Contains(s.files, name) {
			s.files = append(s.files, name)
			slices.Sort(s.files)
		}
	case op == 5:
		i := pick()
		if err := os.Remove(s.files[i]); err != nil {
			s.Fatal(err)
		}
		s.files = slices.Delete(s.files, i, i+1)
	case op == 6: // two files change places
		a, b := s.files[0], s.files[len(s.files)-1]
		if filepath.Ext(a) != filepath.Ext(b) {
			return
		}
		for _, step := range [][2]string{{a, a + "~"}, {b, a}, {a + "~", b}} {
			if err := os.Rename(step[0], step[1]); err != nil {
				s.Fatal(err)
			}
		}
	case op == 7:
		if err := os.Chtimes(s.files[pick()], time.Time{}, time.Now()); err != nil {
			s.Fatal(err)
		}
	case op == 8: // an entry is damaged
		entries, _ := filepath.Glob(filepath.Join(cache, "*"))
		if len(entries) == 0 {
			return
		}
		name := entries[s.r.IntN(len(entries))]
		text, err := os.ReadFile(name)
		if err != nil {
			s.Fatal(err)
		}
		if s.r.IntN(2) == 0 {
			text = text[:s.r.IntN(len(text))]
		} else {
			text[s.r.IntN(len(text))] ^= 1 << s.r.IntN(8)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			s.Fatal(err)
		}
	}
}

// TestCacheIsRight: whatever happens to a data set between two runs, a run with the cache says byte for byte what one without says.
//
// RLPREP_EDITS=N makes N edits (.ci/run: 300).
func TestCacheIsRight(t *testing.T) {
	edits := 30
	if n, err := strconv.Atoi(os.Getenv("RLPREP_EDITS")); err == nil {
		edits = n
	}
	cache := useCache(t)
	s := &cachedSet{T: t, r: rand.New(rand.NewPCG(7, 7)), dir: t.TempDir(), columns: columnsOf(t, []map[string]any{toolRow(1), toolRow(2)})}
	script := filepath.Join(s.dir, "run.sh")
	for _, name := range []string{"test.parquet", "train-a.jsonl", "train-b.parquet", "train-c.parquet"} {
		s.files = append(s.files, filepath.Join(s.dir, name))
		s.write(s.files[len(s.files)-1])
	}
	found := 0
	for n := range edits {
		launch := fmt.Sprintf("%spython3 -m verl.trainer.main_ppo data.train_batch_size=%d\n", strings.Repeat("\n", s.r.IntN(2)), 1<<s.r.IntN(6))
		if err := os.WriteFile(script, []byte(launch), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"lint", "-j", fmt.Sprint(1 + s.r.IntN(4)), "-q", "--output-format", []string{"jsonl", "full", "sarif"}[s.r.IntN(3)]}
		args = append(args, [][]string{nil, nil, nil, {"--select", "RL3,RL4"}, {"--known-sources", "my/data"}, {"--target", "verl@0.7"}, {"--config", script}}[s.r.IntN(7)]...)
		args = append(args, s.files...)
		code, stdout, stderr := runMain(t, args...)
		wantCode, want, wantErr := runMain(t, append(args, "--no-cache")...)
		if code != wantCode || stdout != want || stderr != wantErr {
			t.Fatalf("edit %d, %q:\nwith the cache %d\n%s%s\nwithout %d\n%s%s", n, args, code, stdout, stderr, wantCode, want, wantErr)
		}
		found += strings.Count(want, "RL")
		s.edit(cache)
	}
	if entries, _ := filepath.Glob(filepath.Join(cache, "*.kept")); len(entries) == 0 || found == 0 {
		t.Errorf("%d entries, %d findings: the cache was not tried", len(entries), found)
	}
}

// TestCacheSparesRows: what was kept is not read again, and what changed is.
func TestCacheSparesRows(t *testing.T) {
	cache := useCache(t)
	dir := t.TempDir()
	f := &testFile{name: "train.parquet", group: 4}
	for i := range 8 {
		f.rows = append(f.rows, toolRow(i))
	}
	f.rows[5]["agent_name"] = nil
	file := f.write(t, dir, columnsOf(t, f.rows))
	lint := func(args ...string) (int, string) {
		code, stdout, stderr := runMain(t, append([]string{"lint", "-q", "--output-format", "concise", file}, args...)...)
		return code, stdout + stderr
	}
	code, first := lint()
	if code != ExitFindings || !strings.Contains(first, "row 5: agent_name: null") {
		t.Fatalf("exit %d: %s", code, first)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if code, again := lint("--verbose"); code != ExitFindings || !strings.HasPrefix(again, first) || !strings.Contains(again, "1 of 1 file not read again") {
		t.Errorf("exit %d: %s", code, again)
	}
	kept, _ := filepath.Glob(filepath.Join(cache, "*"))
	if len(kept) != 1 {
		t.Fatalf("kept %q", kept)
	}
	for _, args := range [][]string{{"--no-cache"}, {"--schema-only"}, {"--rows", "3"}} { // these keep nothing
		lint(args...)
	}
	if now, _ := filepath.Glob(filepath.Join(cache, "*")); !slices.Equal(now, kept) {
		t.Errorf("kept %q, then %q", kept, now)
	}

	// The rows are destroyed and the time is set back: on Linux and macOS that is noticed, by the time of the last change of state.
	hollow(t, file, func(string) bool { return false })
	if err := os.Chtimes(file, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	code, again := lint()
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		if code != ExitFile {
			t.Errorf("rows that were destroyed are not noticed: exit %d: %s", code, again)
		}
	} else if code != ExitFindings || again != first {
		t.Errorf("what was kept is read again: exit %d: %s", code, again)
	}
}

// TestCacheManyFiles: more files than are held open, all of whose rows stand in others too; and entries whose damage shows only when their
// records are asked for.
func TestCacheManyFiles(t *testing.T) {
	cache := useCache(t)
	files := hundred(t)
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 170 {
		name := strings.Replace(files[0], "train-00000", fmt.Sprintf("train-1%04d", i), 1)
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	lint := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := runMain(t, slices.Concat([]string{"lint", "--output-format", "jsonl", "--verbose"}, args, files)...)
		if code != ExitClean {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if kept := strings.Contains(stderr, "270 of 270 files not read again"); kept != (len(args) > 0) {
			t.Errorf("%q: kept %v", args, kept)
		}
		return stdout
	}
	first := lint()
	if again := lint("-j", "3"); again != first || strings.Count(first, `"rule":"RL601"`) != len(files) {
		t.Errorf("%d lines, then %d", strings.Count(first, "\n"), strings.Count(again, "\n"))
	}
	entries, _ := filepath.Glob(filepath.Join(cache, "*.kept"))
	for _, name := range entries {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/4] ^= 1 // marks come first, and are a seventh; heads and keys come last
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if again := lint(); again != first || len(entries) != len(files) {
		t.Errorf("%d entries; after damage %d lines, then %d", len(entries), strings.Count(first, "\n"), strings.Count(again, "\n"))
	}
}
