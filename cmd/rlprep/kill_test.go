//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// killPoints are the moments that internal/killpoint names.
var killPoints = []string{"mid-page", "before-publish", "between-publish-and-record", "before-manifest", "before-rename", "after-rename"}

const (
	killsAtPoint  = 10
	killsAtRandom = 40
	killShards    = 4
	killCopies    = 100 // of the sample, where there is no benchmark data
)

// A killing is one job that is killed again and again.
type killing struct {
	bin, source string
	command     []string          // nil: preprocess of a recipe
	want        map[string]string // name to sha256 of what a run that nobody disturbs writes; nil: it ends with 1 and writes nothing
	sizes       map[string]int64
	took        time.Duration
}

// TestKill kills the tool (-9) at named points and at random moments while a reader looks on: the reader sees nothing or all, a
// rerun gives identical bytes and leaves nothing beside the output.
//
// RLPREP_BENCH=DIR takes DIR/x100/rg7473/train.parquet (testdata/bench/data.sh makes it in .bench) in place of a repeated sample,
// and kills 10 times at each point and 40 times at random; without it a quarter of that with RLPREP_LONG, or an eighth.
func TestKill(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	t.Run("good rows", func(t *testing.T) {
		k := &killing{bin: bin, source: goodSource(t)}
		k.measure(t)
		k.everyPoint(t, killPoints)
		k.randomMoments(t)
	})
	for _, bad := range []string{"a last row that the recipe cannot take", "a last row with a finding"} {
		t.Run(bad, func(t *testing.T) {
			k := &killing{bin: bin, source: badSource(t, bad)}
			k.measure(t)
			if k.want != nil {
				t.Fatal("the bad row was written")
			}
			k.everyPoint(t, killPoints[:3]) // it never gets further
			k.randomMoments(t)
		})
	}
}

// TestKillOwn kills run and map where a resumed run takes most up again: a rerun gives identical bytes.
func TestKillOwn(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	for _, command := range [][]string{
		{"run", "../../testdata/pipelines/gsm8k_tool_agent_loop.yaml"}, {"map", "../../testdata/maps/gsm8k_tool_agent_loop.star"},
	} {
		t.Run(command[0], func(t *testing.T) {
			k := &killing{bin: bin, source: goodSource(t), command: command}
			k.measure(t)
			for _, point := range []string{"mid-page", "between-publish-and-record", "before-rename"} {
				t.Run(point, func(t *testing.T) { k.once(t, func(out string) bool { return k.atPoint(t, out, point, 2) }) })
			}
		})
	}
}

func killCount(n int) int {
	switch {
	case os.Getenv("RLPREP_BENCH") != "":
		return n
	case long():
		return n / 4
	}
	return n / 8
}

// goodSource is a folder with the rows of the benchmark, or of the sample repeated.
func goodSource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if file := benchFile(t); file != "" {
		if err := os.Symlink(file, filepath.Join(dir, "train-00000-of-00002.parquet")); err != nil {
			t.Fatal(err)
		}
		writeProblems(t, filepath.Join(dir, "train-00001-of-00002.parquet"), nil)
		return dir
	}
	sample := readFile(t, "../../testdata/sample/train.jsonl")
	if err := os.WriteFile(filepath.Join(dir, "train.jsonl"), repeated(sample, killCopies), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// badSource is goodSource with one row more, the last of the last file.
func badSource(t *testing.T, kind string) string {
	t.Helper()
	dir := goodSource(t)
	bad := problem{Question: "How many?", Answer: "None is said."} // no line with ####
	if strings.HasSuffix(kind, "finding") {
		bad = problem{Question: "How many?\xff", Answer: "One.\n#### 1"}
	}
	if benchFile(t) != "" {
		writeProblems(t, filepath.Join(dir, "train-00001-of-00002.parquet"), &bad)
		return dir
	}
	name := filepath.Join(dir, "train.jsonl")
	line := `{"question": "` + bad.Question + `", "answer": "` + strings.ReplaceAll(bad.Answer, "\n", `\n`) + `"}` + "\n"
	if err := os.WriteFile(name, append(readFile(t, name), line...), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func benchFile(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RLPREP_BENCH")
	if dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	file, err := filepath.Abs(filepath.Join(dir, "x100", "rg7473", "train.parquet"))
	if _, serr := os.Stat(file); err != nil || serr != nil {
		t.Fatalf("RLPREP_BENCH: %v; sh testdata/bench/data.sh makes the data", errors.Join(err, serr))
	}
	return file
}

// writeProblems writes a hundred problems, and last the bad one.
func writeProblems(t *testing.T, name string, last *problem) {
	t.Helper()
	var rows []problem
	for i := range 100 {
		rows = append(rows, problem{fmt.Sprintf("What is %d and one?", i), fmt.Sprintf("One more.\n#### %d", i+1)})
	}
	if last != nil {
		rows = append(rows, *last)
	}
	if err := parquet.WriteFile(name, rows, parquet.Compression(&parquet.Zstd)); err != nil {
		t.Fatal(err)
	}
}

// repeated is JSON lines n times over, made unique by the number of the copy at the end of the question.
func repeated(lines []byte, n int) []byte {
	var out bytes.Buffer
	for k := range n {
		for line := range bytes.Lines(lines) {
			before, after, ok := bytes.Cut(line, []byte(`", "answer":`))
			if ok {
				fmt.Fprintf(&out, `%s [%d]", "answer":%s`, before, k, after)
			}
		}
	}
	return out.Bytes()
}

// measure runs undisturbed and keeps what comes out.
func (k *killing) measure(t *testing.T) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	start := time.Now()
	status, said := k.run(out, "")
	k.took = time.Since(start)
	if status != 0 && status != 1 {
		t.Fatalf("exit %d: %s", status, said)
	}
	if k.want, k.sizes = contents(t, out); len(k.want) == 0 && status == 0 {
		t.Fatalf("exit 0 and nothing written: %s", said)
	}
	if k.want != nil && len(k.want) != killShards+1 {
		t.Fatalf("%d files, wanted %d shards and a manifest", len(k.want), killShards)
	}
	k.beside(t, out, "undisturbed")
}

// contents hashes every file of out; nil where it is not there.
func contents(t *testing.T, out string) (sums map[string]string, sizes map[string]int64) {
	t.Helper()
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	sums, sizes = map[string]string{}, map[string]int64{}
	for _, e := range entries {
		b := readFile(t, filepath.Join(out, e.Name()))
		sum := sha256.Sum256(b)
		sums[e.Name()], sizes[e.Name()] = hex.EncodeToString(sum[:]), int64(len(b))
	}
	return sums, sizes
}

func (k *killing) process(out, point string) *exec.Cmd {
	args := k.command
	if args == nil {
		args = []string{"preprocess", "gsm8k_tool_agent_loop"}
	}
	args = append(args[:len(args):len(args)], "--source", k.source, "--shards", fmt.Sprint(killShards), "-o", out)
	cmd := exec.Command(k.bin, args...)
	cmd.Env = toolEnv()
	if point != "" {
		cmd.Env = append(cmd.Env, "RLPREP_KILL="+point)
	}
	return cmd
}

// run runs the tool to its end; status -1: it was killed.
func (k *killing) run(out, point string) (status int, said string) {
	cmd := k.process(out, point)
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return -2, err.Error()
	}
	return exitStatus(cmd), string(b)
}

func (k *killing) everyPoint(t *testing.T, points []string) {
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			for n := 1; n <= killCount(killsAtPoint); n++ {
				k.once(t, func(out string) bool { return k.atPoint(t, out, point, n) })
			}
		})
	}
}

// atPoint kills at the nth passing of the point, or at an earlier one where there are not so many.
func (k *killing) atPoint(t *testing.T, out, point string, n int) bool {
	t.Helper()
	for ; n >= 1; n /= 2 {
		status, said := k.run(out, fmt.Sprintf("%s:%d", point, n))
		if status == -1 {
			return true
		}
		if status != 0 && status != 1 {
			t.Fatalf("exit %d: %s", status, said)
		}
		if err := os.Rename(out, filepath.Join(t.TempDir(), "done")); err != nil && k.want != nil { // at once: a reader looks on
			t.Fatal(err)
		}
	}
	t.Fatalf("the tool never passed %s", point)
	return false
}

func (k *killing) randomMoments(t *testing.T) {
	t.Run("random moments", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		killed := 0
		for n := 0; n < killCount(killsAtRandom) || killed == 0 && n < 100; n++ {
			k.once(t, func(out string) bool {
				for range 1 + rng.IntN(2) { // a rerun may be killed as well
					if d := time.Duration(rng.Float64() * float64(k.took)); k.after(t, out, d) {
						killed++
					} else {
						k.took = d // it was measured when the machine was busier
					}
				}
				return true
			})
		}
		t.Logf("%d kills hit a running tool, which takes %v undisturbed", killed, k.took.Round(time.Millisecond))
		if killed == 0 {
			t.Error("every kill came too late")
		}
	})
}

// after kills the tool after a while and reports whether it was still running.
func (k *killing) after(t *testing.T, out string, d time.Duration) bool {
	t.Helper()
	cmd := k.process(out, "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	cmd.Process.Kill()
	cmd.Wait()
	return exitStatus(cmd) == -1
}

// once kills by kill under the eyes of a reader, reruns, and looks at what is there.
func (k *killing) once(t *testing.T, kill func(out string) bool) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	r := k.watch(out)
	kill(out)
	k.look(t, out, "after the kill")
	status, said := k.run(out, "")
	r.stop(t)
	want := 0
	if k.want == nil {
		want = 1
	}
	if status != want {
		t.Errorf("the rerun ended with %d, not %d: %s", status, want, said)
	}
	got, _ := contents(t, out)
	for name, sum := range k.want {
		if got[name] != sum {
			t.Errorf("after the rerun %s is %.12q, not %.12q", name, got[name], sum)
		}
	}
	if len(got) != len(k.want) {
		t.Errorf("after the rerun there are %d files, not %d", len(got), len(k.want))
	}
	k.manifest(t, out)
	k.beside(t, out, "after the rerun")
}

// manifest compares dataset_sha256 with the shards that are there.
func (k *killing) manifest(t *testing.T, out string) {
	t.Helper()
	if k.want == nil {
		return
	}
	var m struct {
		Dataset string `json:"dataset_sha256"`
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(out, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(k.want)) {
		if strings.HasSuffix(name, ".parquet") {
			fmt.Fprintf(h, "%s  %s\n", k.want[name], name)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != m.Dataset {
		t.Errorf("dataset_sha256 is %s, the shards give %s", m.Dataset, got)
	}
}

// beside fails when anything but the output is left where it stands.
func (k *killing) beside(t *testing.T, out, when string) {
	t.Helper()
	for _, name := range entries(filepath.Dir(out)) {
		if name != filepath.Base(out) || k.want == nil {
			t.Errorf("%s, %s is there", when, name)
		}
	}
}

// look fails unless out is absent or whole.
func (k *killing) look(t *testing.T, out, when string) {
	t.Helper()
	if got, _ := contents(t, out); got != nil && (k.want == nil || len(got) != len(k.want)) {
		t.Errorf("%s, a reader sees %d files", when, len(got))
	}
	if got, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "[!.]*")); len(got) > 1 {
		t.Errorf("%s, a reader sees %v", when, got)
	}
}

// A reader globs the output over and over, as trainers do, until it is stopped.
type reader struct {
	quit chan struct{}
	done sync.WaitGroup
	seen string // what was neither nothing nor all
	n    int
}

func (k *killing) watch(out string) *reader {
	r := &reader{quit: make(chan struct{})}
	r.done.Go(func() {
		for {
			select {
			case <-r.quit:
				return
			default:
				r.n++
				if s := k.partial(out); s != "" {
					r.seen = s
				}
				time.Sleep(200 * time.Microsecond)
			}
		}
	})
	return r
}

func (r *reader) stop(t *testing.T) {
	t.Helper()
	close(r.quit)
	r.done.Wait()
	if r.seen != "" {
		t.Errorf("a reader saw %s", r.seen)
	}
	if r.n < 2 {
		t.Error("the reader looked less than twice")
	}
}

// partial says what is there when it is neither nothing nor all.
func (k *killing) partial(out string) string {
	files, _ := filepath.Glob(filepath.Join(out, "*.parquet"))
	if len(files) == 0 {
		return ""
	}
	if k.want == nil {
		return "shards of rows that do not train"
	}
	if len(files) != killShards {
		return fmt.Sprintf("%d shards of %d", len(files), killShards)
	}
	for _, f := range files {
		st, err := os.Stat(f)
		if _, gone := os.Stat(out); errors.Is(err, fs.ErrNotExist) && errors.Is(gone, fs.ErrNotExist) {
			return "" // the test has taken the whole directory away since
		}
		if err != nil || st.Size() != k.sizes[filepath.Base(f)] {
			return fmt.Sprintf("%s with %v", filepath.Base(f), err)
		}
	}
	return ""
}

// exitStatus is the status of a command that ended; -1 where it was killed.
func exitStatus(cmd *exec.Cmd) int {
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}
