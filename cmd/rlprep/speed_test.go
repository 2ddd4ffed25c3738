//go:build linux

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// TestSpeed keeps rlprep from becoming much slower or larger unnoticed. It counts seconds of CPU, not of the clock, and compares
// them with a yardstick taken in turn with it: cp of the same file for edits, parsing and zstd of the same text for a recipe. The limits are
// some two to three times what was measured, so that a busy machine passes; docs/benchmarks.md has the exact bars. It runs where RLPREP_SPEED
// is set, as .ci/run does.
func TestSpeed(t *testing.T) {
	if os.Getenv("RLPREP_SPEED") == "" {
		t.Skip("RLPREP_SPEED is not set: what CPU and memory the tool takes is not looked at")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "rlprep")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	s := &speed{t: t, exe: exe, dir: dir}
	raw := s.raw(1500) // some 72,000 rows
	s.edits(raw)       // first: this process is still small, and a child's peak memory begins at its parent's
	s.preprocess(raw)
}

// A speed is one run of TestSpeed.
type speed struct {
	t        *testing.T
	exe, dir string
}

// A rawLine is a line of the raw dataset.
type rawLine struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// cost is what one process took.
type cost struct {
	cpu  time.Duration
	peak int64 // bytes
}

// raw writes the problems of the sample so many times over, each with a mark of its own that does not compress.
func (s *speed) raw(copies int) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "sample", "train.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.dir, "train.jsonl")
	f, err := os.Create(path)
	if err != nil {
		s.t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	enc := json.NewEncoder(out)
	for n := range copies {
		for line := range bytes.Lines(data) {
			var row rawLine
			if err := json.Unmarshal(line, &row); err != nil {
				s.t.Fatal(err)
			}
			mark := sha256.Sum256(fmt.Appendf(nil, "%d %s", n, row.Question))
			row.Question = fmt.Sprintf("%s [%x]", row.Question, mark[:16])
			row.Answer = fmt.Sprintf("[%x] %s", mark[16:], row.Answer)
			if err := enc.Encode(row); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// run runs a command to its end.
func (s *speed) run(argv ...string) cost {
	s.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peakOf(cmd.ProcessState)}
}

// compare runs a job of ours and the yardstick in turn and holds the median ratio of their CPU, and every peak, to a limit.
func (s *speed) compare(name string, limit float64, peak int64, ours, yardstick func() cost) {
	s.t.Helper()
	var ratios []float64
	var most int64
	for range 5 {
		a, b := ours(), yardstick()
		ratios = append(ratios, a.cpu.Seconds()/b.cpu.Seconds())
		most = max(most, a.peak)
	}
	slices.Sort(ratios)
	ratio := ratios[len(ratios)/2]
	s.t.Logf("%s: %.2f of the yardstick's CPU (%.2f to %.2f; at most %.1f), %d MiB (at most %d)", name, ratio, ratios[0], ratios[len(ratios)-1], limit, most>>20, peak>>20)
	if ratio > limit {
		s.t.Errorf("%s takes %.2f times the yardstick's CPU, more than %.1f", name, ratio, limit)
	}
	if most > peak {
		s.t.Errorf("%s takes %d MiB, more than %d", name, most>>20, peak>>20)
	}
}

// preprocess holds the recipe to the least that it must do: parse the lines and compress the text.
func (s *speed) preprocess(raw string) {
	s.t.Helper()
	text, err := os.ReadFile(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		s.t.Fatal(err)
	}
	var packed []byte
	s.compare("preprocess gsm8k", 6, 256<<20, func() cost {
		out := filepath.Join(s.dir, "gsm8k")
		defer s.remove(out)
		return s.run(s.exe, "preprocess", "gsm8k", "--source", raw, "--split", "train", "-o", out)
	}, func() cost {
		before := ownCPU(s.t)
		for line := range bytes.Lines(text) {
			var row rawLine
			if err := json.Unmarshal(line, &row); err != nil {
				s.t.Fatal(err)
			}
		}
		packed = enc.EncodeAll(text, packed[:0])
		return cost{cpu: ownCPU(s.t) - before}
	})
}

// edits holds what decodes nothing to cp.
func (s *speed) edits(raw string) {
	base := filepath.Join(s.dir, "base")
	s.run(s.exe, "preprocess", "gsm8k", "--source", raw, "--split", "train", "-o", base)
	one := filepath.Join(base, "train.parquet")
	argv := []string{s.exe, "reshard", "--shards", "1", "-o", filepath.Join(s.dir, "large")}
	for k := range 20 {
		name := filepath.Join(s.dir, fmt.Sprintf("train-%05d-of-00020.parquet", k))
		if err := os.Link(one, name); err != nil {
			s.t.Fatal(err)
		}
		argv = append(argv, name)
	}
	s.run(argv...)
	if err := os.RemoveAll(base); err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.dir, "large", "train-00000-of-00001.parquet")
	peak := int64(64<<20) + 6*footerSize(s.t, file)
	for _, e := range []struct {
		limit float64
		argv  []string
	}{
		{4, []string{"add", "agent_name=tool_agent"}},
		{6, []string{"add", "extra_info.row=@row"}},
		{4, []string{"drop", "ability"}},
		{4, []string{"rename", "ability=subject"}},
		{5, []string{"reshard", "--shards", "4"}},
	} {
		s.compare(strings.Join(e.argv, " "), e.limit, peak, func() cost {
			out := filepath.Join(s.dir, "edited")
			defer s.remove(out)
			return s.run(slices.Concat([]string{s.exe}, e.argv, []string{file, "-o", out})...)
		}, func() cost {
			out := filepath.Join(s.dir, "copy.parquet")
			defer s.remove(out)
			return s.run("cp", "--reflink=never", file, out)
		})
	}
}

func (s *speed) remove(path string) {
	if err := os.RemoveAll(path); err != nil {
		s.t.Error(err)
	}
}

// footerSize is the length of a Parquet file's footer.
func footerSize(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var end [8]byte
	if _, err := f.Seek(-8, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, end[:]); err != nil {
		t.Fatal(err)
	}
	return int64(binary.LittleEndian.Uint32(end[:]))
}

// peakOf is the largest resident set of a process that has ended, in bytes.
func peakOf(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// ownCPU is the CPU time of this process so far.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
