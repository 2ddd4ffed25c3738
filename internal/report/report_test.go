package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	_ "github.com/rlprep/rlprep/schema/verl" // the default target
)

var update = flag.Bool("update", false, "write the wanted files anew")

// Rules of the test's own; those of the tool are judged elsewhere.
var (
	nameNull = &rule.Rule{
		ID: "RL301", Name: "agent-name-null", Title: "agent_name is null in some rows", Doc: "A null is no default.\n",
		Applies: []rule.Severity{{Level: rule.Error}},
	}
	indexTwice = &rule.Rule{
		ID: "RL402", Name: "index-repeated", Title: "extra_info.index is not unique", Doc: "Traces run together.",
		Applies: []rule.Severity{{Versions: "<=0.8", Level: rule.Error}, {Level: rule.Warning}},
	}
	oddColumn = &rule.Rule{ID: "RL013", Name: "column-unused", Title: "a column that nothing reads", Applies: []rule.Severity{{Level: rule.Info}}}
	quietRule = &rule.Rule{ID: "RL101", Name: "prompt-missing", Title: "there is no prompt", Applies: []rule.Severity{{Level: rule.Error}}}
)

// find adds single findings to r.
func find(r *Report, findings ...rule.Finding) {
	for _, f := range findings {
		r.Add(Entry{Findings: []rule.Finding{f}})
	}
}

func at(file string, group int, row, line int64, path schema.Path) schema.Pos {
	p := schema.FilePos(file)
	p.RowGroup, p.Row, p.Path = group, row, path
	if line > 0 {
		p.Line = line
	}
	return p
}

// fixture is findings as a run has them: many of a kind, in line formats, about a whole file, and with text out of the data.
func fixture() []rule.Finding {
	var fs []rule.Finding
	for row := range int64(12) {
		fs = append(fs, rule.Finding{Rule: nameNull, Level: rule.Error, Pos: at("data/train.parquet", int(row/8), 1+row, 0, "agent_name"),
			Message: "null, but the column is present: verl fails with 'Agent loop None not registered'", Value: "null"})
	}
	twice := rule.Finding{Rule: indexTwice, Level: rule.Warning, Pos: at("data/train.parquet", 0, 3, 0, "extra_info.index"),
		Message: "index 7 is used before", Value: "7"}
	for i := range int64(5) {
		twice.Related = append(twice.Related, at("data/train.parquet", 0, i, 0, "extra_info.index"))
	}
	return append(fs, twice,
		rule.Finding{Rule: oddColumn, Level: rule.Info, Pos: at("data/train.parquet", -1, -1, 0, `"a,b: 50%"`), Message: "no code reads it"},
		rule.Finding{Rule: nameNull, Level: rule.Error, Pos: at("val.jsonl", -1, 1, 2, "agent_name"), Message: "no such agent", Value: `"tool\nagent"`},
		rule.Finding{Rule: indexTwice, Level: rule.Warning, Pos: at("odd\x1b[2J|`name`.jsonl", -1, 4, 5, "extra_info.index"), Message: "index \u202e is <b>text</b>", Value: `"x"`},
	)
}

func options() Options {
	return Options{
		Tool: "0.1.0", Targets: []rule.Target{rule.DefaultTarget()}, Files: []string{"data/train.parquet", "val.jsonl", "clean.parquet"},
		Rules:    []*rule.Rule{oddColumn, quietRule, nameNull, indexTwice},
		Datasets: []Dataset{{"data/train.parquet", []string{"data/train.parquet", "clean.parquet"}, []*rule.Rule{oddColumn, quietRule, nameNull, indexTwice}}, {"val.jsonl", []string{"val.jsonl"}, []*rule.Rule{quietRule, nameNull}}},
		Remedies: map[Place]Remedy{
			{nameNull, "data/train.parquet", "agent_name"}:         {Command: "rlprep lint data --fix --agent tool_agent", Fixes: true},
			{indexTwice, "data/train.parquet", "extra_info.index"}: {Note: "numbers all rows", Command: "rlprep lint data --select RL402 --fix --unsafe-fixes", Fixes: true, Unsafe: true},
		},
	}
}

// run prints findings in one format.
func run(t testing.TB, format string, opts Options, findings ...rule.Finding) string {
	t.Helper()
	var out bytes.Buffer
	r, err := New([]string{format}, &out, opts)
	if err != nil {
		t.Fatal(err)
	}
	find(r, findings...)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// same compares got with the file testdata/name, or writes it with -update.
func same(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s: first difference in line %d\n got %q\nwant %q", file, i+1, line(g, i), line(w, i))
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

func TestFormats(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			same(t, "findings."+format, run(t, format, options(), fixture()...))
			same(t, "clean."+format, run(t, format, options()))
		})
	}
	t.Run("colour", func(t *testing.T) {
		opts := options()
		opts.Color = true
		same(t, "findings.colour", run(t, "full", opts, fixture()...))
	})
	places := map[int]string{}
	for _, f := range All() {
		if f.For == "" || f.Entry == "" || places[f.Place] != "" {
			t.Errorf("format %s: For and Entry must be given, and the place be its own (place %d: %s)", f.Name, f.Place, places[f.Place])
		}
		places[f.Place] = f.Name
	}
}

// Findings of one cause in many files are one block: rows, values, and columns that have the same findings.
func TestGrouped(t *testing.T) {
	var fs []rule.Finding
	opts := options()
	opts.Files, opts.FileRows = nil, map[string]int64{}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		name := filepath.Join(here, fmt.Sprintf("data/train-%02d.parquet", i))
		opts.Files = append(opts.Files, name)
		opts.FileRows[name] = 30
		for row := range int64(30) {
			if i == 7 && row > 9 && row%3 > 0 {
				continue
			}
			fs = append(fs, rule.Finding{Rule: nameNull, Level: rule.Error, Pos: at(name, 0, row, 0, "agent_name"), Message: fmt.Sprintf(`"tool_%d": no such loop`, i%5/3), Value: fmt.Sprintf(`"tool_%d"`, i%5/3)})
		}
		for _, path := range []schema.Path{"a", "b"} {
			fs = append(fs, rule.Finding{Rule: oddColumn, Level: rule.Info, Pos: at(name, -1, -1, 0, path), Message: "no code reads it"})
		}
		fs = append(fs, rule.Finding{Rule: indexTwice, Level: rule.Warning, Pos: at(name, 0, int64(i), 0, "extra_info.index"), Message: fmt.Sprintf("index %d is used before", i), Value: fmt.Sprint(i)})
	}
	same(t, "many.grouped", run(t, "grouped", opts, fs...))
}

// Where a limit cuts the rows, every format that shows rows says so.
func TestCut(t *testing.T) {
	var fs []rule.Finding
	for i := range int64(2 * rule.MaxSpans) {
		fs = append(fs, rule.Finding{Rule: nameNull, Level: rule.Error, Pos: at("a.parquet", 0, 2*i, 0, "agent_name"), Message: "null"})
	}
	for format, want := range map[string]string{"full": "and more (cut after 64 ranges)", "grouped": "rows 0, 2, 4, 6, 8, …", "json": `"rows_cut": true`} {
		if got := run(t, format, options(), fs...); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", format, want, got)
		}
	}
}

// What is printed does not depend on the order or the pieces in which findings come.
func TestOrder(t *testing.T) {
	fs := fixture()
	want := map[string]string{}
	for _, f := range Formats() {
		want[f] = run(t, f, options(), fs...)
	}
	rapid.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(fs).Draw(t, "order")
		format := rapid.SampledFrom(Formats()).Draw(t, "format")
		var out bytes.Buffer
		r, err := New([]string{format}, &out, options())
		if err != nil {
			t.Fatal(err)
		}
		for len(shuffled) > 0 { // single findings, and some joined before
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "n")
			part := shuffled[:n]
			shuffled = shuffled[n:]
			inner, err := New(nil, &bytes.Buffer{}, options())
			if err != nil {
				t.Fatal(err)
			}
			find(inner, part...)
			for _, g := range inner.groups {
				r.Add(Entry{append([]rule.Finding{g.Finding}, g.more...), g.count, g.rows, g.spread})
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want[format] {
			t.Fatalf("%s: got\n%s\nwant\n%s", format, out.String(), want[format])
		}
	})
}

func TestSpecs(t *testing.T) {
	for _, c := range []struct {
		specs []string
		want  string
	}{
		{nil, ""},
		{[]string{"full", "sarif=x.sarif", "jsonl=x.jsonl"}, ""},
		{[]string{"sarfi"}, `unknown output format "sarfi"; did you mean "sarif"?`},
		{[]string{"tap"}, `unknown output format "tap" (` + strings.Join(Formats(), ", ") + ")"},
		{[]string{"json="}, `output format "json=": no file after '='`},
		{[]string{"full", "json=-"}, "output formats full and json both go to standard output; write json=FILE"},
		{[]string{"json=x", "jsonl=x"}, "output formats json and jsonl both go to x; write jsonl=FILE"},
	} {
		_, err := New(c.specs, &bytes.Buffer{}, Options{})
		if got := fmt.Sprint(err); got != c.want && (c.want != "" || err != nil) {
			t.Errorf("%q: got %q, want %q", c.specs, got, c.want)
		}
	}
}

func TestFilesAndSummary(t *testing.T) {
	dir := t.TempDir()
	jsonl, summary := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "summary.md")
	if err := os.WriteFile(summary, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stats bytes.Buffer
	opts := options()
	opts.Stats, opts.Summary = &stats, summary
	r, err := New([]string{"concise", "jsonl=" + jsonl}, &stdout, opts)
	if err != nil {
		t.Fatal(err)
	}
	find(r, fixture()...)
	for range 2 { // the second does nothing
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "findings.concise", stdout.String())
	same(t, "statistics", stats.String())
	same(t, "findings.jsonl", read(t, jsonl))
	text, ok := strings.CutPrefix(read(t, summary), "before\n")
	if !ok {
		t.Error("the summary was not appended")
	}
	same(t, "findings.markdown", text)

	r, err = New([]string{"json=" + filepath.Join(dir, "none", "x")}, &stdout, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err == nil {
		t.Error("no error for a file that cannot be created")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every SARIF file keeps to the schema that OASIS publishes for 2.1.0 (testdata/sarif-schema-2.1.0.json).
func TestSARIFSchema(t *testing.T) {
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, "testdata/sarif-schema-2.1.0.json")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", text); err != nil {
		t.Fatal(err)
	}
	sarif, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(out string) error {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		return sarif.Validate(doc)
	}
	column := fixture()[0]
	column.Pos.Line, column.Pos.Column = 3, 9
	for name, out := range map[string]string{
		"findings": run(t, "sarif", options(), fixture()...),
		"clean":    run(t, "sarif", options()),
		"empty":    run(t, "sarif", Options{}),
		"columns":  run(t, "sarif", options(), column),
		"many":     run(t, "sarif", options(), many(maxResults+1)...),
	} {
		if err := check(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := strings.Replace(run(t, "sarif", options(), fixture()...), `"level": "error"`, `"level": "fatal"`, 1)
	if check(broken) == nil {
		t.Error("a file with a level that does not exist passes: the schema is not applied")
	}
}

// many returns n warnings in n files, and two errors in the last.
func many(n int) []rule.Finding {
	var fs []rule.Finding
	for i := range n {
		fs = append(fs, rule.Finding{Rule: indexTwice, Level: rule.Warning, Pos: schema.FilePos(fmt.Sprintf("%06d.parquet", i)), Message: "m"})
	}
	last := fs[n-1].Pos
	return append(fs,
		rule.Finding{Rule: nameNull, Level: rule.Error, Pos: last.At("a"), Message: "m"},
		rule.Finding{Rule: nameNull, Level: rule.Error, Pos: last.At("b"), Message: "m"})
}

// Of too many results the gravest stay, in their order, and the file says that some are left out.
func TestSARIFLimit(t *testing.T) {
	var log sarifLog
	if err := json.Unmarshal([]byte(run(t, "sarif", Options{}, many(maxResults+7)...)), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	if len(results) != maxResults {
		t.Fatalf("%d results", len(results))
	}
	if a, b := results[maxResults-2], results[maxResults-1]; a.Level != "error" || b.Level != "error" || results[0].Level != "warning" {
		t.Errorf("levels %s … %s %s", results[0].Level, a.Level, b.Level)
	}
	if got := log.Runs[0].Invocations[0].ToolExecutionNotifications; len(got) != 1 || !strings.HasPrefix(got[0].Message.Text, "9 results are not shown here") {
		t.Errorf("notifications %v", got)
	}
}

// The fingerprint stays when rows move, so that code scanning knows an alert again; it differs between columns and files.
func TestSARIFFingerprint(t *testing.T) {
	of := func(pos schema.Pos, message string) string {
		var log sarifLog
		if err := json.Unmarshal([]byte(run(t, "sarif", Options{}, rule.Finding{Rule: nameNull, Level: rule.Error, Pos: pos, Message: message})), &log); err != nil {
			t.Fatal(err)
		}
		return log.Runs[0].Results[0].PartialFingerprints["rlprep/v1"]
	}
	one := of(at("a.parquet", 0, 1, 0, "x"), "old words")
	if two := of(at("a.parquet", 3, 99, 0, "x"), "new words"); one != two {
		t.Error("the fingerprint depends on row or message")
	}
	if one == of(at("a.parquet", 0, 1, 0, "y"), "old words") || one == of(at("b.parquet", 0, 1, 0, "x"), "old words") {
		t.Error("the fingerprint does not depend on column and file")
	}
}

// JUnit has a case for each rule that looked at a dataset, and counts that agree.
func TestJUnitCounts(t *testing.T) {
	var all junitSuites
	if err := xml.Unmarshal([]byte(run(t, "junit", options(), fixture()...)), &all); err != nil {
		t.Fatal(err)
	}
	want := []int{4, 2, 1} // two datasets, and a file that only a finding names
	if len(all.Suites) != len(want) {
		t.Fatalf("%d suites", len(all.Suites))
	}
	tests, failures := 0, 0
	for i, s := range all.Suites {
		if len(s.Cases) != want[i] || s.Tests != want[i] {
			t.Errorf("%s: %d cases, says %d", s.Name, len(s.Cases), s.Tests)
		}
		tests += s.Tests
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
			}
		}
	}
	if all.Tests != tests || all.Failures != failures || failures != 2 {
		t.Errorf("%d tests, %d failures; says %d, %d", tests, failures, all.Tests, all.Failures)
	}
}

// Annotations stand where GitHub shows them.
func TestAnchor(t *testing.T) {
	dir := t.TempDir()
	tracked := filepath.Join(dir, "tracked.parquet")
	if err := os.WriteFile(tracked+".dvc", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pos   schema.Pos
		named string
		file  string
		line  int64
	}{
		{at("x.jsonl", -1, 4, 5, "a"), "", "x.jsonl", 5},
		{at("x.jsonl", -1, 4, 5, "a"), "README.md", "x.jsonl", 5},
		{at("x.parquet", 0, 4, 0, "a"), "", "x.parquet", 1},
		{at("x.parquet", 0, 4, 0, "a"), "README.md", "README.md", 1},
		{at(tracked, 0, 4, 0, "a"), "", tracked + ".dvc", 1},
	} {
		if file, line := anchor(c.pos, c.named); file != c.file || line != c.line {
			t.Errorf("%v, %q: got %s:%d", c.pos, c.named, file, line)
		}
	}
	for _, c := range []struct{ file, root, want string }{
		{filepath.Join(dir, "a", "x.parquet"), dir, "a/x.parquet"},
		{"a/../b.parquet", "", "b.parquet"},
		{filepath.Join(dir, "x"), filepath.Join(dir, "other"), filepath.ToSlash(filepath.Join(dir, "x"))},
	} {
		if got := fromRoot(c.file, c.root); got != c.want {
			t.Errorf("fromRoot(%q, %q) = %q, want %q", c.file, c.root, got, c.want)
		}
	}
}

// anyFinding reports a finding whose texts are of those letters, and returns what a format makes of it.
func anyFinding(t *rapid.T, format, letters string) string {
	text := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 0, 30, -1)
	f := rule.Finding{Rule: nameNull, Level: rule.Error, Pos: at("f"+text.Draw(t, "file"), 0, 1, 0, schema.MakePath("c"+text.Draw(t, "path"))),
		Message: text.Draw(t, "message"), Value: text.Draw(t, "value")}
	var out bytes.Buffer
	r, err := New([]string{format}, &out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	find(r, f)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A workflow command is one line, whatever the data says: nobody can slip in another.
func TestGitHubOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if s := anyFinding(t, "github", "a:%,\r\n\x1b|é\u2028"); strings.Count(s, "\n") != 1 || strings.Contains(s, "\r") || !strings.HasPrefix(s, "::error file=f") {
			t.Fatalf("%q", s)
		}
	})
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

// The value is added to the message where the message does not say it.
func TestWhat(t *testing.T) {
	for _, c := range []struct{ message, value, want string }{
		{"index 7 is used before", "7", "index 7 is used before"},
		{"index 17 is used before", "7", "index 17 is used before (found 7)"},
		{"unknown agent 'tol'", `"tol"`, "unknown agent 'tol'"},
		{"null", "null", "null"},
		{"no such agent", "", "no such agent"},
		{"text", `"x"`, `text (found "x")`},
		{"", "é", " (found é)"},
	} {
		if got := what(rule.Finding{Message: c.message, Value: c.value}); got != c.want {
			t.Errorf("%q, %q: got %q, want %q", c.message, c.value, got, c.want)
		}
	}
}
