package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnFolder: tests of files and patterns see the script's own folder and nothing else of this machine, whatever is there.
func TestOwnFolder(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "own")
	for _, name := range []string{"own/sub/a.parquet", "own/sub/b.parquet", "own/env.sh", "out/c.parquet", "out/x.sh"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte("X=1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"own/leaves": "../out", "own/file": "../out/c.parquet", "own/stays": "sub"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ script, want string }{
		// Inside.
		{"[ -f env.sh ] && A=yes; python3 a=$A", "a=yes"},
		{"[[ -d sub && -e sub/a.parquet && ! -e sub/none ]] && A=yes; python3 a=$A", "a=yes"},
		{"test -r env.sh && test -s env.sh && A=yes; python3 a=$A", "a=yes"},
		{"python3 a=$(echo sub/*.parquet)", "a=sub/a.parquet sub/b.parquet"},
		{"cd sub; python3 a=$(echo *)", "a=a.parquet b.parquet"},
		{"python3 a=$(echo stays/*) b=$(echo " + dir + "/s*)", "a=stays/a.parquet stays/b.parquet b=" + dir + "/stays " + dir + "/sub"},
		{"cd none || A=no; python3 a=$A", "a=no"},
		{"f() { :; }; command -v f >/dev/null && type f >/dev/null && command -v cd >/dev/null && A=yes; python3 a=$A", "a=yes"},
		{"cd ..; cd own; [ -f env.sh ] && A=yes; python3 a=$A", "a=yes"},
		// Outside: what is there and what is not there look the same.
		{"[ -f %s ] && A=yes; python3 a=$A", "a="},
		{"[ -e %s ] || [ -d %s ] || [ -r %s ] || [ -L %s ] || A=no; python3 a=$A", "a=no"},
		{"[[ -f %s ]] && A=yes; test -s %s && A=yes; python3 a=$A", "a="},
		{"[ %s -nt env.sh ] && A=yes; python3 a=$A", "a="},
		{"python3 a=$(echo %s*)", "a=%s*"},
		{"python3 a=$(ls %s; find %s; cat %s; stat %s)", "a="},
		{"python3 a=$(realpath %s)", "a=%s"},
		{"cd %s && A=went; python3 a=$A", "a=went"},
		{"command -v %s && A=yes; type %s && A=yes; python3 a=$A", "a="},
		{"source %s; python3 a=$X", "a="},
		{"bash %s; python3 a=1", "a=1"},
		{"read a < %s; python3 a=$a", "a="},
	} {
		for _, path := range []string{filepath.Join(top, "out/c.parquet"), filepath.Join(top, "none/x"), filepath.Join(dir, "leaves/c.parquet"), filepath.Join(dir, "leaves/none"),
			"../out", "../none", "/etc/passwd", "/etc", "/none"} {
			count := strings.Count(c.script, "%s")
			if count == 0 && path != "/etc" {
				continue
			}
			shown := path
			if !filepath.IsAbs(path) {
				shown = filepath.Join(dir, path)
			}
			want := c.want
			if strings.Contains(c.script, "realpath") {
				want = strings.Replace(want, "%s", shown, 1)
			}
			if strings.Contains(path, "leaves/") && (strings.Contains(c.script, "cd %s") || strings.Contains(c.script, "-L")) {
				continue // whether a link is there is known, not what is behind it
			}
			want = strings.ReplaceAll(want, "%s", path)
			script := strings.ReplaceAll(c.script, "%s", path)
			res, err := interpretText(t, dir, script)
			if err != nil {
				t.Errorf("%s: %v", script, err)
				continue
			}
			got := strings.Join(res.Commands[len(res.Commands)-1].Argv[1:], " ")
			if got != want {
				t.Errorf("%s\n got %s\nwant %s", script, got, want)
			}
			quiet := count == 0 || strings.Contains(c.script, "cd ") || strings.Contains(c.script, "realpath") || strings.Contains(c.script, "command -v")
			if notes := fmt.Sprint(res.Notes); !quiet && !strings.Contains(notes, "outside the script's own folder") && !strings.Contains(notes, "not called") && !strings.Contains(notes, "not read") {
				t.Errorf("%s: no note: %s", script, notes)
			}
		}
	}
}

// TestSteps: the limits that end a script are counted, so that the same script always ends the same way.
func TestSteps(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"brackets", "X=" + strings.Repeat("${a:-", 50_000) + strings.Repeat("}", 50_000), "run.sh:1: script stopped: brackets are nested more than 500 deep"},
		{"subshells", strings.Repeat("(", 20_000), "nested more than 500 deep"},
		{"words", strings.Repeat("python3 "+strings.Repeat("a=1 ", 100)+"\n", 2_000), "more than 300000 words and operators"},
		{"itself", "bash run.sh", "scripts call one another more than 20 deep"},
		{"calls", "for i in {1..6000}; do :; done", "more than 5000 commands"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte(c.script), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := interpretText(t, dir, c.script); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, wanted %q", c.name, err, c.want)
		}
	}
	for name, script := range map[string]string{
		"many":      strings.Repeat("python3 -m verl.trainer.main_ppo data.train_batch_size=1\n", 4900),
		"loop":      "for i in {1..4000}; do python3 -m verl.trainer.main_ppo data.train_batch_size=$i; done",
		"many args": "A=\"" + strings.Repeat("a=1 ", 2_000) + "\"; for i in {1..100}; do python3 -m main $A; done",
	} {
		res, err := interpretText(t, t.TempDir(), script)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words := 0
		for _, cmd := range res.Commands {
			words += len(cmd.Argv)
		}
		if len(res.Commands) == 0 || len(res.Commands) > maxCommands || words > maxWords || !strings.Contains(fmt.Sprint(res.Notes), fmt.Sprintf("only the first %d commands are shown", len(res.Commands))) {
			t.Errorf("%s: %d commands, %d words, notes %v", name, len(res.Commands), words, res.Notes)
		}
	}
}
