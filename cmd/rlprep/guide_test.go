//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	anyBlock   = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	endsWith   = regexp.MustCompile(`(?m)^(.*\S)\s+# exit (\d)$`)
)

// TestGuide runs every command of docs/guide.md and docs/cookbook.md, block after block, each page in a folder of its own, with the sample on a Hub
// and as verl's script wrote it. A command ends with status 0, or with that which a comment "# exit N" behind it says.
func TestGuide(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.Symlink(tool(t), filepath.Join(bin, "rlprep")); err != nil {
		t.Fatal(err)
	}
	env := toolEnv("PATH="+bin+":"+os.Getenv("PATH"), "HF_ENDPOINT="+sampleHub(t), "HF_HOME="+filepath.Join(t.TempDir(), "hf"), "HF_TOKEN=")
	for page, least := range map[string]int{"guide": 8, "cookbook": 12} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text := string(readFile(t, "../../docs/"+page+".md"))
			blocks := shellBlock.FindAllStringSubmatch(text, -1)
			if len(blocks) < least {
				t.Fatalf("only %d blocks", len(blocks))
			}
			runBlocks(t, blocks, env)
			for _, b := range anyBlock.FindAllStringSubmatch(text, -1) {
				if b[1] != "sh" && strings.Contains("\n"+b[2], "\nrlprep ") {
					t.Errorf("a block with commands is not marked sh, so it is not run:\n%s", b[2])
				}
			}
		})
	}
}

// runBlocks runs shell blocks one after another in a new folder, which holds the rows that verl's script wrote as verl-out.
func runBlocks(t *testing.T, blocks [][]string, env []string) {
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
	for _, b := range blocks {
		script := endsWith.ReplaceAllString(b[1], "rc=0; $1 || rc=$$?; test $$rc = $2")
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, script, out)
		}
	}
}
