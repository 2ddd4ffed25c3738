package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// built are the tools that this run of the tests has built, by their tags.
var built struct {
	sync.Mutex
	dir   string
	tools map[string]string
}

// buildTool builds the tool with tags and returns its path. RLPREP_TEST_BINARY names one that is built already.
func buildTool(t *testing.T, tags string) string {
	t.Helper()
	if bin := os.Getenv("RLPREP_TEST_BINARY"); bin != "" {
		return bin
	}
	built.Lock()
	defer built.Unlock()
	if bin := built.tools[tags]; bin != "" {
		return bin
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "rlprep-test-*")
		if err != nil {
			t.Fatal(err)
		}
		built.dir, built.tools = dir, map[string]string{}
	}
	bin := filepath.Join(built.dir, "rlprep-"+tags)
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", bin, "-tags", tags, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the tool: %v\n%s", err, out)
	}
	built.tools[tags] = bin
	return bin
}

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
