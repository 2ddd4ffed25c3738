package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

func newExplain(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "explain a rule, a recipe or a transform",
		Long: `Explains a rule (by id or name), a recipe or a transform: what it does, what the trainer does with such data and in
which versions, examples that the tests run, and how to fix what a rule finds.`,
		Example: `  rlprep explain RL301
  rlprep explain agent-name-null --json
  rlprep explain gsm8k`,
		Args:        exactArgs("NAME"),
		Annotations: exits(ExitClean, ExitUsage),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, object := explanation(args[0])
			switch {
			case text == nil:
				return unknown("rule, recipe or transform", args[0], explainable())
			case asJSON:
				return printJSON(a.stdout, object)
			}
			text(a.stdout)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object")
	return cmd
}

// explanation returns what explains name: a function that prints it and its object for JSON; nil where there is none.
func explanation(name string) (text func(io.Writer), object any) {
	if r := rule.Find(name); r != nil {
		return func(w io.Writer) { explainRule(w, r) }, describeRule(r)
	}
	if r := datasets.Find(name); r != nil {
		return func(w io.Writer) { explainRecipe(w, r) }, describeRecipe(r)
	}
	if v := transform.Find(name); v != nil {
		return func(w io.Writer) { explainTransform(w, v) }, describeTransform(v)
	}
	return nil, nil
}

// explainable returns every name that explain knows.
func explainable() (names []string) {
	for _, r := range datasets.All() {
		names = append(names, r.Name)
	}
	for _, v := range transform.All() {
		names = append(names, v.Name)
	}
	for _, r := range rule.All() {
		names = append(names, r.ID, r.Name)
	}
	return names
}

func explainRule(w io.Writer, r *rule.Rule) {
	d := describeRule(r)
	fmt.Fprintf(w, "%s %s (%s)\n%s\n", r.ID, r.Name, d.Level, r.Title)
	section(w, "", r.Doc)
	var holds strings.Builder
	for i, h := range d.Applies {
		fmt.Fprintf(&holds, "%s: %s\n", h.where(r.Framework, i), h.Level)
		if h.Consequence != "" {
			fmt.Fprintf(&holds, "  %s\n", h.Consequence)
		}
	}
	section(w, "WHERE IT APPLIES", holds.String())
	for _, e := range d.Examples {
		explainExample(w, e)
	}
	section(w, "HOW TO FIX IT", strings.Join(fixLines(d), "\n"))
	section(w, "READ IN", strings.Join(d.Cites, "\n"))
	section(w, "MORE", d.HelpURL)
}

// fixLines says what fixes what a rule finds: a command of one's own choice, what 'lint --fix' does, and what it leaves.
func fixLines(d ruleInfo) (lines []string) {
	if d.Manual != "" {
		lines = append(lines, "rlprep "+d.Manual+" --in-place FILE…")
	}
	for _, f := range d.Fixes {
		lines = append(lines, "lint "+f.String())
	}
	switch {
	case len(d.Fixes) == 0:
		lines = append(lines, "lint --fix leaves it: "+d.Unfixed)
	case d.Unfixed != "":
		lines = append(lines, "left: "+d.Unfixed)
	}
	return lines
}

func explainExample(w io.Writer, e ruleExample) {
	var b strings.Builder
	for i, rows := range e.Files {
		if len(e.Files) > 1 {
			fmt.Fprintf(&b, "file %d:\n", i)
		}
		b.WriteString(strings.TrimRight(rows, "\n") + "\n")
	}
	for i, rows := range e.Val {
		fmt.Fprintf(&b, "validation file %d:\n%s\n", i, strings.TrimRight(rows, "\n"))
	}
	if e.Schema != "" {
		fmt.Fprintf(&b, "types: %s\n", e.Schema)
	}
	if e.Launch != "" {
		fmt.Fprintf(&b, "launch:\n%s\n", e.Launch)
	}
	for _, f := range e.Found {
		fmt.Fprintf(&b, "=> found: %s\n", f)
	}
	section(w, e.heading(), b.String())
}

func explainRecipe(w io.Writer, r *datasets.Recipe) {
	fmt.Fprintf(w, "%s\n%s\n", r.Name, r.Title)
	section(w, "", r.Doc)
	section(w, "SPLITS", strings.Join(r.Splits, ", "))
	section(w, "SOURCE, IF NONE IS NAMED", r.Source)
	section(w, "READS", strings.Join(readsLines(describeRecipe(r).Inputs), "\n"))
	var expects strings.Builder
	for _, id := range r.Expects {
		expects.WriteString(ruleLine(id) + "\n")
	}
	section(w, "KNOWN TO RAISE (AS WARNINGS)", expects.String())
	for _, e := range r.Examples {
		title := "EXAMPLE"
		if e.Split != "" {
			title += " (" + e.Split + ")"
		}
		section(w, title, inOut(e.In, e.Out))
	}
}

// readsLines returns a line for each split and its columns: "train: a.parquet, b.jsonl (question: string)".
func readsLines(inputs []inputInfo) (lines []string) {
	for i := 0; i < len(inputs); {
		in := inputs[i]
		var globs []string
		for i < len(inputs) && inputs[i].Split == in.Split && slices.Equal(inputs[i].Columns, in.Columns) {
			globs = append(globs, inputs[i].Glob)
			i++
		}
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", in.Split, strings.Join(globs, ", "), strings.Join(in.Columns, ", ")))
	}
	return lines
}

func ruleLine(id string) string {
	if r := rule.Find(id); r != nil {
		return fmt.Sprintf("%s %s: %s", r.ID, r.Name, r.Title)
	}
	return id
}

func explainTransform(w io.Writer, v *transform.Verb) {
	fmt.Fprintf(w, "%s\n%s\n", v.Name, v.Title)
	section(w, "", v.Doc)
	var args strings.Builder
	for _, a := range v.Args {
		need := ""
		if a.Required {
			need = ", required"
		}
		fmt.Fprintf(&args, "%s (%s%s): %s\n", a.Name, a.Type, need, a.Doc)
	}
	section(w, "ARGUMENTS", args.String())
	for _, e := range v.Examples {
		title := "EXAMPLE"
		if e.Title != "" {
			title += ": " + e.Title
		}
		text := inOut(e.In, e.Out)
		if e.Error != "" {
			text = strings.TrimRight(e.In, "\n") + "\n=> error: " + e.Error
		}
		if e.Args != "" {
			text = "with " + e.Args + "\n" + text
		}
		section(w, title, text)
	}
}

// inOut shows rows before and after.
func inOut(in, out string) string {
	return strings.TrimRight(in, "\n") + "\n=>\n" + strings.TrimRight(out, "\n")
}

// section writes text, indented under title where there is one; nothing where there is no text.
func section(w io.Writer, title, text string) {
	if text = strings.Trim(text, "\n"); text == "" {
		return
	}
	if title == "" {
		fmt.Fprintf(w, "\n%s\n", text)
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(line, "\n"))
	}
}
