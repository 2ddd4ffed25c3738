//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFewDescriptors runs every command that takes many files where the process may have fewer descriptors than there are files.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	bin := tool(t)
	p := newPlace(t, bin, 1)
	data := readFile(t, p.files(t)[0])
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "many"), 0o777); err != nil {
		t.Fatal(err)
	}
	const files = 120
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, "many", fmt.Sprintf("train-%05d-of-%05d.parquet", i, files)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"lint many --no-project -q --exit-zero", "lint many --no-project -q --exit-zero", // the second from the cache
		"reshard many --shards 2 -o rs", "diff many rs", "inspect many --rows 1", "add z=1 many -o az", "add y=1 az --in-place", "drop z az --in-place",
		"lint az --no-project -q --fix --agent tool_agent --exit-zero", "run pipe.yaml -o run",
	} {
		if err := os.WriteFile(filepath.Join(dir, "pipe.yaml"), []byte("sources: {train: many}\nsteps:\n  - set: {path: z, value: 1}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", `ulimit -n 96; exec "$0" `+args, bin)
		cmd.Dir, cmd.Env = dir, toolEnv("RLPREP_CACHE="+filepath.Join(dir, "cache"))
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %.500s", args, err, b)
		}
	}
}
