package catalog

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Explain returns what explains name: a function that prints it and its object for JSON; nil where there is none.
func Explain(name string) (text func(io.Writer), object any) {
	if r := rule.Find(name); r != nil {
		return func(w io.Writer) { explainRule(w, r) }, NewRule(r)
	}
	if r := datasets.Find(name); r != nil {
		return func(w io.Writer) { explainRecipe(w, r) }, NewRecipe(r)
	}
	if v := transform.Find(name); v != nil {
		return func(w io.Writer) { explainTransform(w, v) }, NewTransform(v)
	}
	return nil, nil
}

// Names returns every name that explain knows.
func Names() (names []string) {
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
	d := NewRule(r)
	fmt.Fprintf(w, "%s %s (%s)\n%s\n", r.ID, r.Name, d.Level, r.Title)
	section(w, "", r.Doc)
	var holds strings.Builder
	for i, h := range d.Applies {
		fmt.Fprintf(&holds, "%s: %s\n", h.Where(r.Framework, i), h.Level)
		if h.Consequence != "" {
			fmt.Fprintf(&holds, "  %s\n", h.Consequence)
		}
	}
	section(w, "WHERE IT APPLIES", holds.String())
	for _, e := range d.Examples {
		explainExample(w, e)
	}
	section(w, "HOW TO FIX IT", strings.Join(FixLines(d), "\n"))
	section(w, "READ IN", strings.Join(d.Cites, "\n"))
	section(w, "MORE", d.HelpURL)
}

// FixLines says what fixes what a rule finds: a command of one's own choice, what 'lint --fix' does, and what it leaves.
func FixLines(d Rule) (lines []string) {
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

func explainExample(w io.Writer, e RuleExample) {
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
	section(w, e.Heading(), b.String())
}

func explainRecipe(w io.Writer, r *datasets.Recipe) {
	fmt.Fprintf(w, "%s\n%s\n", r.Name, r.Title)
	section(w, "", r.Doc)
	section(w, "SPLITS", strings.Join(r.Splits, ", "))
	d := NewRecipe(r)
	section(w, "SOURCE, IF NONE IS NAMED", strings.Join(SourceLines(d.Sources), "\n"))
	section(w, "READS", strings.Join(ReadsLines(d.Inputs), "\n"))
	section(w, "PARAMETERS (--param NAME=VALUE)", strings.Join(ParamLines(d), "\n"))
	section(w, "ITS STEPS, AS IN A PIPELINE FILE ('rlprep init pipeline --from "+r.Name+"' writes one)", d.Steps)
	var expects strings.Builder
	for _, id := range r.Expects {
		expects.WriteString(RuleLine(id) + "\n")
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

// SourceLines returns a line for each source: its address, after its key where it has one.
func SourceLines(sources []Source) (lines []string) {
	for _, s := range sources {
		switch {
		case s.Hub == "":
		case s.Key == "":
			lines = append(lines, s.Hub)
		default:
			lines = append(lines, s.Key+": "+s.Hub)
		}
	}
	return lines
}

// ParamLines returns a line for each parameter, with its default, and one for the seed.
func ParamLines(d Recipe) (lines []string) {
	for _, p := range d.Params {
		lines = append(lines, fmt.Sprintf("%s: %s (default %d)", p.Name, p.Doc, p.Default))
	}
	if d.Seed != nil {
		lines = append(lines, fmt.Sprintf("--seed: of the random draws (default %d)", *d.Seed))
	}
	return lines
}

// ReadsLines returns a line for each split and its columns: "train: a.parquet, b.jsonl (question: string)".
func ReadsLines(inputs []Input) (lines []string) {
	for i := 0; i < len(inputs); {
		in := inputs[i]
		var globs []string
		for i < len(inputs) && inputs[i].Split == in.Split && slices.Equal(inputs[i].Columns, in.Columns) {
			globs = append(globs, inputs[i].Glob)
			i++
		}
		line := fmt.Sprintf("%s: %s", in.Split, strings.Join(globs, ", "))
		if len(in.Columns) > 0 {
			line += " (" + strings.Join(in.Columns, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// RuleLine is a rule on one line; the id where there is no such rule.
func RuleLine(id string) string {
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
