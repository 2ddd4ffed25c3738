package pipefile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Text is what a pipeline file is to say. What Parse reads of it makes the same rows.
type Text struct {
	Comment     string // lines for the top of the file, without "#"
	Sources     []Source
	Columns     []schema.Field // nil: found out from the rows
	Steps       []transform.Step
	Rows        rule.Kind
	Target      rule.Target
	Agents      []string
	DataSources []string
	Expects     []string
}

// YAML writes the file.
func (t *Text) YAML() string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(t.Comment) + "\n") {
		b.WriteString("# " + line)
	}
	b.WriteString("sources:\n")
	for _, s := range t.Sources {
		fmt.Fprintf(&b, "  %s:\n", s.Split)
		for _, name := range s.Names {
			fmt.Fprintf(&b, "    - %s\n", yamlfile.Quote(name))
		}
	}
	if t.Columns != nil {
		b.WriteString("columns: # of line formats; Parquet has its own\n")
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "  %s: %s\n", scalar(c.Name), scalar(c.Type.String()))
		}
	}
	b.WriteString(StepsYAML(t.Steps))
	fmt.Fprintf(&b, "contract:\n  rows: %s\n  target: %s\n", t.Rows, cmp.Or(t.Target, rule.DefaultTarget()))
	for _, list := range []struct {
		key   string
		names []string
	}{{"known_agents", t.Agents}, {"known_sources", t.DataSources}, {"expects", t.Expects}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "  %s: %s\n", list.key, flow(list.names))
		}
	}
	b.WriteString("output:\n  compression: zstd\n")
	return b.String()
}

// StepsYAML writes the key steps of a pipeline file.
func StepsYAML(steps []transform.Step) string {
	var b strings.Builder
	b.WriteString("steps:\n")
	for _, s := range steps {
		b.WriteString(stepYAML(s))
	}
	return b.String()
}

// lineWidth is how long a step on one line may be.
const lineWidth = 130

// stepYAML writes one step: on one line where it is short, else an argument a line.
func stepYAML(s transform.Step) string {
	line := fmt.Sprintf("  - %s: %s\n", s.Verb, flow(s.Args))
	if v := transform.Find(s.Verb); v != nil && len(s.Args) == 1 && s.Args[0].Name == v.Short {
		line = fmt.Sprintf("  - %s: %s\n", s.Verb, flow(s.Args[0].Value))
	} else if len(s.Args) == 0 {
		line = fmt.Sprintf("  - %s: {}\n", s.Verb)
	}
	hasBlock := slices.ContainsFunc(s.Args, func(m transform.Member) bool { return block(m.Value, "") != "" })
	if len(line) > lineWidth || hasBlock {
		var b strings.Builder
		fmt.Fprintf(&b, "  - %s:\n", s.Verb)
		for _, m := range s.Args {
			if text := block(m.Value, "        "); text != "" {
				fmt.Fprintf(&b, "      %s: |\n%s", m.Name, text)
			} else if list, ok := m.Value.([]any); ok && len(flow(list)) > lineWidth {
				fmt.Fprintf(&b, "      %s:\n", m.Name)
				for _, e := range list {
					fmt.Fprintf(&b, "        - %s\n", flow(e))
				}
			} else {
				fmt.Fprintf(&b, "      %s: %s\n", m.Name, flow(m.Value))
			}
		}
		line = b.String()
	}
	if s.Splits != nil {
		line += fmt.Sprintf("    splits: %s\n", flow(s.Splits))
	}
	return line
}

// blockText is text that a literal block of YAML holds as it is: printable ASCII in lines, none of which ends in a blank and the first of which
// does not begin with one.
var blockText = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?\n(([ -~]*[!-~])?\n)*[ -~]*[!-~]\n$`)

// block returns a text of several lines as the body of a literal block, "" where v cannot be one.
func block(v any, indent string) string {
	s, ok := v.(string)
	if !ok || !blockText.MatchString(s) {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return b.String()
}

// flow writes a value on one line.
func flow(v any) string {
	switch x := v.(type) {
	case string:
		return scalar(x)
	case []string:
		parts := make([]string, len(x))
		for i, s := range x {
			parts[i] = scalar(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = flow(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case transform.Object:
		parts := make([]string, len(x))
		for i, m := range x {
			parts[i] = scalar(m.Name) + ": " + flow(m.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case float64:
		s := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	case json.Number:
		return x.String()
	}
	return fmt.Sprint(v) // bool and the integers
}

// plainText is text that means itself in YAML without quotes, wherever it stands.
var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// words are texts that YAML takes for something else.
var words = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

func scalar(s string) string {
	if plainText.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return yamlfile.Quote(s)
}
