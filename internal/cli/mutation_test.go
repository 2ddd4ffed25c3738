package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/schema/rule"
)

// The mutation suite: correct data of several files with several row groups, one fault put into the middle row group of the
// middle file, and what lint must then say: that fault, at that place, and nothing but the companions that are listed.

const (
	mutFiles  = 3
	mutGroup  = 4 // rows of a row group
	mutRows   = 3 * mutGroup
	mutFile   = 1
	mutRow    = mutGroup + 1 // in the middle row group
	mutNumber = mutFile*mutRows + mutRow
)

type row = map[string]any

// A mutation is one fault. Row changes the one row, all changes every row of the middle file, every all rows of all files.
type mutation struct {
	rule   string
	what   string
	base   func(i int) row
	row    func(r row)
	all    func(r row)
	every  func(r row)
	file   func(f *testFile) // changes the middle file itself
	column string            // where it is found
	whole  bool              // found for the file, not for the row
	count  int64             // of the rule, in all files; 0: 1, -1: not counted
	also   []string          // companions
	target string
}

func user(i int) string { return fmt.Sprintf("What is %d times 12?", i+2) }

// toolRow is a row of verl's gsm8k_tool_agent_loop.
func toolRow(i int) row {
	truth := fmt.Sprint(12 * (i + 2))
	return row{"data_source": "openai/gsm8k", "agent_name": "tool_agent", "ability": "math",
		"prompt":       []any{row{"role": "system", "content": "Use the tool."}, row{"role": "user", "content": user(i)}},
		"reward_model": row{"style": "rule", "ground_truth": truth},
		"extra_info": row{"split": "train", "index": i, "question": user(i), "answer": "It is 12 times that.\n#### " + truth, "need_tools_kwargs": true,
			"tools_kwargs": row{"calc_gsm8k_reward": row{"create_kwargs": row{"ground_truth": truth}}}}}
}

// plainRow runs as single_turn_agent, with a scorer of its own ground truths.
func plainRow(source string, truth any) func(i int) row {
	return func(i int) row {
		return row{"data_source": source, "ability": "math", "prompt": []any{row{"role": "user", "content": user(i)}},
			"reward_model": row{"style": "rule", "ground_truth": truth}, "extra_info": row{"split": "train", "index": i}}
	}
}

func imageRow(i int) row {
	r := plainRow("hiyouga/geometry3k", "72")(i)
	r["prompt"].([]any)[0].(row)["content"] = "<image>" + user(i)
	r["images"] = []any{row{"bytes": "PNG", "path": fmt.Sprintf("%d.png", i)}}
	return r
}

func sftRow(i int) row {
	return row{"messages": []any{row{"role": "user", "content": user(i)}, row{"role": "assistant", "content": fmt.Sprint(12 * (i + 2))}}}
}

func pairRow(i int) row {
	return row{"prompt": user(i), "chosen": fmt.Sprint(12 * (i + 2)), "rejected": "no idea"}
}

// in returns the map at path below r.
func in(r row, path ...string) row {
	for _, p := range path {
		r = r[p].(row)
	}
	return r
}

func message(r row, i int) row { return r["prompt"].([]any)[i].(row) }

func said(r row, i int) row { return r["messages"].([]any)[i].(row) }

func put(key string, v any, path ...string) func(row) {
	return func(r row) { in(r, path...)[key] = v }
}

func without(key string, path ...string) func(row) {
	return func(r row) { delete(in(r, path...), key) }
}

func truth(v any) func(row) {
	return func(r row) {
		in(r, "reward_model")["ground_truth"] = v
		in(r, "extra_info")["answer"] = nil
		in(r, "extra_info", "tools_kwargs", "calc_gsm8k_reward", "create_kwargs")["ground_truth"] = v
	}
}

func plainTruth(v any) func(row) { return put("ground_truth", v, "reward_model") }

func say(text string) func(row) {
	return func(r row) { message(r, 1)["content"] = text + user(mutNumber) }
}

// toolCreate is the path to what calc_gsm8k_reward is made with.
var toolCreate = []string{"extra_info", "tools_kwargs", "calc_gsm8k_reward", "create_kwargs"}

// halfPair stands for half a surrogate pair, which Go's JSON cannot write.
const halfPair = "HALFPAIR"

const gt = "reward_model.ground_truth"

var mutations = []mutation{
	{rule: "RL006", what: "half a surrogate pair", base: toolRow, row: say(halfPair), column: "prompt[].content"},
	{rule: "RL007", what: "metadata that is no JSON", base: toolRow, whole: true, file: func(f *testFile) { f.metadata = []parquetio.KeyValue{{Key: "huggingface", Value: "{broken"}} }},
	{rule: "RL008", what: "an index of text in one file", base: toolRow, all: func(r row) { in(r, "extra_info")["index"] = fmt.Sprint(in(r, "extra_info")["index"]) }, column: "extra_info.index", whole: true},
	{rule: "RL008", what: "messages with a further key", base: toolRow, all: func(r row) { message(r, 0)["name"] = "Ann" }, column: "prompt", whole: true},
	{rule: "RL009", what: "a column in the others only", base: toolRow, all: without("ability"), column: "ability", whole: true},
	{rule: "RL010", what: "a field in the others only", base: toolRow, all: without("question", "extra_info"), column: "extra_info.question", whole: true},
	{rule: "RL011", what: "null all over one file", base: toolRow, all: put("question", nil, "extra_info"), column: "extra_info.question", whole: true},
	{rule: "RL012", what: "a column named trace", base: toolRow, every: put("trace", "a"), column: "trace", whole: true, count: mutFiles},
	{rule: "RL013", what: "a uid of one's own", base: toolRow, every: put("uid", "a"), column: "uid", whole: true, count: mutFiles},
	{rule: "RL014", what: "ragged lists", base: func(i int) row { r := toolRow(i); r["cases"] = []any{[]any{"a"}}; return r }, row: put("cases", []any{[]any{"a"}, []any{"b", "c"}}), column: "cases"},
	{rule: "RL017", what: "extra_info as JSON", base: plainRow("openai/gsm8k", "72"), every: put("extra_info", "{}"), column: "extra_info", whole: true, count: mutFiles},
	{rule: "RL018", what: "a null extra_info", base: plainRow("openai/gsm8k", "72"), row: put("extra_info", nil), column: "extra_info", target: "verl@0.5", also: []string{"RL402"}},
	{rule: "RL019", what: "no priority", base: func(i int) row { r := plainRow("openai/gsm8k", "72")(i); r["priority"] = 1; return r }, row: put("priority", nil), column: "priority"},
	{rule: "RL020", what: "a byte order mark", base: toolRow, row: say("\ufeff"), column: "prompt[].content"},
	{rule: "RL021", what: "garbled text", base: toolRow, row: say("CafÃ© doesnâ€™t open. "), column: "prompt[].content"},
	{rule: "RL022", what: "a control character", base: toolRow, row: say("a\x00b "), column: "prompt[].content"},
	{rule: "RL023", what: "a zero-width space", base: toolRow, row: say("a\u200bb "), column: "prompt[].content"},
	{rule: "RL101", what: "prompt under another name", base: toolRow, all: func(r row) { r["question"] = r["prompt"]; delete(r, "prompt") }, column: "prompt", whole: true, also: []string{"RL009"}},
	{rule: "RL102", what: "prompt as JSON", base: toolRow, every: func(r row) { b, _ := json.Marshal(r["prompt"]); r["prompt"] = string(b) }, column: "prompt", whole: true, count: mutFiles},
	{rule: "RL103", what: "no messages", base: toolRow, row: put("prompt", []any{}), column: "prompt"},
	{rule: "RL103", what: "a null prompt", base: toolRow, row: put("prompt", nil), column: "prompt"},
	{rule: "RL104", what: "ShareGPT's role", base: toolRow, row: func(r row) { message(r, 1)["role"] = "human" }, column: "prompt[].role"},
	{rule: "RL105", what: "no content", base: toolRow, row: func(r row) { message(r, 1)["content"] = nil }, column: "prompt[].content"},
	{rule: "RL106", what: "parts", base: toolRow, every: func(r row) {
		for i := range 2 {
			message(r, i)["content"] = []any{row{"type": "text", "text": message(r, i)["content"]}}
		}
	}, column: "prompt[].content", whole: true, count: mutFiles},
	{rule: "RL107", what: "blank content", base: toolRow, row: func(r row) { message(r, 1)["content"] = " \n" }, column: "prompt[].content"},
	{rule: "RL108", what: "an answer at the end", base: toolRow, row: func(r row) { r["prompt"] = append(r["prompt"].([]any), row{"role": "assistant", "content": "72"}) }, column: "prompt"},
	{rule: "RL201", what: "no data_source", base: toolRow, all: without("data_source"), column: "data_source", whole: true},
	{rule: "RL202", what: "a null data_source", base: toolRow, row: put("data_source", nil), column: "data_source"},
	{rule: "RL203", what: "a data_source in other case", base: toolRow, row: put("data_source", "OpenAI/gsm8k"), column: "data_source"},
	{rule: "RL204", what: "no reward_model", base: toolRow, all: without("reward_model"), column: "reward_model", whole: true},
	{rule: "RL205", what: "a null reward_model", base: toolRow, row: put("reward_model", nil), column: "reward_model"},
	{rule: "RL206", what: "no ground_truth", base: toolRow, every: without("ground_truth", "reward_model"), column: gt, whole: true, count: mutFiles},
	{rule: "RL207", what: "a null ground_truth", base: toolRow, row: plainTruth(nil), column: gt},
	{rule: "RL208", what: "a number as ground_truth", base: plainRow("openai/gsm8k", 72), column: gt, every: func(row) {}, count: mutFiles * mutRows},
	{rule: "RL209", what: "gsm8k: a comma", base: toolRow, row: truth("1,000"), column: gt},
	{rule: "RL209", what: "gsm8k: a space", base: toolRow, row: truth("72 "), column: gt},
	{rule: "RL209", what: "MATH: boxed", base: plainRow("lighteval/MATH", "72"), row: plainTruth(`\boxed{72}`), column: gt},
	{rule: "RL209", what: "aime: two lines", base: plainRow("aime2024", "72"), row: plainTruth("72\n73"), column: gt},
	{rule: "RL209", what: "geo3k: a brace too many", base: plainRow("hiyouga/geometry3k", "72"), row: plainTruth("72}"), column: gt},
	{rule: "RL209", what: "search-R1: no target", base: plainRow("searchR1_nq", row{"target": []any{"Ann"}}), row: plainTruth(row{"target": []any{}}), column: gt},
	{rule: "RL209", what: "code: Python instead of JSON", base: plainRow("taco", `{"inputs":["1"],"outputs":["2"]}`), row: plainTruth(`{'inputs':['1'],'outputs':['2']}`), column: gt},
	{rule: "RL210", what: "72.0 beside a solution of 72", base: toolRow, row: func(r row) {
		in(r, "reward_model")["ground_truth"] = in(r, "reward_model")["ground_truth"].(string) + ".0"
		in(r, toolCreate...)["ground_truth"] = in(r, "reward_model")["ground_truth"]
	}, column: gt},
	{rule: "RL211", what: "two kinds of scorers", base: plainRow("openai/gsm8k", "72"), row: put("data_source", "math_dapo"), column: "data_source", target: "verl@0.8"},
	{rule: "RL301", what: "a null agent", base: toolRow, row: put("agent_name", nil), column: "agent_name"},
	{rule: "RL302", what: "tools but no agent", base: toolRow, every: without("agent_name"), column: "agent_name", whole: true, count: mutFiles},
	{rule: "RL303", what: "an agent that nobody registers", base: toolRow, row: put("agent_name", "tool_agent "), column: "agent_name"},
	{rule: "RL304", what: "two agents", base: toolRow, row: put("agent_name", "single_turn_agent"), column: "agent_name", target: "verl@0.7"},
	{rule: "RL305", what: "a boolean as text", base: toolRow, every: put("need_tools_kwargs", "true", "extra_info"), column: "extra_info.need_tools_kwargs", whole: true, count: mutFiles},
	{rule: "RL306", what: "a null tools_kwargs", base: toolRow, row: put("tools_kwargs", nil, "extra_info"), column: "extra_info.tools_kwargs"},
	{rule: "RL307", what: "tools_kwargs as JSON", base: toolRow, every: put("tools_kwargs", "{}", "extra_info"), column: "extra_info.tools_kwargs", whole: true, count: mutFiles},
	{rule: "RL308", what: "a null tool", base: toolRow, row: put("calc_gsm8k_reward", nil, "extra_info", "tools_kwargs"), column: "extra_info.tools_kwargs.calc_gsm8k_reward"},
	{rule: "RL309", what: "execute_kwargs", base: toolRow, every: put("execute_kwargs", row{"a": 1}, "extra_info", "tools_kwargs", "calc_gsm8k_reward"), column: "extra_info.tools_kwargs.calc_gsm8k_reward.execute_kwargs", whole: true, count: mutFiles},
	{rule: "RL310", what: "another truth for the tool", base: toolRow, row: put("ground_truth", "1", toolCreate...), column: strings.Join(toolCreate, ".") + ".ground_truth"},
	{rule: "RL311", what: "no truth for the tool", base: toolRow, row: put("ground_truth", nil, toolCreate...), column: strings.Join(toolCreate, ".") + ".ground_truth"},
	{rule: "RL312", what: "a tool nearly of its name", base: toolRow, every: func(r row) {
		tools := in(r, "extra_info", "tools_kwargs")
		tools["calc_gsm8k_rewards"] = tools["calc_gsm8k_reward"]
		delete(tools, "calc_gsm8k_reward")
	}, column: "extra_info.tools_kwargs.calc_gsm8k_rewards", whole: true, count: mutFiles},
	{rule: "RL313", what: "a selection as text", base: toolRow, every: put("tool_selection", "calc_gsm8k_reward", "extra_info"), column: "extra_info.tool_selection", whole: true, count: mutFiles},
	{rule: "RL401", what: "no index", base: toolRow, every: without("index", "extra_info"), column: "extra_info.index", whole: true, count: mutFiles, target: "verl@0.9-v0"},
	{rule: "RL402", what: "a null index", base: toolRow, row: put("index", nil, "extra_info"), column: "extra_info.index"},
	{rule: "RL403", what: "an index with a fraction", base: toolRow, every: func(r row) { in(r, "extra_info")["index"] = float64(in(r, "extra_info")["index"].(int)) + 0.5 }, column: "extra_info.index", whole: true, count: mutFiles},
	{rule: "RL404", what: "an index twice", base: toolRow, row: put("index", 0, "extra_info"), column: "extra_info.index", count: 2},
	{rule: "RL405", what: "index at the top", base: toolRow, every: func(r row) { r["index"] = in(r, "extra_info")["index"]; delete(in(r, "extra_info"), "index") }, column: "index", whole: true, count: mutFiles},
	{rule: "RL501", what: "a tag too many", base: imageRow, row: func(r row) { message(r, 0)["content"] = "<image><image>" + user(mutNumber) }, column: "images"},
	{rule: "RL502", what: "a tag and no image", base: imageRow, row: put("images", nil), column: "prompt[].content"},
	{rule: "RL503", what: "an image without bytes", base: imageRow, row: func(r row) { r["images"].([]any)[0].(row)["bytes"] = nil }, column: "images[].bytes"},
	{rule: "RL504", what: "one image, not in a list", base: imageRow, every: func(r row) { r["images"] = r["images"].([]any)[0] }, column: "images", whole: true, count: mutFiles},
	{rule: "RL505", what: "a video without video", base: func(i int) row {
		r := imageRow(i)
		delete(r, "images")
		message(r, 0)["content"] = "<video>" + user(i)
		r["videos"] = []any{row{"path": "a.mp4"}}
		return r
	}, every: func(row) {}, column: "videos[]", whole: true, count: mutFiles},
	{rule: "RL601", what: "a prompt again", base: toolRow, row: func(r row) { maps.Copy(r, again(0)) }, column: "prompt", count: 2},
	{rule: "RL603", what: "another truth for a prompt", base: plainRow("openai/gsm8k", "72"), row: func(r row) { r["prompt"] = plainRow("", "")(0)["prompt"]; plainTruth("73")(r) }, column: gt, count: 2},
	{rule: "RL801", what: "no messages column", base: sftRow, all: func(r row) { r["turns"] = r["messages"]; delete(r, "messages") }, column: "messages", whole: true, also: []string{"RL009"}},
	{rule: "RL802", what: "messages as JSON", base: sftRow, every: put("messages", "[]"), column: "messages", whole: true, count: mutFiles},
	{rule: "RL803", what: "an empty conversation", base: sftRow, row: put("messages", []any{}), column: "messages"},
	{rule: "RL804", what: "ShareGPT's role", base: sftRow, row: func(r row) { said(r, 1)["role"] = "gpt" }, column: "messages[].role"},
	{rule: "RL805", what: "no content", base: sftRow, row: func(r row) { said(r, 1)["content"] = nil }, column: "messages[].content"},
	{rule: "RL806", what: "the user last", base: sftRow, row: func(r row) { r["messages"] = append(r["messages"].([]any), row{"role": "user", "content": "Thanks."}) }, column: "messages"},
	{rule: "RL807", what: "a null option", base: func(i int) row { r := sftRow(i); r["enable_thinking"] = true; return r }, row: put("enable_thinking", nil), column: "enable_thinking"},
	{rule: "RL808", what: "tools as JSON", base: func(i int) row { r := sftRow(i); r["tools"] = "[]"; return r }, every: func(row) {}, column: "tools", whole: true, count: mutFiles},
	{rule: "RL809", what: "arguments of two tools in one struct", base: func(i int) row {
		r := sftRow(i)
		said(r, 1)["tool_calls"] = []any{row{"type": "function", "function": row{"name": "calc", "arguments": row{"x": "1"}}}}
		return r
	}, row: func(r row) {
		said(r, 1)["tool_calls"] = []any{row{"type": "function", "function": row{"name": "run", "arguments": row{"code": "1"}}}}
	}, column: "messages[].tool_calls[].function.arguments.x", count: -1},
	{rule: "RL810", what: "parts", base: sftRow, every: func(r row) {
		for i := range 2 {
			said(r, i)["content"] = []any{row{"type": "text", "text": said(r, i)["content"]}}
		}
	}, column: "messages[].content", whole: true, count: mutFiles},
	{rule: "RL820", what: "no prompt", base: pairRow, all: without("prompt"), column: "prompt", whole: true},
	{rule: "RL821", what: "a null answer", base: pairRow, row: put("rejected", nil), column: "rejected"},
	{rule: "RL822", what: "a pair of the same", base: pairRow, row: func(r row) { r["rejected"] = r["chosen"] }, column: "rejected"},
}

// again returns row i anew, but for its index.
func again(i int) row {
	r := toolRow(i)
	in(r, "extra_info")["index"] = mutNumber
	return r
}

// TestMutations puts each fault into correct data, which the whole of lint reads. That each rule finds its faults amid other rows, ruletest asks
// in the rule's own package, so a new rule needs no entry here.
func TestMutations(t *testing.T) {
	t.Parallel()
	for _, m := range mutations {
		t.Run(m.rule+" "+m.what, func(t *testing.T) {
			t.Parallel()
			m.test(t)
		})
	}
}

// TestMutationBases holds the data that mutations start from: there is nothing to find in it.
func TestMutationBases(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]func(int) row{"tool": toolRow, "image": imageRow, "sft": sftRow, "pair": pairRow,
		"gsm8k": plainRow("openai/gsm8k", "72"), "MATH": plainRow("lighteval/MATH", "72"), "aime": plainRow("aime2024", "72"), "geo3k": plainRow("hiyouga/geometry3k", "72"),
		"search": plainRow("searchR1_nq", row{"target": []any{"Ann"}}), "code": plainRow("taco", `{"inputs":["1"],"outputs":["2"]}`)} {
		t.Run(name, func(t *testing.T) {
			m := mutation{base: base}
			for _, target := range []string{"verl@0.9", "verl@0.9-v0", "verl@0.8", "verl@0.7", "verl@0.6", "verl@0.5"} {
				m.target = target
				if got := m.lint(t, m.write(t)); len(got) > 0 {
					t.Errorf("%s: found %v", target, got)
				}
			}
		})
	}
}

// TestMutationOverlap puts a training prompt into validation data.
func TestMutationOverlap(t *testing.T) {
	m := mutation{base: toolRow}
	files := m.write(t)
	val := &testFile{name: "val.parquet", group: mutGroup}
	for i := range mutRows {
		val.rows = append(val.rows, toolRow(1000+i))
	}
	val.rows[mutRow] = again(3)
	name := val.write(t, t.TempDir(), columnsOf(t, val.rows))
	got := m.lint(t, append(files, "--val", name))
	want := []string{"RL602 val.parquet group 1 row 5 prompt ×1"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func (m *mutation) test(t *testing.T) {
	files := m.write(t)
	got := m.lint(t, files)
	place := fmt.Sprintf("%s train-%05d.parquet group %d row %d %s", m.rule, mutFile, mutRow/mutGroup, mutRow, m.column)
	if m.whole {
		place = strings.TrimSpace(fmt.Sprintf("%s train-%05d.parquet %s", m.rule, mutFile, m.column))
	}
	found := false
	var count int64
	for _, line := range got {
		id, _, _ := strings.Cut(line, " ")
		var n int64
		fmt.Sscanf(line[strings.LastIndex(line, "×")+len("×"):], "%d", &n)
		if id == m.rule {
			count += n
		} else if !slices.Contains(m.also, id) {
			t.Errorf("companion %s is not listed", line)
		}
		at := line[:strings.LastIndex(line, " ×")]
		found = found || at == place || m.count > mutFiles && id == m.rule && strings.HasSuffix(at, " "+m.column)
	}
	if want := max(1, m.count); !found || m.count >= 0 && count != want {
		t.Errorf("found %q, want %s, %d times", got, place, want)
	}
	for _, id := range m.also {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, id+" ") }) {
			t.Errorf("companion %s does not come", id)
		}
	}
}

// write makes the files of the set.
func (m *mutation) write(t *testing.T) []string {
	t.Helper()
	var files []*testFile
	var others, mine []row
	for f := range mutFiles {
		file := &testFile{name: fmt.Sprintf("train-%05d.parquet", f), group: mutGroup}
		for i := range mutRows {
			r := m.base(f*mutRows + i)
			if m.every != nil {
				m.every(r)
			}
			if f == mutFile && m.all != nil {
				m.all(r)
			}
			if f == mutFile && i == mutRow && m.row != nil {
				m.row(r)
			}
			file.rows = append(file.rows, r)
		}
		if f == mutFile {
			mine = file.rows
			if m.file != nil {
				m.file(file)
			}
		}
		if f != mutFile || m.all == nil {
			others = append(others, file.rows...)
		}
		files = append(files, file)
	}
	columns := columnsOf(t, others)
	dir := t.TempDir()
	var names []string
	for f, file := range files {
		c := columns
		if f == mutFile && m.all != nil {
			c = columnsOf(t, mine)
		}
		names = append(names, file.write(t, dir, c))
	}
	return names
}

// lint returns a line a finding: rule, file, place, count.
func (m *mutation) lint(t *testing.T, files []string) (out []string) {
	t.Helper()
	target := m.target
	if target == "" {
		target = rule.DefaultTarget().String()
	}
	_, stdout, stderr := runMain(t, append([]string{"lint", "-q", "--output-format", "jsonl", "--target", target}, files...)...)
	if stderr != "" {
		t.Fatal(stderr)
	}
	for line := range strings.Lines(stdout) {
		var j struct {
			Rule, File, Column string
			RowGroup           *int `json:"row_group"`
			Row                *int
			Count              int64
		}
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Fatal(err)
		}
		s := j.Rule + " " + filepath.Base(j.File)
		if j.Row != nil {
			s += fmt.Sprintf(" group %d row %d", *j.RowGroup, *j.Row)
		}
		out = append(out, strings.TrimSpace(s+" "+j.Column)+fmt.Sprintf(" ×%d", j.Count))
	}
	return out
}
