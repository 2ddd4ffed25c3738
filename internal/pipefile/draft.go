package pipefile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Sample is the data that a draft is made from.
type Sample struct {
	Name    string   // of the data, as the user named it
	Dir     string   // of the pipeline file: names in it are taken from here
	Sources []Source // the files, as seen from the working directory
	Schema  *schema.Schema
	First   schema.Value // a row, as a struct; Missing where there is none
}

// Draft returns the text of a first pipeline for the data: a guess, with comments that say so.
func Draft(d *Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A pipeline for %s; 'rlprep run THIS --dry-run' shows what it does, 'rlprep list transforms' the steps that there are.\n", escape.Text(filepath.ToSlash(d.Name)))
	b.WriteString("# The columns, as they are now:\n")
	for _, c := range d.Schema.Fields {
		fmt.Fprintf(&b, "#   %s\n", escape.Text(schema.Cut(c.String(), 120)))
	}
	writeSources(&b, d)
	if text := knownForm(d.Schema, d.First); text != "" {
		b.WriteString(text)
	} else {
		writeSteps(&b, like(d.Schema, d.First))
	}
	return b.String()
}

// A likeness is what the columns of a dataset look like.
type likeness struct {
	question, answer, messages, extract string
	source, index                       bool
}

// names that people give to questions and answers, the likeliest first.
var (
	questionNames = []string{"question", "problem", "prompt", "query", "instruction", "input", "text"}
	answerNames   = []string{"answer", "solution", "ground_truth", "final_answer", "response", "output", "target", "label"}
	messagesNames = []string{"messages", "conversations", "prompt", "conversation"}
)

// like tells what the columns look like.
func like(s *schema.Schema, row schema.Value) likeness {
	var l likeness
	pick := func(names []string, is func(schema.Field) bool) string {
		for _, n := range names {
			if f, i := s.Column(n); i >= 0 && is(f) {
				return n
			}
		}
		return ""
	}
	plain := func(f schema.Field) bool {
		return f.Type.Kind == schema.Text || f.Type.Kind == schema.Int || f.Type.Kind == schema.Float
	}
	l.messages = pick(messagesNames, func(f schema.Field) bool {
		if f.Type.Kind != schema.List || f.Type.Fields[0].Type.Kind != schema.Struct {
			return false
		}
		_, i := f.Type.Fields[0].Type.Field("role")
		return i >= 0
	})
	l.question = pick(questionNames, func(f schema.Field) bool { return f.Type.Kind == schema.Text })
	l.answer = pick(slices.DeleteFunc(slices.Clone(answerNames), func(n string) bool { return n == l.question }), plain)
	if v := row.Field(l.answer); v.Kind() == schema.Text {
		switch {
		case strings.Contains(v.Text(), "#### "):
			l.extract = "gsm8k"
		case strings.Contains(v.Text(), `\boxed`):
			l.extract = "boxed"
		}
	}
	_, i := s.Column("data_source")
	l.source = i >= 0
	_, l.index = s.Lookup("extra_info.index")
	return l
}

func writeSources(b *strings.Builder, d *Sample) {
	b.WriteString("sources:\n")
	for _, s := range RelativeTo(d.Dir, d.Sources) {
		fmt.Fprintf(b, "  %s:\n", s.Split)
		for _, name := range s.Names {
			fmt.Fprintf(b, "    - %s\n", yamlfile.Quote(name))
		}
	}
}

// RelativeTo returns sources as a file in the folder dir names them.
func RelativeTo(dir string, sources []Source) []Source {
	out := slices.Clone(sources)
	for i := range out {
		out[i].Names = slices.Clone(out[i].Names)
		for j, name := range out[i].Names {
			if rel, err := filepath.Rel(dir, name); err == nil && !filepath.IsAbs(name) && !strings.Contains(name, "://") {
				name = rel
			}
			out[i].Names[j] = filepath.ToSlash(name)
		}
	}
	return out
}

func writeSteps(b *strings.Builder, l likeness) {
	b.WriteString("steps:\n")
	if !l.source {
		b.WriteString("  # what data_source is decides who scores the answers; 'rlprep explain RL203' lists what verl knows\n")
		b.WriteString("  - set: {path: data_source, value: my/dataset}\n")
	}
	b.WriteString("  # which agent loop runs the rows; without it the launch decides\n  # - set: {path: agent_name, value: tool_agent}\n")
	var drop []string
	switch {
	case l.messages != "" && l.messages != "prompt":
		fmt.Fprintf(b, "  # %s already contains messages; this removes everything after the last question\n  - prompt: {from: %s, through: user}\n", escape.Text(l.messages), columnPath(l.messages))
		drop = append(drop, columnPath(l.messages))
	case l.messages == "prompt":
		b.WriteString("  # prompt is a list of messages already\n")
	case l.question != "":
		fmt.Fprintf(b, "  # %s looks like the question\n  - prompt:\n      # system: You are a math expert.\n      user: %s\n", escape.Text(l.question), yamlfile.Quote("{{"+string(schema.Path("").Field(l.question))+"}}"))
		if l.question == "prompt" {
			b.WriteString("      if: replace\n")
		} else {
			drop = append(drop, columnPath(l.question))
		}
	default:
		b.WriteString("  # no column looks like the question: put its name between the braces\n  # - prompt: {user: \"{{question}}\"}\n")
	}
	b.WriteString("  - set: {path: reward_model.style, value: rule, if: replace}\n")
	switch {
	case l.answer != "" && l.extract != "":
		fmt.Fprintf(b, "  # %s has the ground truth in it: see 'rlprep explain extract' for other ways to find it\n", escape.Text(l.answer))
		fmt.Fprintf(b, "  - extract: {from: %s, to: reward_model.ground_truth, method: %s}\n", columnPath(l.answer), l.extract)
		drop = append(drop, columnPath(l.answer))
	case l.answer != "":
		fmt.Fprintf(b, "  # %s looks like the ground truth; scorers compare text\n  - format: {path: reward_model.ground_truth, template: %s}\n", escape.Text(l.answer), yamlfile.Quote("{{"+string(schema.Path("").Field(l.answer))+"}}"))
		drop = append(drop, columnPath(l.answer))
	default:
		b.WriteString("  # no column looks like the answer: name it in from\n  # - copy: {from: answer, to: reward_model.ground_truth}\n")
	}
	b.WriteString("  - set: {path: extra_info.split, value: \"${split}\", if: replace}\n")
	if !l.index {
		b.WriteString("  # leads from a rollout trace back to the row\n  - index\n")
	}
	if len(drop) > 0 {
		fmt.Fprintf(b, "  - drop: [%s]\n", strings.Join(drop, ", "))
	}
	fmt.Fprintf(b, "contract:\n  rows: %s\n  target: %s\n", rule.RL, rule.DefaultTarget())
	if !l.source {
		b.WriteString("  # values of data_source that a reward function of yours scores\n  known_sources: [my/dataset]\n")
	}
	b.WriteString("output:\n  shards: 1\n  compression: zstd\n")
}

// columnPath is a column's name as a path, as YAML takes it in a flow mapping.
func columnPath(name string) string {
	p := string(schema.Path("").Field(name))
	if strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && p != "" && (p[0] < '0' || p[0] > '9') {
		return p
	}
	return yamlfile.Quote(p)
}
