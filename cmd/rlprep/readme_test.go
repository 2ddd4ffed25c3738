package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the outputs in README.md and in testdata/script anew")

const (
	readmeFile   = "../../README.md"
	readmeScript = "../../testdata/script/readme.txtar"
)

// A shown is a command in a console block of README.md and what the README says it prints.
type shown struct {
	line   int // of the command, from 0
	end    int // of the line after its output
	text   string
	output string
}

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")

// console returns the commands of the console blocks: lines that begin with "$ ", each with the lines up to the next.
func console(readme string) (all []shown) {
	for _, at := range consoleBlock.FindAllStringSubmatchIndex(readme, -1) {
		first := strings.Count(readme[:at[2]], "\n")
		for i, line := range strings.Split(strings.TrimSuffix(readme[at[2]:at[3]], "\n"), "\n") {
			if text, ok := strings.CutPrefix(line, "$ "); ok {
				all = append(all, shown{line: first + i, end: first + i + 1, text: text})
				continue
			}
			if len(all) > 0 {
				last := &all[len(all)-1]
				last.output += line + "\n"
				last.end = first + i + 1
			}
		}
	}
	return all
}

// script is the testscript that runs the commands. "cat FILE" is how the README shows a file; the script is given it. A
// command that fails is followed by "echo $?" and its status, as a shell shows it.
func script(commands []shown) []byte {
	var a txtar.Archive
	var b strings.Builder
	b.WriteString("# The commands of README.md and what it says they print. Written by 'make docs'; do not edit.\n")
	for i, c := range commands {
		name, arg, _ := strings.Cut(c.text, " ")
		switch {
		case name == "cat":
			a.Files = append(a.Files, txtar.File{Name: arg, Data: []byte(c.output)})
			continue
		case c.text == "echo $?":
			continue
		}
		status := "0"
		if i+1 < len(commands) && commands[i+1].text == "echo $?" {
			status = strings.TrimSpace(commands[i+1].output)
		}
		out := fmt.Sprintf("readme/%d", i)
		fmt.Fprintf(&b, "exits %s %s\nlike %s\n", status, c.text, out)
		a.Files = append(a.Files, txtar.File{Name: out, Data: []byte(c.output)})
	}
	a.Comment = []byte(b.String())
	return txtar.Format(&a)
}

// TestReadme holds README.md to what the tool prints: its commands and outputs are just those of testdata/script/readme.txtar,
// which TestScript runs. With -update they are run and both are written.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	if *update {
		readme = rerun(t, readme)
		write(t, readmeFile, []byte(readme))
		write(t, readmeScript, script(console(readme)))
	}
	commands := console(readme)
	if len(commands) < 3 {
		t.Fatalf("README.md shows %d commands", len(commands))
	}
	want, err := os.ReadFile(readmeScript)
	if err != nil {
		t.Fatal(err)
	}
	if got := script(commands); !bytes.Equal(got, want) {
		t.Errorf("testdata/script/readme.txtar is not what README.md shows: run 'make docs'")
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// rerun returns readme with what its commands print now.
func rerun(t *testing.T, readme string) string {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "rlprep"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands := console(readme)
	status := 0
	for i := range commands {
		c := &commands[i]
		switch name, arg, _ := strings.Cut(c.text, " "); {
		case c.text == "echo $?":
			c.output = fmt.Sprintln(status)
			continue
		case name == "cat":
			file := filepath.Join(dir, arg)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, file, []byte(c.output))
			continue
		}
		var now string
		if now, status = shell(t, dir, c.text); steady(now) != steady(c.output) {
			c.output = now
		}
		if next := i + 1; status != 0 && (next == len(commands) || commands[next].text != "echo $?") {
			t.Errorf("README.md: %q ends with status %d: show it with 'echo $?'", c.text, status)
		}
	}
	return splice(readme, commands)
}

// shell runs command in dir and returns its stdout followed by its stderr, and its status.
func shell(t *testing.T, dir, command string) (string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String() + errs.String(), cmd.ProcessState.ExitCode()
}

// splice returns readme with the outputs of commands in place of its own.
func splice(readme string, commands []shown) string {
	lines := strings.Split(readme, "\n")
	for i := len(commands) - 1; i >= 0; i-- {
		c := commands[i]
		var out []string
		if c.output != "" {
			out = strings.Split(strings.TrimSuffix(c.output, "\n"), "\n")
		}
		lines = append(lines[:c.line+1:c.line+1], append(out, lines[c.end:]...)...)
	}
	return strings.Join(lines, "\n")
}

// The reader of the README's commands is right about blocks, outputs and statuses.
func TestConsole(t *testing.T) {
	readme := "text\n```console\n$ cat a.jsonl\n{}\n$ rlprep lint a.jsonl\nfound\n$ echo $?\n1\n```\n```sh\n$ no\n```\n```console\n$ rlprep version\n```\n"
	commands := console(readme)
	if len(commands) != 4 || commands[1].text != "rlprep lint a.jsonl" || commands[1].output != "found\n" {
		t.Fatalf("%+v", commands)
	}
	want := "exits 1 rlprep lint a.jsonl\nlike readme/1\nexits 0 rlprep version\nlike readme/3\n-- a.jsonl --\n{}\n-- readme/1 --\nfound\n-- readme/3 --\n"
	if _, got, _ := strings.Cut(string(script(commands)), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := splice(readme, commands); got != readme {
		t.Errorf("spliced with its own outputs:\n%s", got)
	}
	commands[1].output = "a\nb\n"
	if got := splice(readme, commands); got != strings.Replace(readme, "found\n", "a\nb\n", 1) {
		t.Errorf("spliced:\n%s", got)
	}
}
