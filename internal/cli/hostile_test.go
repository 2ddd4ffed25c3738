package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/schema"
)

// marker is in every hostile text: where it is seen, the text came through.
const marker = "PWN"

// forged follows a line feed in a hostile text: no line may begin with it, since only what rlprep says makes lines.
const forged = "FORGED"

// hostileTexts are put into every field of every command.
var hostileTexts = map[string]string{
	"terminal":  "e\x1b]0;" + marker + "\x07\x1b[31mred\x1b]8;;http://x\x1b\\\u009b31m\u0085\x7f\x00\tz",
	"direction": "\u202e" + marker + "\u2066x\u2069\u061c\u200f\u2028\u2029\u200b\ufeffz",
	"lines":     marker + "\n" + forged + " line\n::error file=a::x\r\n  ::set-env name=X::y\n\r::warning::x\n##[error]azure ##vso[task.complete]x\nend",
	"command":   "::error::" + marker,
	"blanks":    " \u00a0::error::" + marker + "##[group]x",
}

// unsafeOutput is what no output may hold, and ciCommand how no line of it may begin.
var (
	unsafeOutput = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{61c}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}\x{fffe}]|##[a-z]*\[`)
	ciCommand    = regexp.MustCompile(`(?m)^[\s\x{a0}]*::.*`)
	annotation   = regexp.MustCompile(`^::(error|warning|notice) file=[^:]*,line=\d+,title=RL\d+ [a-z-]+::`)
)

// A hostileRun runs the tool in a folder where everything is hostile.
type hostileRun struct {
	evil string // the text
	name string // the text as the beginning of a file's name
	seen map[string]bool
}

// run runs the tool and checks every byte that it writes. in is what was run, for seen.
func (h *hostileRun) run(t *testing.T, in string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	code := Main(ctx, args, strings.NewReader(""), &out, &errs)
	stdout, stderr := out.String(), errs.String()
	if code < 0 || code > 3 || strings.Contains(stderr, "goroutine ") {
		t.Errorf("%q: status %d\n%s", args, code, stderr)
	}
	if len(args) > 0 && args[0] == "completion" && code == ExitClean {
		return // a script of cobra's, with tabs
	}
	for what, s := range map[string]string{"stdout": stdout, "stderr": stderr} {
		if bad := unsafeOutput.FindAllString(s, 3); bad != nil || !utf8.ValidString(s) {
			t.Errorf("%q: %s has %q\n%q", args, what, bad, s)
		}
		for _, line := range ciCommand.FindAllString(s, -1) {
			if what == "stderr" || !slices.Contains(args, "github") || !annotation.MatchString(line) {
				t.Errorf("%q: %s has a line that CI takes as a command: %q", args, what, line)
			}
		}
		if prints := what == "stderr" && slices.Contains(args, "--dry-run"); !prints && strings.Contains("\n"+s, "\n"+forged) { // print of a map may
			t.Errorf("%q: %s has a line out of the data\n%s", args, what, s)
		}
		if what == "stdout" && !wellFormed(args, s) {
			t.Errorf("%q: %s cannot be parsed\n%s", args, what, s)
		}
		if strings.Contains(s, marker) {
			h.seen[in], h.seen[in+" "+what] = true, true
		}
	}
}

// wellFormed reports whether output that is to be JSON or XML is.
func wellFormed(args []string, s string) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(args, w) })
	}
	switch {
	case s == "":
		return true
	case has("--json") && !has("--dry-run"), has("json", "gitlab", "sarif", "rdjson"):
		return json.Valid([]byte(s))
	case has("jsonl"):
		return !slices.ContainsFunc(strings.Split(strings.TrimSpace(s), "\n"), func(l string) bool { return l != "" && !json.Valid([]byte(l)) })
	case has("junit", "checkstyle"):
		return xml.Unmarshal([]byte(s), new(struct{})) == nil
	}
	return true
}

// file writes a file of the folder and returns its name.
func (h *hostileRun) file(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// jsonText is JSON, which YAML is too.
func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(escape.JSON(b)) // YAML takes U+0085 for the end of a line
}

// row is a row with the text in every place.
func (h *hostileRun) row(i int) map[string]any {
	e := h.evil
	return map[string]any{
		"data_source":  "x" + e,
		"prompt":       []any{map[string]any{"role": "user" + e, "content": e, "k" + e: e}, map[string]any{"role": e, "content": e + "?", "k" + e: e}},
		"ability":      e,
		"agent_name":   e,
		"reward_model": map[string]any{"style": e, "ground_truth": e, "k" + e: e},
		"extra_info":   map[string]any{"index": i % 2, "split": e, "k" + e: e},
		"c" + e:        []any{e, e, i},
		e:              e,
		"question":     e,
		"answer":       "#### " + e,
	}
}

// parquet writes a Parquet file of rows from first to last.
func (h *hostileRun) parquet(t *testing.T, name string, first, last int) string {
	t.Helper()
	f := testFile{name: filepath.Base(name), group: 2, metadata: []parquetio.KeyValue{{Key: "k" + h.evil, Value: h.evil}, {Key: "huggingface", Value: h.evil}}}
	for i := first; i < last; i++ {
		row := h.row(i)
		row["c"+h.evil] = []any{h.evil, strconv.Itoa(i)}
		f.rows = append(f.rows, row)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	return f.write(t, filepath.Dir(name), columnsOf(t, f.rows))
}

// bash quotes a text for a launch script.
func bash(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return "$'" + strings.ReplaceAll(b.String(), `\x00`, "") + "'"
}

// TestHostile puts hostile text into every field of every command, in every format, and looks at every byte that comes out. Without RLPREP_LONG it
// takes two of the five texts.
func TestHostile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of files cannot hold such text on Windows")
	}
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	t.Setenv("GITHUB_WORKSPACE", "")
	seen := map[string]bool{}
	for name, evil := range hostileTexts {
		if name != "terminal" && name != "lines" && !long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			h := &hostileRun{evil: evil, name: strings.NewReplacer("/", "_", "\x00", "").Replace(evil) + "\xff\x9b", seen: seen}
			cases := h.cases(t)
			walk(newRoot(&app{}), func(cmd *cobra.Command) {
				if !cmd.Runnable() {
					return
				}
				if len(cases[cmd.CommandPath()]) == 0 {
					t.Errorf("%s: this test has no case for it: add it to (*hostileRun).cases", cmd.CommandPath())
				}
				for _, args := range cases[cmd.CommandPath()] {
					h.run(t, cmd.CommandPath(), args...)
				}
				h.flags(t, cmd)
			})
			h.formats(t)
			h.hub(t)
		})
	}
	walk(newRoot(&app{}), func(cmd *cobra.Command) {
		if cmd.Runnable() && !seen[cmd.CommandPath()] {
			t.Errorf("%s never showed the text: nothing was tested", cmd.CommandPath())
		}
	})
	for _, f := range report.Formats() {
		if !seen[f+" stdout"] {
			t.Errorf("--output-format %s never showed the text: nothing was tested", f)
		}
	}
}

// flags gives the text to every flag of a command, and as an argument beside it.
func (h *hostileRun) flags(t *testing.T, cmd *cobra.Command) {
	path := strings.Fields(cmd.CommandPath())[1:]
	h.run(t, cmd.CommandPath(), append(slices.Clone(path), "--"+h.evil)...)
	h.run(t, cmd.CommandPath(), append(slices.Clone(path), "-"+h.evil)...)
	h.run(t, cmd.CommandPath(), append(slices.Clone(path), "--", h.evil, h.evil, h.evil, h.evil)...)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		h.run(t, cmd.CommandPath(), append(slices.Clone(path), "--"+f.Name+"="+h.evil, h.evil)...)
	})
}

// cases are the runs of each command that get further than its flags.
func (h *hostileRun) cases(t *testing.T) map[string][][]string {
	data := h.parquet(t, filepath.Join(h.name, h.name+".parquet"), 0, 5)
	other := h.parquet(t, filepath.Join(h.name+"2", h.name+".parquet"), 1, 6)
	plain := h.parquet(t, "plain.parquet", 0, 5) // whose name YAML can hold, and is no pattern
	column, field, fresh := string(schema.MakePath(h.evil)), string(schema.MakePath("reward_model", "k"+h.evil)), string(schema.MakePath("new"+h.evil))
	lines := h.file(t, h.name+"train.jsonl", jsonText(t, h.row(0))+"\n"+jsonText(t, h.row(1))+"\n")
	broken := h.file(t, h.name+"broken.jsonl", jsonText(t, h.row(0))+"\n{\"x\": \""+h.evil+"\n")
	edited := h.parquet(t, filepath.Join("edited", h.name+".parquet"), 0, 5)
	junk := h.file(t, filepath.Join("junk", h.name+".parquet"), "PAR1"+h.evil+"PAR1")
	sum := func(args ...string) [][]string {
		return [][]string{args, slices.Insert(slices.Clone(args), 1, "--json")}
	}
	out := 0
	to := func(args ...string) [][]string {
		out += 2
		return [][]string{append(slices.Clone(args), "-o", fmt.Sprint(h.name, "out", out)), append(slices.Clone(args), "--json", "-o", fmt.Sprint(h.name, "out", out+1))}
	}
	c := map[string][][]string{
		"rlprep":            {{h.evil}, {}},
		"rlprep preprocess": slices.Concat(to("preprocess", "gsm8k", "--source", lines, "--split", "train", "--max-rejects", "100%"), to("preprocess", "gsm8k", "--source", data, "--split", "train"), to("preprocess", "gsm8k", "--source", data, "--split", "train", "--dry-run"), to("preprocess", "gsm8k", "--demo", "--system", h.evil, "--dry-run"), to("preprocess", "gsm8k", "--source", junk, "--split", "train")),
		"rlprep add":        slices.Concat(to("add", "x=1", data), to("add", "x=@copy:"+column, data), to("add", fresh+"="+h.evil, data), to("add", field+"="+h.evil, data), to("add", field+".x=1", data), to("add", "x=1", data, "--after", column), to("add", "ability="+h.evil, data), to("add", "agent_name.x=1", data), to("add", "x=1", junk, lines), sum("add", fresh+"="+h.evil, edited, "--in-place")),
		"rlprep drop":       slices.Concat(to("drop", "ability", data), to("drop", column, data), to("drop", field, data), to("drop", "nosuch"+marker, data)),
		"rlprep rename":     slices.Concat(to("rename", "ability=x", data), to("rename", "ability=prompt", data), to("rename", "nosuch"+marker+"=x", data), to("rename", column+"=zz", data), to("rename", "ability="+fresh, data), to("rename", "ability="+column, data)),
		"rlprep select":     slices.Concat(to("select", "ability", data), to("select", "nosuch"+marker, data), to("select", column, data), to("select", column+",nosuch", data)),
		"rlprep reshard":    slices.Concat(to("reshard", data, other, "--shards", "1"), to("reshard", data, "--shard-rows", "1"), to("reshard", data, lines, junk, "--shards", "2")),
		"rlprep init":       {{"init", "--out", "-"}, {"init", "--out", h.name + ".yaml"}, {"init", "--out", h.name + ".yaml"}, {"init", "pipeline", data, "--out", "-"}, {"init", "pipeline", lines, "--out", "-"}, {"init", "pipeline", junk, "--out", "-"}},
		"rlprep schema":     {{"schema", h.evil}, {"schema", "config"}, {"schema", "pipeline"}},
		"rlprep inspect":    slices.Concat(sum("inspect", data, "--rows", "9"), sum("inspect", lines), sum("inspect", broken), sum("inspect", junk), sum("inspect", h.name), sum("inspect", data, h.name+"nosuch")),
		"rlprep diff":       slices.Concat(sum("diff", data, other), sum("diff", data, lines), sum("diff", data, other, "--key", "ability"), sum("diff", data, other, "--key", "nosuch"+h.evil), sum("diff", data, data, "--strict"), sum("diff", data, junk)),
		"rlprep list":       {{"list", h.evil}, {"list", "rules"}, {"list", "rules", "--json"}, {"list", "recipes"}, {"list", "transforms"}},
		"rlprep explain":    {{"explain", h.evil}, {"explain", "RL301"}, {"explain", "RL301", "--json"}, {"explain", "gsm8k"}, {"explain", "set"}},
		"rlprep doctor":     {{"doctor"}, {"doctor", "--json"}},
		"rlprep version":    {{"version"}, {"version", "--json"}, {"version", h.evil}},
		"rlprep help":       {{"help"}, {"help", h.evil}},
		"rlprep verify":     h.manifests(t),
		"rlprep run":        h.pipelines(t, plain, column, to),
		"rlprep map":        h.scripts(t, data, to),
		"rlprep launch":     h.launches(t, sum),
		"rlprep lint":       h.lints(t, data, other, plain, junk, broken),
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		c["rlprep completion "+shell] = [][]string{{"completion", shell}, {"completion", shell, h.evil}}
	}
	c["rlprep completion"] = [][]string{{"completion", h.evil}}
	return c
}

// manifests are data sets whose manifest is hostile.
func (h *hostileRun) manifests(t *testing.T) (runs [][]string) {
	for i, shard := range []string{h.evil, "../" + h.evil, h.name, "x"} {
		m := map[string]any{"format": 1, "tool": "rlprep", "version": h.evil, "recipe": h.evil, "options": map[string]string{h.evil: h.evil}, "dataset_sha256": h.evil,
			"splits": []any{map[string]any{"name": h.evil, "rows": 7}}, "shards": []any{map[string]any{"name": shard, "split": h.evil + "2", "rows": 1, "sha256": h.evil}, map[string]any{"name": shard}}}
		dir := fmt.Sprint(h.name, "manifest", i)
		h.file(t, filepath.Join(dir, "manifest.json"), jsonText(t, m))
		h.file(t, filepath.Join(dir, h.name+".parquet"), h.evil)
		runs = append(runs, []string{"verify", dir}, []string{"preprocess", "gsm8k", "--demo", "-o", dir}, []string{"preprocess", "gsm8k", "--demo", "-o", dir, "--force"},
			[]string{"add", "x=1", filepath.Join(dir, h.name+".parquet"), "--in-place"})
	}
	h.file(t, filepath.Join(h.name+"m", "manifest.json"), `{"tool": "rlprep", "format": 1, "shards": "`+h.evil)
	return append(runs, []string{"verify", h.name + "m"}, []string{"verify", h.name + "nosuch"})
}

// pipelines are files for run.
func (h *hostileRun) pipelines(t *testing.T, data, column string, to func(...string) [][]string) (runs [][]string) {
	set := func(args map[string]any) map[string]any { return map[string]any{"set": args} }
	for i, p := range []any{
		map[string]any{h.evil: h.evil, "sources": map[string]any{"train": data}, "steps": []any{map[string]any{h.evil: h.evil}}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{set(map[string]any{"path": column, "value": h.evil, "if": "replace"}), set(map[string]any{"path": "ability", "value": h.evil, "if": "replace"})}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{set(map[string]any{"path": "zz", "value": h.evil, h.evil: 1}), map[string]any{"copy": map[string]any{"from": "nosuch" + marker, "to": h.evil}}}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{map[string]any{"copy": map[string]any{"from": "nosuch" + marker, "to": "x"}}}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{map[string]any{"extract": map[string]any{"from": "answer", "to": "y", "method": "gsm8k"}}}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{map[string]any{"drop": []any{column, column}}}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{"index"}, "contract": map[string]any{"known_sources": []any{h.evil}, "known_agents": []any{h.evil}}},
		map[string]any{"sources": map[string]any{"train": data}, "steps": []any{"index"}, "contract": map[string]any{"rows": h.evil, "target": h.evil, "expects": []any{h.evil}}, "output": map[string]any{"compression": h.evil}},
		map[string]any{"sources": map[string]any{h.evil: h.evil}, "steps": []any{"index"}},
		map[string]any{"sources": map[string]any{"train": h.evil + "*.parquet"}, "steps": []any{"index"}},
		map[string]any{"sources": map[string]any{"train": "hf://datasets/" + h.evil}, "steps": []any{"index"}},
	} {
		name := h.file(t, fmt.Sprint(h.name, "p", i, ".yaml"), jsonText(t, p))
		runs = append(runs, to("run", name)...)
		runs = append(runs, to("run", name, "--dry-run")...)
	}
	for i, raw := range []string{"sources: {" + h.evil, "a: b\n" + h.evil + ": [\n", "sources: \"" + h.evil + "\"\nsteps: *" + h.evil} {
		runs = append(runs, to("run", h.file(t, fmt.Sprint(h.name, "raw", i, ".yaml"), raw))...)
	}
	return runs
}

// scripts are functions for map.
func (h *hostileRun) scripts(t *testing.T, data string, to func(...string) [][]string) (runs [][]string) {
	evil := strconv.QuoteToASCII(h.evil)
	for i, body := range []string{
		"    print(example['ability'])\n    return example",
		"    print(" + evil + ", '::error::x')\n    fail(example['ability'])",
		"    fail(" + evil + ")",
		"    return example[" + evil + " + 'no']",
		"    return {" + evil + ": idx, 'x': 1 if idx else " + evil + "}",
		"    return {" + evil + " + str(idx): idx}",
		"    return int(example['ability'])",
		"    return " + evil,
		"    example.pop(" + evil + ")\n    example['new' + " + evil + "] = " + evil + "\n    return example",
		"    return {'ability': [" + evil + ", idx]} if idx else {'ability': {" + evil + ": 1}}",
		"    return nosuch" + marker,
		"    " + h.evil,
	} {
		name := h.file(t, fmt.Sprint(h.name, i, ".star"), "def process_fn(example, idx):\n"+body+"\n")
		for _, more := range [][]string{nil, {"--dry-run"}, {"--max-rejects", "100%", "--rejects", h.name + "rejects"}} {
			runs = append(runs, to(append([]string{"map", name, "--source", data, "--split", "train"}, more...)...)...)
		}
	}
	return append(runs, []string{"map", h.name + "nosuch.star", "--source", data})
}

// launches are scripts and configurations.
func (h *hostileRun) launches(t *testing.T, sum func(...string) [][]string) (runs [][]string) {
	e := bash(h.evil)
	script := h.file(t, h.name+".sh", "python3 -m verl.trainer.main_ppo data.train_files="+e+" trainer.project_name="+e+" actor_rollout_ref.rollout.agent.default_agent_loop="+e+" +x."+marker+"="+e+" "+e+"="+e+"\necho "+e+"\n$("+e+" | x)\nsource "+e+"\n: ${"+marker+"?"+e+"}\n")
	second := h.file(t, h.name+"2.sh", "python3 -m verl.trainer.main_ppo trainer.project_name=b"+e+" data.train_batch_size="+e+"\n")
	bad := h.file(t, h.name+"3.sh", "if "+h.evil+"\n(")
	config := h.file(t, h.name+".yaml", jsonText(t, map[string]any{h.evil: h.evil, "data": map[string]any{h.evil: h.evil, "train_files": h.evil, "train_batch_size": h.evil}, "defaults": []any{h.evil}}))
	flat := h.file(t, h.name+"flat.yaml", jsonText(t, map[string]any{h.evil: h.evil, "data": map[string]any{"train_files": h.evil, "x": "${" + h.evil + "}"}, "trainer": map[string]any{"project_name": h.evil}}))
	raw := h.file(t, h.name+"raw.yaml", "a: ["+h.evil)
	return slices.Concat(sum("launch", script), sum("launch", script, "--", h.evil, "x="+h.evil), sum("launch", second), sum("launch", bad), sum("launch", config), sum("launch", flat), sum("launch", raw),
		sum("launch", "--diff", script, second), sum("launch", "--", "python3", "-m", "verl.trainer.main_ppo", "trainer.project_name="+h.evil, h.evil), sum("launch", "--env", "X="+h.evil, script), sum("launch", h.name+"nosuch.sh"))
}

// lints are runs of lint beside its formats.
func (h *hostileRun) lints(t *testing.T, data, other, plain, junk, broken string) (runs [][]string) {
	lint := func(args ...string) { runs = append(runs, append([]string{"lint", "--no-cache"}, args...)) }
	lint("--no-project", data, other, "--verbose", "--statistics")
	lint("--no-project", data, "--val", other, "--diff", "--unsafe-fixes", "--agent", "tool_agent")
	lint("--no-project", data, "--diff", "--agent", h.evil)
	lint("--no-project", junk, broken, data)
	lint("--no-project", h.name)
	list := h.file(t, h.name+".list", data+"\n"+h.name+"nosuch\n")
	lint("--no-project", "--files-from", list)
	known := jsonText(t, map[string]any{"version": 1, "findings": []any{map[string]any{"file": h.evil, "rule": "RL301", "column": h.evil, "count": 3}, map[string]any{"file": filepath.ToSlash(data), "rule": h.evil, "column": h.evil, "count": 3}}})
	lint("--no-project", data, "--baseline", h.file(t, h.name+".baseline", known))
	lint("--no-project", data, "--baseline", h.file(t, h.name+".bad", h.evil))
	lint("--no-project", data, "--baseline", h.name+".new", "--write-baseline")
	lint("--no-project", data, "--baseline", h.name+".nosuch")
	script := h.file(t, h.name+"lint.sh", "python3 -m verl.trainer.main_ppo data.train_files="+bash(data)+" algorithm.adv_estimator="+bash(h.evil)+" nosuch."+marker+"="+bash(h.evil)+"\n")
	lint("--no-project", "--config", script, data)
	lint("--no-project", "--config", script)
	for i, p := range []any{
		map[string]any{h.evil: h.evil, "target": h.evil, "ignore": []any{h.evil}, "datasets": map[string]any{h.evil: map[string]any{h.evil: h.evil, "train": h.evil}}},
		map[string]any{"datasets": map[string]any{h.evil: map[string]any{"train": plain, "known_sources": []any{h.evil}}}, "per_file_ignores": []any{map[string]any{"files": h.evil, "rules": []any{"RL301", h.evil}, "reason": h.evil}}},
		map[string]any{"datasets": map[string]any{"x": map[string]any{"train": plain, "config": script}}, "baseline": h.evil, "per_file_ignores": []any{map[string]any{"files": plain, "rules": []any{"RL301", "RL404"}, "reason": h.evil}}},
		map[string]any{"datasets": map[string]any{"x" + h.evil: map[string]any{"train": h.evil + ".parquet"}}, "output_formats": []any{h.evil}},
		map[string]any{"per_file_ignores": []any{map[string]any{"files": "*" + h.evil, "rules": []any{"RL404"}, "reason": h.evil}}, "datasets": map[string]any{"x": map[string]any{"train": plain}}},
	} {
		lint("--project", h.file(t, fmt.Sprint(h.name, "project", i, ".yaml"), jsonText(t, p)))
	}
	copied := h.parquet(t, filepath.Join("fix", h.name+".parquet"), 0, 4)
	lint("--no-project", copied, "--fix", "--unsafe-fixes")
	return runs
}

// formats runs lint in each of its formats.
func (h *hostileRun) formats(t *testing.T) {
	data := h.parquet(t, filepath.Join("formats"+h.name, h.name+".parquet"), 0, 5)
	script := h.file(t, h.name+"f.sh", "python3 -m verl.trainer.main_ppo data.train_files="+bash(data)+" nosuch."+marker+"="+bash(h.evil)+"\n")
	for _, f := range report.Formats() {
		h.run(t, f, "lint", "--no-cache", "--no-project", "--output-format", f, data)
		h.run(t, f, "lint", "--no-cache", "--no-project", "--output-format", f, "--config", script, data, h.name)
	}
}

// hub reads from a Hub that answers with the text.
func (h *hostileRun) hub(t *testing.T) {
	t.Setenv("HF_HOME", t.TempDir())
	header := strings.Map(func(r rune) rune { // HTTP has no control characters
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, h.evil)
	tree := jsonText(t, []any{map[string]any{"type": "file", "path": h.evil + ".parquet", "size": 10, "oid": h.evil}})
	for i, answer := range []struct {
		status int
		body   string
	}{{http.StatusForbidden, jsonText(t, map[string]any{"error": h.evil})}, {http.StatusNotFound, h.evil}, {http.StatusOK, tree}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Error-Message", header)
			w.Header().Set("X-Error-Code", header)
			if i == 2 && strings.Contains(r.URL.Path, "/revision/") {
				fmt.Fprintf(w, `{"sha": "%s"}`, strings.Repeat("a", 40))
				return
			}
			w.WriteHeader(answer.status)
			fmt.Fprint(w, answer.body)
		}))
		t.Setenv("HF_ENDPOINT", server.URL)
		for _, name := range []string{"owner/name", "owner/name/" + h.evil, "owner/name@" + h.evil, h.evil} {
			h.run(t, "hub", "inspect", "hf://datasets/"+name)
			h.run(t, "hub", "lint", "--no-cache", "--no-project", "hf://datasets/"+name)
		}
		server.Close()
	}
}

// Whatever is printed goes through escape: no file of the packages that print writes to a stream by fmt, but those that print texts of ours alone.
func TestPrintedThroughEscape(t *testing.T) {
	ours := map[string]string{
		"explain.go": "what rules, recipes and transforms say of themselves", "help.go": "help",
		"init.go": "a file in the making", "init_project.go": "a file in the making", "list.go": "cells that were escaped",
	}
	var files []string
	for _, dir := range []string{".", "../build", "../check", "../diff", "../doctor", "../edit", "../inspect"} {
		found, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	printed := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || ours[name] != "" {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(f.Sel.Name, "Fprint") {
				return true
			}
			printed++
			_, builder := call.Args[0].(*ast.UnaryExpr)
			if from, ok := f.X.(*ast.Ident); ok && from.Name == "fmt" && !builder {
				t.Errorf("%s: fmt.%s writes to a stream: use escape.%s", set.Position(call.Pos()), f.Sel.Name, f.Sel.Name)
			}
			return true
		})
	}
	if printed < 50 {
		t.Errorf("only %d calls seen", printed)
	}
}
