package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// folder writes files below a new folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompose(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"conf/train.yaml":       "hydra:\n  searchpath:\n    - file://more\ndefaults:\n  - trainer\n  - base\n  - engine: fast\n  - tool@rollout.tools: calc\n  - optional nothing: here\n  - _self_\ndata:\n  batch: 8\n  path: ${oc.env:ROOT,/none}/x\n  half: ${.batch}\n  same: ${oc.select:data.batch,1}\n  gone: ${oc.select:data.none,7}\n",
		"conf/base.yaml":        "data:\n  batch: 1\n  files: [a, b]\n  on: yes\n  lr: 1e-6\n  text: \"1\"\nkeep: {a: 1, b: 2}\n",
		"more/engine/fast.yaml": "kind: fast\nlevel: 3\n",
		"conf/tool/calc.yaml":   "# @package nothing of ours\nname: calc\n",
	})
	c := NewCommand([]string{"python3", "-m", "main", "--config-path=" + dir + "/conf", "--config-name", "train", "data.batch=4", "+data.new={x: 1}", "~keep.b", "data.files=['c']", "++keep.a=null"}, dir)
	c.Env = []string{"ROOT=/data"}
	cfg := Compose(&c, Options{Configs: &rule.Configs{Files: map[string]string{"own/trainer": "data: {batch: 1024, name: \"${data.text}\"}\nrollout: {n: 1}\n"}, Base: "own/trainer"}, Version: "x 1"})
	want := map[string]string{
		"data.batch": "4", "data.path": `/data/x`, "data.half": "4", "data.same": "4", "data.gone": "7", "data.files": "[c]", "data.on": "true", "data.lr": "1e-06",
		"data.text": "1", "data.name": "1", "data.new.x": "1", "keep.a": "<nil>", "keep.b": "-", "engine.kind": "fast", "engine.level": "3",
		"rollout.tools.name": "calc", "rollout.n": "1",
	}
	for key, w := range want {
		got := "-"
		if n := cfg.Get(key); n != nil {
			got = fmt.Sprint(n.Any())
		}
		if got != w {
			t.Errorf("%s = %s, want %s", key, got, w)
		}
	}
	if len(cfg.Problems) != 0 || len(cfg.Notes) != 0 {
		t.Errorf("problems %v, notes %v", cfg.Problems, cfg.Notes)
	}
	if s := cfg.Get("data.path").Source; s.Kind != FromYAML || !strings.HasSuffix(s.File, "train.yaml") || s.Line != 13 {
		t.Errorf("data.path comes from %v", s)
	}
	if cfg.Set("rollout.n") || !cfg.Set("data.batch") || !cfg.Set("data.new") {
		t.Error("what is set is not known")
	}
}

// TestAnswers asks a configuration each question of rule.Launch.
func TestAnswers(t *testing.T) {
	dir := folderOf(t, map[string]string{"tools.yaml": "tools:\n  - name: calc\n    n: 1\n", "secret": "a: 1"})
	c := NewCommand([]string{"python3", "-m", "main", "tool=tools.yaml", "+more=secret", "list=[1,a,{b: 2.5}]", "files=[tools.yaml,none.parquet,s3://b/none]"}, dir)
	c.Env = []string{"KEY=v"}
	cfg := Compose(&c, Options{Configs: &rule.Configs{Files: map[string]string{"own/base": "n: 1\nfile: none.yaml\n"}, Base: "own/base"}})
	text := func(v schema.Value) string {
		if v.IsMissing() {
			return ""
		}
		return string(v.AppendJSON(nil))
	}
	for key, want := range map[string]string{"tool": `"tools.yaml"`, "list": `[1,"a",{"b":2.5}]`, "n": "", "none": ""} {
		if v, _ := cfg.Value(key); text(v) != want {
			t.Errorf("Value(%q) = %s, want %s", key, text(v), want)
		}
	}
	for key, want := range map[string]string{"tool": `{"tools":[{"name":"calc","n":1}]}`, "more": "", "none": ""} {
		if got := text(cfg.Document(key)); got != want {
			t.Errorf("Document(%q) = %s, want %s", key, got, want)
		}
	}
	for key, want := range map[string]string{"more": "+", "tool": "=", "n": ""} {
		if got := cfg.Operator(key); got != want {
			t.Errorf("Operator(%q) = %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string]string{"files": "[none.parquet]", "tool": "[]", "file": "[]", "none": "[]"} {
		if got := fmt.Sprint(cfg.MissingFiles(key)); got != want {
			t.Errorf("MissingFiles(%q) = %s, want %s", key, got, want)
		}
	}
	if got := cfg.Files("files"); len(got) != 1 || got[0] != filepath.Join(dir, "tools.yaml") {
		t.Errorf("Files(files) = %q", got)
	}
	v, set := cfg.Variable("KEY")
	if _, none := cfg.Variable("NONE"); v != "v" || !set || none {
		t.Errorf("Variable(KEY) = %q, %v; Variable(NONE) is set: %v", v, set, none)
	}
	if module, _ := cfg.Module(); module != "main" || len(cfg.Refused()) != 0 {
		t.Errorf("Module() = %q, Refused() = %v", module, cfg.Refused())
	}
}

func TestParseYAML(t *testing.T) {
	n, err := ParseYAML([]byte("a: &x {b: 1_000, c: 0x1F, d: 010, e: .5, f: 1., g: ~, h: 'no', i: off, j: 2024-01-01, k: -.inf}\nl: *x\nm:\n  <<: *x\n  b: 2\nn: |\n  text\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(hydra.JSONValue(n.Any()))
	if want := "map[a:map[b:1000 c:31 d:8 e:0.5 f:1.0 g:<nil> h:no i:false j:2024-01-01 k:-inf] l:map[b:1000 c:31 d:8 e:0.5 f:1.0 g:<nil> h:no i:false j:2024-01-01 k:-inf] m:map[b:2 c:31 d:8 e:0.5 f:1.0 g:<nil> h:no i:false j:2024-01-01 k:-inf] n:text\n]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, bad := range []string{"a: [1", "a: *none", "\t- x: {"} {
		if _, err := ParseYAML([]byte(bad), "f.yaml"); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	if _, err := ParseYAML([]byte(bomb), "f.yaml"); err == nil || !strings.Contains(err.Error(), "more than 100000 values") {
		t.Errorf("aliases of aliases: %v", err)
	}
	if _, err := ParseYAML([]byte(strings.Repeat("{a: ", 10000)+"1"+strings.Repeat("}", 10000)), "f.yaml"); err == nil || !strings.Contains(err.Error(), "f.yaml:1:261: values are nested more than 64 deep") {
		t.Errorf("nesting: %v", err)
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{"a: 1", "a: {b: [1, x]}\nc: &d\n  - e\nf: *d", "- 1\n- 'x'", "a: |\n  b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2000 {
			return
		}
		if n, err := ParseYAML(b, "f.yaml"); err == nil {
			_ = toValue(n)
		}
	})
}
