//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	endsWith   = regexp.MustCompile(`(?m)^(.*\S)\s+# exit (\d)$`)
)

// TestGuide runs every command of docs/guide.md, block after block, in one folder, with the sample on a Hub and as verl's script wrote it. A
// command ends with status 0, or with that which a comment "# exit N" behind it says.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide := string(readFile(t, "../../docs/guide.md"))
	dir := t.TempDir()
	verl := filepath.Join(dir, "verl-out")
	if err := os.Mkdir(verl, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, split := range []string{"train", "test"} {
		rows := readFile(t, "../../datasets/testdata/gsm8k/"+split+".want.jsonl")
		if err := os.WriteFile(filepath.Join(verl, split+".jsonl"), rows, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	if err := os.Symlink(buildTool(t, ""), filepath.Join(bin, "rlprep")); err != nil {
		t.Fatal(err)
	}
	env := toolEnv("PATH="+bin+":"+os.Getenv("PATH"), "HF_ENDPOINT="+sampleHub(t), "HF_HOME="+filepath.Join(t.TempDir(), "hf"), "HF_TOKEN=")
	blocks := shellBlock.FindAllStringSubmatch(guide, -1)
	if len(blocks) < 8 {
		t.Fatalf("only %d blocks", len(blocks))
	}
	for _, b := range blocks {
		script := endsWith.ReplaceAllString(b[1], "rc=0; $1 || rc=$$?; test $$rc = $2")
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, script, out)
		}
	}
	for _, line := range strings.Split(guide, "\n") {
		if strings.HasPrefix(line, "rlprep ") && !strings.Contains(fmt.Sprint(blocks), line) {
			t.Errorf("a command stands in no block that is run: %s", line)
		}
	}
}
