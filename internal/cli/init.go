package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

func newInit(a *app) *cobra.Command {
	var out string
	var force bool
	var limits readLimits
	cmd := &cobra.Command{
		Use:   "init [pipeline FILE]",
		Short: "write a first rlprep.yaml, or a first pipeline for a data file",
		Long: `Without arguments it looks for training, validation and test data here and in the folders below, and writes rlprep.yaml:
the data sets that 'rlprep lint' then checks, and what else it may say as comments.

With 'pipeline FILE' it looks at a data file (a folder or a glob too) and writes a pipeline for it: which column looks like
the question, which like the answer, where the ground truth may be found. Both are a beginning: read them.`,
		Example: `  rlprep init
  rlprep init pipeline raw/train.jsonl
  rlprep init pipeline train.parquet --out -`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var text string
			switch {
			case len(args) == 0:
				out = cmp.Or(out, project.FileName)
				text, err = firstProject(a, ".")
			case args[0] != "pipeline":
				return unknown("thing to begin", args[0], []string{"pipeline"})
			default:
				if err := exactArgs("pipeline", "FILE")(cmd, args); err != nil {
					return err
				}
				out = cmp.Or(out, "pipeline.yaml")
				text, err = firstPipeline(cmd.Context(), a, args[1], filepath.Dir(out), &limits)
			}
			if err != nil {
				return err
			}
			return begin(cmd.Context(), a, out, text, force)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; -: standard output (default rlprep.yaml, pipeline.yaml)")
	limits.register(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "write over a file that is there")
	return cmd
}

// begin writes text to the file out, which must not be there unless force is given, or to standard output.
func begin(ctx context.Context, a *app, out, text string, force bool) error {
	if out == "-" {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	if err := a.writesFile("--out", out); err != nil {
		return err
	}
	if _, err := os.Lstat(out); err == nil && !force {
		return usagef("%s exists: name another file with --out, or give --force", out)
	}
	return output.WriteNamed(ctx, out, []byte(text))
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

// firstPipeline looks at the data that name names and returns a pipeline for it, whose own folder is dir.
func firstPipeline(ctx context.Context, a *app, name, dir string, limits *readLimits) (string, error) {
	set, err := a.resolve(ctx, "FILE", source.Spec{Args: []string{name}, Stdin: a.stdin, Limits: limits.limits()})
	if err != nil {
		return "", asInput(err)
	}
	defer set.Close()
	if len(set.Files()) == 0 {
		return "", usagef("%s: no data in it", name)
	}
	f := set.Files()[0]
	row, err := firstRow(ctx, f)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# A pipeline for %s; 'rlprep run THIS --dry-run' shows what it does, 'rlprep list transforms' the steps that there are.\n", escape.Text(filepath.ToSlash(name)))
	b.WriteString("# The columns, as they are now:\n")
	for _, c := range f.Schema.Fields {
		fmt.Fprintf(&b, "#   %s\n", escape.Text(schema.Cut(c.String(), 120)))
	}
	writeSources(&b, set, dir)
	writeSteps(&b, like(f.Schema, row))
	return b.String(), nil
}

// firstRow is the first row of a file as a struct; Missing where there is none.
func firstRow(ctx context.Context, f *source.File) (schema.Value, error) {
	var all []int
	for i := range f.Schema.Leaves() {
		all = append(all, i)
	}
	units := f.Units(0)
	if len(units) == 0 {
		return schema.Value{}, nil
	}
	r, err := f.Open(ctx, units[0], all)
	if err != nil {
		return schema.Value{}, err
	}
	defer r.Close()
	batch, err := r.Next(ctx, 1)
	if err == io.EOF {
		return schema.Value{}, nil
	}
	if err != nil {
		return schema.Value{}, err
	}
	batch.Schema = f.Schema
	return batch.RowValue(0), nil
}

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

func writeSources(b *strings.Builder, set *source.Set, dir string) {
	b.WriteString("sources:\n")
	for _, s := range set.Splits {
		fmt.Fprintf(b, "  %s:\n", s.Name)
		for _, f := range s.Files {
			name := f.Name
			if rel, err := filepath.Rel(dir, name); err == nil && !filepath.IsAbs(name) {
				name = rel
			}
			fmt.Fprintf(b, "    - %s\n", quoted(filepath.ToSlash(name)))
		}
	}
}

// quoted writes text as YAML takes it whatever is in it, safe to show.
func quoted(s string) string { return string(escape.JSON(schema.AppendQuoted(nil, s))) }

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
		fmt.Fprintf(b, "  # %s looks like messages already; what follows the last question is left out\n  - prompt: {from: %s, through: user}\n", escape.Text(l.messages), columnPath(l.messages))
		drop = append(drop, columnPath(l.messages))
	case l.messages == "prompt":
		b.WriteString("  # prompt is a list of messages already\n")
	case l.question != "":
		fmt.Fprintf(b, "  # %s looks like the question\n  - prompt:\n      # system: You are a math expert.\n      user: %s\n", escape.Text(l.question), quoted("{{"+string(schema.Path("").Field(l.question))+"}}"))
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
		fmt.Fprintf(b, "  # %s looks like the ground truth; scorers compare text\n  - format: {path: reward_model.ground_truth, template: %s}\n", escape.Text(l.answer), quoted("{{"+string(schema.Path("").Field(l.answer))+"}}"))
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
	return quoted(p)
}
