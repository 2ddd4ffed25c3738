package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlprep/rlprep/internal/launch/hydra"
)

// sharedScripts returns verl's scripts in the shared folder; the test is skipped where that is not there.
func sharedScripts(t *testing.T) (root string, scripts []string) {
	t.Helper()
	shared := os.Getenv("RLPREP_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	root, err := filepath.Abs(filepath.Join(shared, "data/launch/verl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("SKIPPED: verl's launch scripts are not there (%s): set RLPREP_SHARED", root)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".sh") {
			scripts = append(scripts, path)
		}
		return err
	})
	if err != nil || len(scripts) < 60 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	return root, scripts
}

const home = "/home/someone"

func scriptAt(t *testing.T, path, cwd string, args ...string) *Script {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Script{Name: path, Text: text, Dir: filepath.Dir(path), Cwd: cwd, Env: []string{"HOME=" + home, "USER=someone", "PWD=" + cwd}, Args: args}
}

// bashCalls runs a script in real bash, with nothing in its PATH but a recorder under the names of the programs and the few
// programs that scripts take names from, and returns the argv of each recorded call.
func bashCalls(t *testing.T, bin, path, cwd string, args ...string) [][]string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "bash"), append([]string{path}, args...)...)
	cmd.Dir = cwd
	cmd.Env = []string{"HOME=" + home, "USER=someone", "PWD=" + cwd, "PATH=" + bin, "RECORD=" + log}
	_ = cmd.Run() // its status says nothing: half of what it calls is not there
	text, err := os.ReadFile(log)
	if err != nil {
		return nil
	}
	var out [][]string
	for _, call := range strings.Split(strings.TrimSuffix(string(text), "\x01"), "\x01") {
		out = append(out, strings.Split(strings.TrimSuffix(call, "\x00"), "\x00"))
	}
	return out
}

// isolated makes the folder that is PATH in bashCalls.
func isolated(t *testing.T) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: no bash here")
	}
	bin := t.TempDir()
	recorder := "#!" + bash + "\nprintf '%s\\0' \"${0##*/}\" \"$@\" >>\"$RECORD\"\nprintf '\\1' >>\"$RECORD\"\n"
	for _, p := range programs {
		if err := os.WriteFile(filepath.Join(bin, p), []byte(recorder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	idle := "#!" + bash + "\nexit 0\n"
	for _, p := range []string{"rm", "mkdir", "hf", "huggingface-cli", "pip", "pip3", "conda", "nvidia-smi", "sleep", "curl", "wget", "tee", "scontrol", "ssh", "docker"} {
		if err := os.WriteFile(filepath.Join(bin, p), []byte(idle), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"bash", "sh", "dirname", "basename", "date", "nproc", "hostname", "env", "nohup", "seq", "tr", "cat", "realpath", "whoami", "uname"} {
		real, err := exec.LookPath(p)
		if err != nil {
			continue
		}
		if err := os.Symlink(real, filepath.Join(bin, p)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

func TestScriptsAsBash(t *testing.T) {
	root, scripts := sharedScripts(t)
	bin := isolated(t)
	equal := 0
	for _, path := range scripts {
		want := bashCalls(t, bin, path, root)
		res, err := Interpret(context.Background(), scriptAt(t, path, root))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		var got [][]string
		for _, c := range res.Commands {
			if c.Carrier == "" {
				got = append(got, c.Argv)
			}
		}
		if diff := firstDifference(got, want); diff != "" {
			t.Logf("%s: %s", path, diff)
			continue
		}
		equal++
	}
	if equal < len(scripts)-2 {
		t.Errorf("%d of %d scripts call what they call in bash", equal, len(scripts))
	}
	t.Logf("%d of %d scripts call what they call in bash", equal, len(scripts))
}

// sameTime: names of runs hold the minute, which may change between the two runs.
func sameTime(a, b string) bool {
	return len(a) == len(b) && strings.Map(noDigit, a) == strings.Map(noDigit, b) && strings.Contains(a, "experiment_name")
}

func noDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return '0'
	}
	return r
}

func firstDifference(got, want [][]string) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d calls, bash %d", len(got), len(want))
	}
	for i := range got {
		if !slices.EqualFunc(got[i], want[i], func(a, b string) bool { return a == b || sameTime(a, b) }) {
			for j := range min(len(got[i]), len(want[i])) {
				if got[i][j] != want[i][j] {
					return fmt.Sprintf("call %d: %q, bash %q", i, got[i][j], want[i][j])
				}
			}
			return fmt.Sprintf("call %d: %d arguments, bash %d", i, len(got[i]), len(want[i]))
		}
	}
	return ""
}

// TestScriptsQuick: no script of verl comes near a limit.
func TestScriptsQuick(t *testing.T) {
	root, scripts := sharedScripts(t)
	most := 0
	for _, path := range scripts {
		s := scriptAt(t, path, root)
		f, err := parseScript(s.Name, s.Text)
		if err != nil {
			t.Fatal(err)
		}
		sh := newShell(s, f)
		if err := sh.run(context.Background(), maxTime, nil); err != nil {
			t.Error(err)
		}
		most = max(most, sh.calls)
	}
	t.Logf("at most %d calls in %d scripts", most, len(scripts))
	if most > maxCalls/5 {
		t.Errorf("a script calls %d commands", most)
	}
}

func interpretText(t *testing.T, dir, text string, args ...string) (*Result, error) {
	t.Helper()
	return Interpret(context.Background(), &Script{Name: "run.sh", Text: []byte(text), Dir: dir, Cwd: dir,
		Env: []string{"HOME=" + home, "USER=someone"}, Args: args})
}

// TestHostile runs scripts that would harm: each ends within two seconds, starts and writes nothing, and says why.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("python3 secret=1"), 0o644); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside.sh")
	if err := os.WriteFile(outside, []byte("python3 outside=1\nSECRET=1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, script, limit string }{
		{"fork bomb", `:(){ :|:& };:`, "stopped"},
		{"endless loop", `while :; do :; done`, "endless loop"},
		{"endless loop without commands", `for ((;;)); do x=1; done`, "within"},
		{"endless until", `until false; do y=2; done`, ""},
		{"recursion", `f() { f; }; f`, "stopped"},
		{"recursion in substitutions", `f() { x=$(f); }; f`, "stopped"},
		{"recursion by eval", `a='eval "$a"'; eval "$a"`, "stopped"},
		{"recursion by itself", `bash run.sh`, ""},
		{"doubling variable", `a=xxxxxxxxxxxxxxxx; for i in {1..60}; do a=$a$a; done`, "stopped"},
		{"doubling by lines", strings.Repeat("a=$a$a$a$a$a$a$a$a;\n", 40), ""},
		{"doubling by lines with a start", "a=xxxxxxxx\n" + strings.Repeat("a=$a$a$a$a$a$a$a$a;\n", 40), "stopped"},
		{"braces", `echo {1..1000000000}`, ""},
		{"braces in braces", `echo {1..1000}{1..1000}{1..1000}`, ""},
		{"printf", `x=$(printf '%1000000000d' 1)`, ""},
		{"here document", "cat <<EOF\n" + strings.Repeat("x", maxScript) + "\nEOF\n", "more than a launch script has"},
		{"rm", `rm -rf "` + dir + `"; rm -rf ~ /`, ""},
		{"write", `echo x > "` + victim + `"; : > ` + dir + `/new; exec > ` + dir + `/log; echo y`, ""},
		{"append and read-write", `echo x >> "` + victim + `"; echo x 1<> "` + victim + `"; mkdir -p ` + dir + `/d; set -o noclobber; echo z > ` + dir + `/n2`, ""},
		{"pipes by name", `cat <(echo 1); eval 'cat <(echo 1) >(cat)'; trap 'cat <(echo 2)' EXIT`, ""},
		{"read", `x=$(</etc/passwd); read y </etc/passwd; mapfile z </etc/passwd; python3 a="$x$y${z[0]}"`, ""},
		{"source outside", `source /etc/passwd; . ` + outside + `; . ./link.sh; . ../outside.sh; bash ` + outside + `; python3 a="$SECRET"`, ""},
		{"device", `source /dev/zero; read x </dev/zero; cat </dev/urandom`, ""},
		{"globs", `shopt -s globstar; echo /**`, ""},
		{"sleep", `sleep 100; read x; wait; exec sleep 100`, ""},
		{"kill", `kill -9 $$ $PPID; exit 3`, ""},
		{"zero bytes", "python3\x00", "zero bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := listing(t, dir)
			start := time.Now()
			res, err := interpretText(t, dir, c.script)
			if took := time.Since(start); took > time.Minute { // two seconds on a machine that does nothing else; the shortest script that waits would take 100
				t.Errorf("took %v", took)
			}
			if c.limit != "" && (err == nil || !strings.Contains(err.Error(), c.limit)) {
				t.Errorf("error %v, want one that says %q", err, c.limit)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("files changed:\n%s\nwere:\n%s", after, before)
			}
			if res == nil {
				return
			}
			for _, cmd := range res.Commands {
				if cmd.Argv[len(cmd.Argv)-1] != "a=" {
					t.Errorf("called %q", cmd.Argv)
				}
			}
		})
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	for _, d := range []string{dir, os.TempDir()} {
		entries, err := os.ReadDir(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || d != dir && info.Mode()&fs.ModeNamedPipe == 0 {
				continue
			}
			fmt.Fprintln(&b, e.Name(), info.Size(), info.Mode(), info.ModTime())
		}
	}
	return b.String()
}

func TestInterpret(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"env.sh":     "MODEL=qwen\n",
		"sub/run.sh": "python3 -m inner n=$1 gpu=$GPUS\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, script, want string }{
		{"plain", "python3 -m main a=1 \\\n  b=$HOME/x", `1 "" [python3 -m main a=1 b=/home/someone/x]`},
		{"source", "set -e\n[ -f none.sh ] && source none.sh\n[ -f env.sh ] && source env.sh\npython m=$MODEL", `4 "" [python m=qwen]`},
		{"array", "A=(\n x=1\n y='two words'\n)\ntorchrun \"${A[@]}\" -m m", `5 "" [torchrun x=1 y=two words -m m]`},
		{"wrapped", "env X=1 nohup timeout -k 5 10 python3 a.py a=1 &\nwait", `1 "" [python3 a.py a=1]`},
		{"ray", "ray job submit --address x -- python3 -m main a=1", `1 "" [ray job submit --address x -- python3 -m main a=1]; 1 "ray" [python3 -m main a=1]`},
		{"srun", "srun -N 2 bash -c 'python3 -m main a=1'", `1 "" [srun -N 2 bash -c python3 -m main a=1]; 1 "srun" [python3 -m main a=1]`},
		{"docker", "docker exec -it c bash -c \"cd /w && python3 -m main a='b c'\"", `1 "docker" [python3 -m main a=b c]`},
		{"bash -c", "bash -xc 'python3 -m main a=$0' one", `1 "" [python3 -m main a=one]`},
		{"another script", "export GPUS=2\nbash sub/run.sh 4\n./sub/run.sh 5", `1 "" [python3 -m inner n=4 gpu=2]; 1 "" [python3 -m inner n=5 gpu=2]`},
		{"functions and local", "run() { local n=$1; python3 x n=$n \"${@:2}\"; }\nrun 3 a=1 b=2", `1 "" [python3 x n=3 a=1 b=2]`},
		{"process substitution", "while read -r l; do python3 l=$l; done < <(printf 'a\\nb\\n')", `1 "" [python3 l=a]; 1 "" [python3 l=b]`},
		{"ulimit under -e", "set -euo pipefail\nulimit -n 65535\npython3 a=1", `3 "" [python3 a=1]`},
		{"background in order", "python3 serve &\npid=$!\nwhile true; do echo up; sleep 60; done &\nwhile ! curl x; do sleep 1; done\npython3 train p=${pid:+1}", `1 "" [python3 serve]; 5 "" [python3 train p=1]`},
		{"pipe in order", "set -o pipefail\npython3 left | python3 right\npython3 s=$?", `2 "" [python3 left]; 2 "" [python3 right]; 3 "" [python3 s=0]`},
		{"printf into a variable", "printf -v x '%03d-%s' 7 \"it's\"\npython3 x=\"$x\"", `2 "" [python3 x=007-it's]`},
		{"case", "x=Qwen/Qwen2.5; python3 a=${x##*/} b=${x,,} c=$(basename $x) d=$(dirname /a/b/) e=$((1024*3)) f=$(seq -s, 2 | tr '\\n' ',')", `1 "" [python3 a=Qwen2.5 b=qwen/qwen2.5 c=Qwen2.5 d=/a e=3072 f=]`},
		{"absolute program", "/opt/venv/bin/python3.11 -m main a=1", `1 "" [/opt/venv/bin/python3.11 -m main a=1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := interpretText(t, dir, c.script)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cmd := range res.Commands {
				got = append(got, fmt.Sprintf("%d %q %v", cmd.Line, cmd.Carrier, cmd.Argv))
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// TestAssumed: scripts that ask for arguments are interpreted again with placeholders.
func TestAssumed(t *testing.T) {
	script := "set -eu\nif [ \"$#\" -lt 2 ]; then echo usage; exit 1; fi\nn=$1\nout=$2\nshift 2\n: \"${MODEL:?set it}\"\ntorchrun --nproc=$n -m sft a=$out m=$MODEL b=1 \"$@\""
	res, err := interpretText(t, t.TempDir(), script)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Commands) != 0 || len(res.Assumed) != 1 || res.Missing == "" {
		t.Fatalf("commands %v, assumed %v, missing %q", res.Commands, res.Assumed, res.Missing)
	}
	c := res.Assumed[0]
	if got := fmt.Sprint(c.Argv); got != "[torchrun --nproc=ARG1 -m sft a=ARG2 m=MODEL b=1]" {
		t.Errorf("argv %s", got)
	}
	marks := ""
	for _, o := range c.Overrides {
		marks += fmt.Sprint(o.Key, o.Source.Assumed, " ")
	}
	if marks != "atrue mtrue bfalse " {
		t.Errorf("marks %q", marks)
	}
	res, err = interpretText(t, t.TempDir(), strings.ReplaceAll(script, ": \"${MODEL:?set it}\"", "MODEL=q"), "4", "dir", "c=1")
	if err != nil || len(res.Commands) != 1 || fmt.Sprint(res.Commands[0].Argv) != "[torchrun --nproc=4 -m sft a=dir m=q b=1 c=1]" {
		t.Errorf("with arguments: %v, %v", res, err)
	}
}

// TestProvenance: an override knows its line and the variables it is made of, also in an array.
func TestProvenance(t *testing.T) {
	res, err := interpretText(t, t.TempDir(), "DATA=$HOME/data\nARGS=(\n  a.b=1\n  data.train_files=\"$DATA/train.parquet\"\n)\npython3 -m main \\\n  \"${ARGS[@]}\" \\\n  c=$HOME \\\n  a.b=2")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range res.Commands[0].Overrides {
		got = append(got, o.Key+" "+o.Source.String())
	}
	if s, want := strings.Join(got, "; "), "a.b run.sh:9; data.train_files run.sh:4 (from $DATA); c run.sh:8 (from $HOME); a.b run.sh:9"; s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestOverrideJSON(t *testing.T) {
	o, err := hydra.Parse("++a/b@c.d={x: [1, 'y', 2.50, null, TRUE], 3: ${q}}")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(Override{Override: o})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"op":"++","key":"a/b","package":"c.d","value":{"3":"${q}","x":[1,"y",2.5,null,true]}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
