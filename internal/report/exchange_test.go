package report

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema/rule"
)

// What GitLab asks of a Code Quality report (GitLab Docs, "Code Quality report format"; every property is required).
const gitlabSchema = `{"type": "array", "items": {"type": "object",
	"required": ["description", "check_name", "fingerprint", "severity", "location"],
	"properties": {
		"description": {"type": "string", "minLength": 1, "pattern": "^[^\n]*$"},
		"check_name": {"type": "string", "minLength": 1},
		"fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
		"severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
		"location": {"type": "object", "required": ["path", "lines"], "properties": {
			"path": {"type": "string", "minLength": 1, "not": {"pattern": "^\\./"}},
			"lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}}}}}}}`

// What reviewdog takes as rdjson (reviewdog, proto/rdf/reviewdog.proto); it refuses fields that the message has not.
const rdjsonSchema = `{"$ref": "#/$defs/result", "$defs": {
	"result": {"type": "object", "additionalProperties": false, "required": ["diagnostics"], "properties": {
		"source": {"$ref": "#/$defs/source"}, "severity": {"$ref": "#/$defs/severity"},
		"diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}}}},
	"diagnostic": {"type": "object", "additionalProperties": false, "required": ["message", "location"], "properties": {
		"message": {"type": "string", "minLength": 1}, "location": {"$ref": "#/$defs/location"}, "severity": {"$ref": "#/$defs/severity"},
		"source": {"$ref": "#/$defs/source"}, "code": {"$ref": "#/$defs/code"}, "original_output": {"type": "string"},
		"related_locations": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
			"message": {"type": "string"}, "location": {"$ref": "#/$defs/location"}}}}}},
	"source": {"type": "object", "additionalProperties": false, "properties": {"name": {"type": "string"}, "url": {"type": "string"}}},
	"code": {"type": "object", "additionalProperties": false, "properties": {"value": {"type": "string"}, "url": {"type": "string"}}},
	"severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
	"location": {"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
		"path": {"type": "string", "minLength": 1},
		"range": {"type": "object", "additionalProperties": false, "required": ["start"], "properties": {
			"start": {"$ref": "#/$defs/position"}, "end": {"$ref": "#/$defs/position"}}}}},
	"position": {"type": "object", "additionalProperties": false, "properties": {
		"line": {"type": "integer", "minimum": 1, "maximum": 2147483647}, "column": {"type": "integer", "minimum": 1}}}}}`

func compile(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// GitLab's and reviewdog's JSON have the form that their readers ask for.
func TestJSONForms(t *testing.T) {
	column := fixture()[0]
	column.Pos.Line, column.Pos.Column = 3, 9
	for _, c := range []struct{ format, schema, from, to string }{
		{"gitlab", gitlabSchema, `"major"`, `"error"`},
		{"rdjson", rdjsonSchema, `"ERROR"`, `"error"`},
	} {
		s := compile(t, c.schema)
		check := func(out string) error {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			return s.Validate(doc)
		}
		for name, out := range map[string]string{
			"findings": run(t, c.format, options(), fixture()...),
			"clean":    run(t, c.format, options()),
			"column":   run(t, c.format, options(), column),
		} {
			if err := check(out); err != nil {
				t.Errorf("%s, %s: %v", c.format, name, err)
			}
		}
		if check(strings.Replace(run(t, c.format, options(), fixture()...), c.from, c.to, 1)) == nil {
			t.Errorf("%s: a severity that does not exist passes: the schema is not applied", c.format)
		}
	}
}

// GitLab drops one of two issues with the same fingerprint: no two entries have one, and rows and words do not change it.
func TestGitLabFingerprint(t *testing.T) {
	prints := func(findings ...rule.Finding) (out []string) {
		var issues []gitlabIssue
		if err := json.Unmarshal([]byte(run(t, "gitlab", options(), findings...)), &issues); err != nil {
			t.Fatal(err)
		}
		for _, i := range issues {
			out = append(out, i.Fingerprint)
		}
		return out
	}
	f := rule.Finding{Rule: nameNull, Level: rule.Error, Pos: at("a.parquet", 0, 1, 0, "x"), Message: "old words"}
	moved, warning, column, file := f, f, f, f
	moved.Pos.Row, moved.Message = 99, "new words"
	warning.Level = rule.Warning
	column.Pos.Path = "y"
	file.Pos.File = "b.parquet"
	all := prints(f, warning, column, file)
	seen := map[string]bool{}
	for _, p := range all {
		seen[p] = true
	}
	if len(all) != 4 || len(seen) != 4 {
		t.Errorf("%d entries have %d fingerprints", len(all), len(seen))
	}
	if got := prints(moved); got[0] != prints(f)[0] {
		t.Error("the fingerprint depends on row or message")
	}
}

// Checkstyle's XML is well-formed whatever the data holds, names every file that was checked, and gives back what was written.
func TestCheckstyle(t *testing.T) {
	var got checkstyleReport
	if err := xml.Unmarshal([]byte(run(t, "checkstyle", options(), fixture()...)), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	errors := 0
	for _, f := range got.Files {
		names = append(names, f.Name)
		errors += len(f.Errors)
	}
	if want := "data/train.parquet val.jsonl clean.parquet"; !strings.HasPrefix(strings.Join(names, " "), want) || len(names) != 4 || errors != 5 {
		t.Errorf("%d errors in files %q", errors, names)
	}
	if e := got.Files[1].Errors[0]; e.Line != 2 || e.Severity != "error" || e.Source != "rlprep.RL301-agent-name-null" || !strings.HasPrefix(e.Message, "agent_name: ") {
		t.Errorf("%+v", e)
	}
	rapid.Check(t, func(t *rapid.T) {
		out := anyFinding(t, "checkstyle", "a<>&\"'\x00\x0b\x1b\n\r\t|é\u2028\ufffe😀")
		dec := xml.NewDecoder(strings.NewReader(out))
		for {
			if _, err := dec.Token(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("%v in %q", err, out)
			}
		}
	})
}

// The problem matcher that the repository ships takes every line of concise, by the matcher of its level alone.
func TestProblemMatcher(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "rlprep-matcher.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		ProblemMatcher []struct {
			Owner, Severity string
			Pattern         []struct {
				Regexp                            string
				File, Line, Column, Message, Code int
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	column := rule.Finding{Rule: quietRule, Level: rule.Error, Pos: at("run.sh", -1, -1, 7, "data.x"), Message: "m: [RL999 no-rule, info] (of 3)"}
	column.Pos.Column = 3
	findings := append(fixture(), column)
	var issues []gitlabIssue // tells where each entry stands, and its level
	if err := json.Unmarshal([]byte(run(t, "gitlab", options(), findings...)), &issues); err != nil {
		t.Fatal(err)
	}
	levels := map[string]string{"info": "notice", "minor": "warning", "major": "error"}
	lines := strings.Split(strings.TrimSpace(run(t, "concise", options(), findings...)), "\n")
	if len(lines) != len(issues) {
		t.Fatalf("%d lines, %d issues", len(lines), len(issues))
	}
	for i, line := range lines {
		var by []string
		for _, m := range file.ProblemMatcher {
			p := m.Pattern[0]
			g := regexp.MustCompile(p.Regexp).FindStringSubmatch(line)
			if g == nil {
				continue
			}
			by = append(by, m.Severity)
			want := issues[i]
			at := 1
			if g[p.Line] != "" {
				at, _ = strconv.Atoi(g[p.Line])
			}
			if g[p.File] != escape.Text(want.Location.Path) || int64(at) != want.Location.Lines.Begin || !strings.HasPrefix(want.Check, g[p.Code]+" ") || g[p.Message] == "" {
				t.Errorf("%q: matched as %q", line, g)
			}
		}
		if len(by) != 1 || by[0] != levels[issues[i].Severity] {
			t.Errorf("%q: matched by %q, want %s alone", line, by, levels[issues[i].Severity])
		}
	}
	for _, m := range file.ProblemMatcher {
		if regexp.MustCompile(m.Pattern[0].Regexp).MatchString("no findings in 3 files") {
			t.Errorf("%s takes a line that is no finding", m.Owner)
		}
	}
}
