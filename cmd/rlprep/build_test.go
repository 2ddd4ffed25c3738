package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// tool returns the path of the tool as a process of its own: the binary of these tests under the name of the tool, with its kill points
// enabled (TestMain). RLPREP_TEST_BINARY names another.
func tool(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("RLPREP_TEST_BINARY"); bin != "" {
		return bin
	}
	bin, err := exec.LookPath("rlprep")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// released is the folder of the tool that buildReleased has built, "" before that.
var released string

var buildReleased = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rlprep-test-*")
	if err != nil {
		return "", err
	}
	released = dir
	bin := filepath.Join(dir, "rlprep.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tool: %w\n%s", err, out)
	}
	return bin, nil
})

// releasedTool returns the path of the tool built as it is released, static and without kill points, for tests whose outcome depends on what the
// dynamic linker or the C library do.
func releasedTool(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("RLPREP_TEST_BINARY"); bin != "" {
		return bin
	}
	bin, err := buildReleased()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// long reports whether tests that repeat the same work with other inputs run all of them; without RLPREP_LONG they take some. CI sets it.
func long() bool { return os.Getenv("RLPREP_LONG") != "" }

// toolEnv is the environment of a tool that is run to be looked at.
func toolEnv(more ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "RLPREP_KILL=") {
			env = append(env, e)
		}
	}
	return append(append(env, "NO_COLOR=1"), more...)
}
