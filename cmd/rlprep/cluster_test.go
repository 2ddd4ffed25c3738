//go:build unix

package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/hub/hubtest"
)

// A hubJob is preprocess with its dataset on a Hub.
type hubJob struct {
	bin, url string
	want     map[string]string
}

// newHubJob serves the sample some hundred times over and keeps what comes of it where nothing goes wrong.
func newHubJob(t *testing.T) (*hubJob, *hubtest.Server) {
	t.Helper()
	s := hubtest.New()
	t.Cleanup(s.Close)
	train := parquetOf(t, repeated(readFile(t, "../../testdata/sample/train.jsonl"), 300))
	s.CommitAs("openai/gsm8k", gsm8kCommit(t), map[string]hubtest.File{
		"main/train-00000-of-00001.parquet": {Data: train, LFS: true},
		"main/test-00000-of-00001.parquet":  {Data: parquetOf(t, readFile(t, "../../testdata/sample/test.jsonl")), LFS: true},
	})
	j := &hubJob{bin: tool(t), url: s.URL}
	out := filepath.Join(t.TempDir(), "out")
	if status, said := j.run(t, t.TempDir(), out); status != 0 {
		t.Fatalf("exit %d: %s", status, said)
	}
	j.want, _ = contents(t, out)
	return j, s
}

func (j *hubJob) command(home, out string, env ...string) *exec.Cmd {
	cmd := exec.Command(j.bin, "preprocess", "gsm8k_tool_agent_loop", "--shards", "4", "-o", out)
	cmd.Env = toolEnv(append([]string{"HF_ENDPOINT=" + j.url, "HF_HOME=" + home, "HF_TOKEN="}, env...)...)
	return cmd
}

func (j *hubJob) run(t *testing.T, home, out string, env ...string) (int, string) {
	t.Helper()
	cmd := j.command(home, out, env...)
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return exitStatus(cmd), string(b)
}

// settle runs until it ends well and looks at what is there then.
func (j *hubJob) settle(t *testing.T, what, home, out string, env ...string) {
	t.Helper()
	if status, said := j.run(t, home, out, env...); status != 0 {
		t.Errorf("%s: the rerun ended with %d: %s", what, status, said)
	}
	if got, _ := contents(t, out); !maps.Equal(got, j.want) {
		t.Errorf("%s: another data set came out", what)
	}
	if left := entries(filepath.Dir(out)); len(left) != 1 {
		t.Errorf("%s: beside the output: %v", what, left)
	}
	for _, name := range entries(filepath.Join(home, "hub", "datasets--openai--gsm8k", "blobs")) {
		if strings.HasSuffix(name, ".incomplete") {
			t.Errorf("%s: %s was left", what, name)
		}
	}
}

// slow has the store send files in pieces, so that there is time to do something meanwhile.
func slow(s *hubtest.Server, d time.Duration) {
	s.Misbehave(func(r *http.Request) *hubtest.Fault {
		if strings.HasPrefix(r.URL.Path, "/repos/") {
			return &hubtest.Fault{Pause: d}
		}
		return nil
	})
}

// TestHubKill kills (-9) runs whose dataset comes from a Hub, at random moments, and ends some by SIGTERM or two SIGINTs: the next
// start takes up what there is.
func TestHubKill(t *testing.T) {
	t.Parallel()
	j, s := newHubJob(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 8 {
		home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		slow(s, 20*time.Millisecond)
		cmd := j.command(home, out)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rng.IntN(300)) * time.Millisecond)
		want := -1
		switch n % 4 {
		case 0, 1:
			cmd.Process.Kill()
		case 2:
			cmd.Process.Signal(syscall.SIGTERM)
			want = 130
		case 3:
			cmd.Process.Signal(os.Interrupt)
			cmd.Process.Signal(os.Interrupt)
			want = 130
		}
		cmd.Wait()
		if got := exitStatus(cmd); got != want && got != 0 && got != -1 { // -1: before it listened
			t.Errorf("kill %d: exit %d, wanted %d: %s", n, got, want, said.String())
		}
		if got, _ := contents(t, out); got != nil && !maps.Equal(got, j.want) {
			t.Errorf("kill %d: a reader sees part of a data set", n)
		}
		s.Misbehave(nil)
		j.settle(t, fmt.Sprintf("kill %d", n), home, out)
	}
}

// TestHubTogether: of two runs on one OUT the second says who has it, also where the file system has no locks; two runs on two OUTs
// share one cache.
func TestHubTogether(t *testing.T) {
	t.Parallel()
	j, s := newHubJob(t)
	for _, refuse := range []string{"none", "flock"} {
		home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
		first := j.command(home, out, "RLPREP_REFUSE="+refuse, "RLPREP_HOLD=before-publish")
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		held := filepath.Join(filepath.Dir(out), ".out.rlprep", "lock")
		for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if b, _ := os.ReadFile(held); len(b) > 0 {
				break
			}
		}
		status, said := j.run(t, home, out, "RLPREP_REFUSE="+refuse)
		if status != 3 || !strings.Contains(said, fmt.Sprintf("another run is at work here (process %d on ", first.Process.Pid)) {
			t.Errorf("%s: exit %d: %s", refuse, status, said)
		}
		first.Process.Kill()
		first.Wait()
		j.settle(t, refuse, home, out, "RLPREP_REFUSE="+refuse)
	}
	slow(s, 5*time.Millisecond)
	home := t.TempDir()
	outs := []string{filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")}
	first := j.command(home, outs[0])
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	j.settle(t, "two at once", home, outs[1])
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
	j.settle(t, "the other", home, outs[0])
}

// TestHubPlaces: no room, in the cache or for the output, directories that cannot be written, an input that goes away.
func TestHubPlaces(t *testing.T) {
	t.Parallel()
	j, _ := newHubJob(t)
	if exec.Command("unshare", "-Urm", "true").Run() == nil {
		for _, full := range []string{"HF_HOME", "the output"} {
			dir := t.TempDir()
			home, out := filepath.Join(dir, "home"), filepath.Join(dir, "o", "out")
			for _, d := range []string{home, filepath.Dir(out)} {
				if err := os.MkdirAll(d, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			small := home
			if full != "HF_HOME" {
				small = filepath.Dir(out)
			}
			// The directory is looked at from inside: the mount ends with the process.
			script := `mount -t tmpfs -o size=` + map[string]string{"HF_HOME": "40k", "the output": "100k"}[full] + ` none "$1"; shift; "$@"; s=$?; find "$0" -type f; exit $s`
			cmd := exec.Command("unshare", append([]string{"-Urm", "sh", "-c", script, small, small}, j.command(home, out).Args...)...)
			cmd.Env = j.command(home, out).Env
			b, _ := cmd.CombinedOutput()
			if exitStatus(cmd) != 3 || !strings.Contains(string(b), "no space left on device") {
				t.Errorf("%s full: exit %d: %s", full, exitStatus(cmd), b)
			}
			if full == "HF_HOME" && (!strings.Contains(string(b), "HF_HOME") || strings.Contains(string(b), "snapshots/")) {
				t.Errorf("%s full: %s", full, b)
			}
			if strings.Contains(string(b), "out/train") && !strings.Contains(string(b), ".rlprep/") {
				t.Errorf("%s full: something is visible: %s", full, b)
			}
			j.settle(t, full+" has room again", home, out)
		}
	} else {
		t.Log("unshare does not work here: no full disk was tried")
	}
	home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for _, c := range []struct{ dir, want string }{{filepath.Join(home, "hub"), "HF_HOME"}, {filepath.Dir(out), ""}} {
		if err := os.MkdirAll(filepath.Dir(c.dir), 0o777); err != nil {
			t.Fatal(err)
		}
		// A file in the place of a directory refuses root too.
		if err := os.RemoveAll(c.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.dir, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if status, said := j.run(t, home, out); status != 3 || !strings.Contains(said, c.want) || !strings.Contains(said, "not a directory") {
			t.Errorf("%s: exit %d: %s", c.dir, status, said)
		}
		if err := os.Remove(c.dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		t.Fatal(err)
	}
	j.settle(t, "with directories", home, out)

	// A link in the cache to a blob that is gone.
	blobs, _ := filepath.Glob(filepath.Join(home, "hub", "*", "blobs", "*"))
	for _, b := range blobs {
		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
	}
	again := filepath.Join(t.TempDir(), "out")
	if status, said := j.run(t, home, again, "HF_HUB_OFFLINE=1"); status != 2 || !strings.Contains(said, "not in the cache") {
		t.Errorf("blobs gone, offline: exit %d: %s", status, said)
	}
	j.settle(t, "blobs gone", home, again)

	// A blob of the right size and other bytes is not taken for the file: it is fetched again, and without a network refused.
	spoil := func() {
		blobs, _ = filepath.Glob(filepath.Join(home, "hub", "*", "blobs", "*"))
		for _, b := range blobs {
			data := readFile(t, b)
			data[len(data)/2] ^= 1
			if err := os.WriteFile(b, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	spoil()
	other := filepath.Join(t.TempDir(), "out")
	status, said := j.run(t, home, other, "HF_HUB_OFFLINE=1")
	if got, _ := contents(t, other); status == 0 || got != nil || !strings.Contains(said, "remove it") {
		t.Errorf("a blob with a bit changed, offline: exit %d, %d files: %s", status, len(got), said)
	}
	j.settle(t, "a blob with a bit changed", home, other)
}

// TestUmask: what comes out has the modes that a cp would give, in directories that hand on their group.
func TestUmask(t *testing.T) {
	t.Parallel()
	j, _ := newHubJob(t)
	for _, umask := range []string{"022", "002", "077"} {
		dir := t.TempDir()
		shared := filepath.Join(dir, "shared")
		if err := os.Mkdir(shared, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(shared, 0o777|os.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		home, out := filepath.Join(shared, "hf"), filepath.Join(shared, "out")
		cmd := exec.Command("sh", append([]string{"-c", `umask ` + umask + `; touch "$0/file"; mkdir "$0/dir"; exec "$@"`, shared}, j.command(home, out).Args...)...)
		cmd.Env = j.command(home, out).Env
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		file, folder := mode(t, filepath.Join(shared, "file")), mode(t, filepath.Join(shared, "dir"))
		err := filepath.WalkDir(shared, func(p string, d os.DirEntry, err error) error {
			if err != nil || p == shared || d.Type()&os.ModeSymlink != 0 || strings.HasSuffix(p, ".lock") { // as huggingface_hub: 664
				return err
			}
			want := file
			if d.IsDir() {
				want = folder
			}
			if got := mode(t, p); got != want {
				t.Errorf("umask %s: %s has mode %v, cp gives %v", umask, strings.TrimPrefix(p, shared), got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAddressSpace: batch systems limit addresses, not memory (ulimit -v). A job that fits prints nothing about it. Where the runtime can start and
// the job does not fit, a message says why. Where the runtime itself cannot start, it ends the process before any code of ours runs.
func TestAddressSpace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux holds a process to ulimit -v")
	}
	t.Parallel()
	bin, told := releasedTool(t), 0
	run := func(kb int) (*exec.Cmd, string, error) {
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" preprocess gsm8k --demo -q -o "$1"`, kb), bin, filepath.Join(t.TempDir(), "out"))
		b, err := cmd.CombinedOutput()
		return cmd, string(b), err
	}
	if _, said, err := run(2_000_000); err != nil || said != "" {
		t.Fatalf("%v, and it says: %s", err, said)
	}
	for kb := 730_000; kb <= 850_000; kb += 5_000 {
		switch cmd, said, err := run(kb); {
		case err == nil:
		case strings.Contains(said, "runtime stack:") && !strings.Contains(said, "main.main("), strings.HasPrefix(said, "runtime: out of memory"):
			// before main could look at the limit
		case cmd.ProcessState.ExitCode() == 3 && strings.HasPrefix(said, "rlprep: the address space is limited (ulimit -v)"):
			told++
		default:
			t.Errorf("%d kB: %v: %.500s", kb, err, said)
		}
	}
	if told < 3 {
		t.Errorf("only %d of 25 limits were named", told)
	}
}

func mode(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}
