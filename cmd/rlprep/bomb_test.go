//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// bombMemory is the most memory that the tool may have for a file that grows without measure.
const bombMemory = 1200 << 10 // KiB

// Files of a few kilobytes that stand for gigabytes: two row groups with one text of 1 GB each, and twenty pages that say 1 GiB and hold
// three bytes. Commands that decode refuse them by name, in bounded memory; what copies column chunks works. Without
// RLPREP_LONG lint stands for the commands that decode.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: takes 1 GiB of memory")
	}
	hostile := filepath.Join("..", "..", "testdata", "parquet", "hostile")
	bin := tool(t)
	for _, file := range []struct{ name, want string }{
		{"values-of-1-gb.parquet", "row group 0: column data_source: byte 30569: a value of 999999996 bytes; at most 268435456 are read: raise --max-value-bytes"},
		{"page-says-1-gib.parquet", "row group 0: column c0: byte 37: decompress (zstd): 3 bytes come out of it, its header says 1073741824"},
	} {
		name := filepath.Join(hostile, file.name)
		commands := [][]string{{"lint", "-j", "2", name}} // both row groups at once
		if long() {
			commands = append(commands, []string{"inspect", name}, []string{"diff", name, name})
		}
		for _, args := range commands {
			status, output, resident := runBomb(bin, args)
			if status != 3 || !strings.Contains(output, name+": "+file.want) {
				t.Errorf("%s %s: status %d: %.600s", args[0], file.name, status, output)
			}
			if resident > bombMemory {
				t.Errorf("%s %s: %d MiB", args[0], file.name, resident>>10)
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		if status, output, resident := runBomb(bin, []string{"add", "note=x", name, "-o", out}); status != 0 || resident > 100<<10 {
			t.Errorf("add %s: status %d, %d MiB: %s", file.name, status, resident>>10, output)
		}
	}
}

func runBomb(bin string, args []string) (status int, output string, resident int64) {
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "RLPREP_CACHE=off", "GOMAXPROCS=2")
	out, _ := cmd.CombinedOutput()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		if resident = u.Maxrss; runtime.GOOS == "darwin" {
			resident >>= 10
		}
	}
	return cmd.ProcessState.ExitCode(), string(out), resident
}
