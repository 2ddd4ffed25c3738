package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// lintStep returns the script of the step "lint" of action.yml.
func lintStep(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for _, s := range action.Runs.Steps {
		if s.ID == "lint" {
			return s.Run
		}
	}
	t.Fatal("action.yml has no step lint")
	return ""
}

// TestAction runs the script of action.yml as GitHub's runner does: annotations, a summary, a SARIF file that the next step
// finds, and the status of the findings.
func TestAction(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the runner's bash is not looked for on Windows")
	}
	const good = `{"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"What is 6 times 12?"}],"ability":"math","reward_model":{"style":"rule","ground_truth":"72"},"extra_info":{"split":"train","index":0}}` + "\n"
	bad := strings.Replace(good, `"role":"user"`, `"role":"human"`, 1)
	script := lintStep(t)
	for _, c := range []struct {
		name, rows, args string
		files            string
		status           int
		annotation       string
		sarif            bool
	}{
		{"clean", good, "", "data/*.jsonl", 0, "", true},
		{"project", bad, "", "", 1, "::error file=data/train.jsonl,line=1,title=RL104 role-unknown::", true},
		{"fault", bad, "--target verl@0.9", "data/*.jsonl", 1, "::error file=data/train.jsonl,line=1,title=RL104 role-unknown::", true},
		{"usage", good, "--no-such-flag", "data/*.jsonl", 2, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			work, temp := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(work, "data"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(work, "data", "train.jsonl"), []byte(c.rows))
			write(t, filepath.Join(work, "rlprep.yaml"), []byte("datasets: {data: {train: data/train.jsonl}}\n"))
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, filepath.Join(temp, "rlprep")); err != nil { // TestMain runs the tool under this name
				t.Fatal(err)
			}
			output, summary := filepath.Join(temp, "output"), filepath.Join(temp, "summary")
			cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary,
				"GITHUB_WORKSPACE="+work, "FILES="+c.files, "ARGS="+c.args)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("status %d, want %d\n%s%s", got, c.status, stdout.String(), stderr.String())
			}
			if !strings.HasPrefix(stdout.String(), c.annotation) || c.annotation == "" && stdout.Len() > 0 {
				t.Errorf("annotations %q, want %q", stdout.String(), c.annotation)
			}
			told, _ := os.ReadFile(output)
			if got := string(told) == "sarif="+filepath.Join(temp, "rlprep.sarif")+"\n"; got != c.sarif {
				t.Errorf("outputs %q", told)
			}
			if text, _ := os.ReadFile(summary); c.sarif && !strings.HasPrefix(string(text), "### rlprep: ") {
				t.Errorf("summary %q", text)
			}
		})
	}
}
