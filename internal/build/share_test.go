package build_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rlprep/rlprep/internal/build"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
)

// workerVariable makes this test's program a worker: "DIR OUT TASKS", with "+" before a task in which it stands still.
const workerVariable = "RLPREP_TEST_WORKER"

func TestMain(m *testing.M) {
	if args := os.Getenv(workerVariable); args != "" {
		if err := worker(strings.Fields(args)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// worker joins the work and does tasks, each unless somebody else is at it. It stands still within a task that is marked, and says so.
func worker(args []string) error {
	still := false
	o, err := options(context.Background(), args[0], args[1])
	if err != nil {
		return err
	}
	defer o.Source.Close()
	o.Watch = func(int64) (func(int64, string), func()) {
		return func(int64, string) {
			if still {
				fmt.Println("within a task")
				_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
			}
		}, func() {}
	}
	b, err := build.New(context.Background(), o)
	if err != nil {
		return err
	}
	s, err := b.Join(context.Background())
	if err != nil {
		return err
	}
	for _, word := range args[2:] {
		still = strings.HasPrefix(word, "+")
		var task int
		if _, err := fmt.Sscan(strings.TrimPrefix(word, "+"), &task); err != nil {
			return err
		}
		if _, err := build.RunTask(context.Background(), s, task); err != nil && !errors.As(err, new(*shard.ClaimedError)) {
			return err
		}
	}
	return s.Close()
}

// A process is a worker.
type process struct {
	*exec.Cmd
	said *bufio.Reader
}

func startWorker(t *testing.T, dir, out, tasks string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerVariable+"="+strings.Join([]string{dir, out, tasks}, " "))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{cmd, bufio.NewReader(said)}
}

func (p *process) end(t *testing.T) {
	t.Helper()
	said, _ := io.ReadAll(p.said)
	if err := p.Wait(); err != nil {
		t.Fatalf("worker: %v: %s", err, said)
	}
}

// plain returns the files of a run by one process.
func plain(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := filepath.Join(dir, "plain")
	if _, err := build.Run(t.Context(), testOptions(t, dir, out)); err != nil {
		t.Fatal(err)
	}
	return files(t, out)
}

// finish makes the directory visible, and wants just missing tasks to be left for it.
func finish(t *testing.T, dir, out string, missing int, want map[string]string) {
	t.Helper()
	res, err := build.Run(t.Context(), testOptions(t, dir, out))
	if err != nil || res.Status != build.Written {
		t.Fatalf("%v, status %d", err, res.Status)
	}
	if left := rows/shardRows - res.Report.Resumed; left != missing {
		t.Errorf("%d tasks were left for the last run, want %d", left, missing)
	}
	same(t, files(t, out), want)
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".out*")); left != nil {
		t.Errorf("left beside it: %q", left)
	}
}

// TestProcesses: what processes make together, of tasks that are apart or not, is byte by byte what one process makes.
func TestProcesses(t *testing.T) {
	dir := data(t)
	want := plain(t, dir)
	for name, c := range map[string]struct {
		tasks   []string
		missing int
	}{
		"two apart":        {[]string{"0 2 4 6", "1 3 5 7"}, 0},
		"two, some left":   {[]string{"0 1", "7"}, 5},
		"four, all at all": {[]string{"0 1 2 3 4 5 6 7", "2 3 4 5 6 7 0 1", "4 5 6 7 0 1 2 3", "7 6 5 4 3 2 1 0"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			var all []*process
			for _, tasks := range c.tasks {
				all = append(all, startWorker(t, dir, out, tasks))
			}
			for _, p := range all {
				p.end(t)
			}
			finish(t, dir, out, c.missing, want)
		})
	}
}

// TestKilledWorker: while a worker is within a task nobody else does that task or takes the directory; once it was killed both can be.
func TestKilledWorker(t *testing.T) {
	dir := data(t)
	want := plain(t, dir)
	out := filepath.Join(t.TempDir(), "out")
	p := startWorker(t, dir, out, "0 +1")
	if line, err := p.said.ReadString('\n'); line != "within a task\n" {
		t.Fatalf("%q, %v", line, err)
	}
	s := join(t, dir, out)
	if rec, err := build.RunTask(t.Context(), s, 0); err != nil || rec.RowsOut != shardRows {
		t.Errorf("a task that another did: %+v, %v", rec, err)
	}
	var claimed *shard.ClaimedError
	if _, err := build.RunTask(t.Context(), s, 1); !errors.As(err, &claimed) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on", p.Process.Pid)) {
		t.Errorf("a task that another is at: %v", err)
	}
	other := testOptions(t, dir, out)
	other.Compression = "snappy"
	for what, o := range map[string]build.Options{"a run of the same plan": testOptions(t, dir, out), "a run of another plan": other} {
		if _, err := build.Run(t.Context(), o); !errors.As(err, new(*shard.LockedError)) {
			t.Errorf("%s beside workers: %v", what, err)
		}
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if rec, err := build.RunTask(t.Context(), s, 1); err != nil || rec.Task != 1 {
		t.Errorf("a task whose process was killed: %+v, %v", rec, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	finish(t, dir, out, rows/shardRows-2, want)
}

func join(t *testing.T, dir, out string) *build.SharedPlan {
	t.Helper()
	b, err := build.New(t.Context(), testOptions(t, dir, out))
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGoroutines: the last process makes the directory visible. The others get an error that names a running process, or learn that the directory is
// complete.
func TestGoroutines(t *testing.T) {
	dir := data(t)
	want := plain(t, dir)
	out := filepath.Join(t.TempDir(), "out")
	plans := make([]*build.SharedPlan, 4)
	for i := range plans {
		plans[i] = join(t, dir, out)
	}
	written := make(chan bool, len(plans))
	var wg sync.WaitGroup
	for k, s := range plans {
		wg.Go(func() {
			for i := range s.Tasks {
				task := (i + 2*k) % len(s.Tasks)
				if _, err := build.RunTask(t.Context(), s, task); err != nil && !errors.As(err, new(*shard.ClaimedError)) {
					t.Errorf("task %d: %v", task, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			o, err := options(t.Context(), dir, out)
			if err != nil {
				t.Error(err)
				return
			}
			defer o.Source.Close()
			res, err := build.Run(t.Context(), o)
			if err != nil && !errors.As(err, new(*shard.LockedError)) {
				t.Error(err)
			}
			written <- res.Status == build.Written
		})
	}
	wg.Wait()
	close(written)
	n := 0
	for w := range written {
		if w {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d runs made the directory visible", n)
	}
	same(t, files(t, out), want)
}

// TestTwoPlans: a plan's folder stays while a process does tasks of it, whatever plan others have.
func TestTwoPlans(t *testing.T) {
	dir := data(t)
	out := filepath.Join(t.TempDir(), "out")
	first := join(t, dir, out)
	if _, err := build.RunTask(t.Context(), first, 0); err != nil {
		t.Fatal(err)
	}
	o := testOptions(t, dir, out)
	o.Compression = "snappy"
	b, err := build.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build.RunTask(t.Context(), second, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := build.RunTask(t.Context(), first, 1); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	res, err := b.Run(t.Context())
	if err != nil || res.Report.Resumed != 1 {
		t.Fatalf("%v, %+v", err, res.Report)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".out*")); left != nil {
		t.Errorf("left beside it: %q", left)
	}
	if _, err := b.Join(t.Context()); !errors.Is(err, build.ErrUpToDate) {
		t.Errorf("joined what is done: %v", err)
	}
}

// TestSharedRejects: no task has too many rejected rows, and all together have.
func TestSharedRejects(t *testing.T) {
	dir := data(t, 3, 77)
	out := filepath.Join(t.TempDir(), "out")
	o := testOptions(t, dir, out)
	o.MaxRejects = "1"
	b, err := build.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Tasks {
		if _, err := build.RunTask(t.Context(), s, i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := build.RunTask(t.Context(), s, len(s.Tasks)); !errors.As(err, new(*misuse.Error)) {
		t.Errorf("a task that there is not: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context()); !errors.As(err, new(*pipeline.RejectError)) {
		t.Errorf("%v, want a *RejectError", err)
	}
}

// TestDamagedShard: a shard that changed after its task was done is made again.
func TestDamagedShard(t *testing.T) {
	dir := data(t)
	want := plain(t, dir)
	out := filepath.Join(t.TempDir(), "out")
	s := join(t, dir, out)
	for i := range s.Tasks {
		if _, err := build.RunTask(t.Context(), s, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".out.rlprep", "*", "out", "*-00003-of-*"))
	if len(names) != 1 {
		t.Fatalf("shards %q", names)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(names[0], b, 0o666); err != nil {
		t.Fatal(err)
	}
	finish(t, dir, out, 1, want)
}
