package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
)

// Print writes the report for a reader. All: also the facts that nothing sets and that rarely matter.
func (r *Report) Print(w io.Writer, all bool) {
	if len(r.Commands)+len(r.Assumed) == 0 && r.Effective == nil {
		escape.Fprintf(w, "%s: calls none of python, torchrun, ray, srun, sbatch, accelerate\n", r.Launch)
	}
	printCommands(w, r.Commands, "")
	if r.Missing != "" {
		escape.Fprintf(w, "%s: %s; with placeholders it calls:\n", r.Launch, r.Missing)
		printCommands(w, r.Assumed, " (assumed)")
	}
	if r.Effective != nil {
		for _, e := range append([]*Training{r.Effective}, r.Further...) {
			escape.Fprintln(w)
			e.print(w, r.Launch, all)
		}
	}
	for _, n := range r.Notes {
		escape.Fprintf(w, "note: %s\n", n)
	}
	if r.Lint != nil {
		escape.Fprintf(w, "\nlint: %s\n", r.Lint)
	}
}

// String says how many problems there are, and which command shows them: "2 errors, 1 warning: rlprep lint --config run.sh".
func (l *Lint) String() string {
	if l.Failed != "" {
		return "not checked: " + l.Failed
	}
	var parts []string
	for _, level := range []struct {
		n    int64
		name string
	}{{l.Errors, "error"}, {l.Warnings, "warning"}, {l.Infos, "info"}, {int64(l.Unread), "unreadable file"}} {
		if level.n > 0 {
			parts = append(parts, amount.Of(int(level.n), level.name))
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "no problems"
	}
	if l.FootersOnly {
		text += " in the launch and the footers of its data (the rows were not read)"
	}
	if l.Command != "" && (len(parts) > 0 || l.FootersOnly) {
		text += ": " + l.Command
	}
	return text
}

func printCommands(w io.Writer, commands []Command, mark string) {
	for _, c := range commands {
		at := ""
		if c.File != "" {
			at = fmt.Sprintf("%s:%d: ", c.File, c.Line)
		}
		words := slices.DeleteFunc(slices.Clone(c.Argv), func(a string) bool { return strings.Contains(a, "=") && !strings.HasPrefix(a, "-") })
		text := strings.Join(words, " ")
		if len(text) > 120 {
			text = strings.ToValidUTF8(text[:120], "") + "…"
		}
		if c.Carrier != "" {
			mark = " (carried by " + c.Carrier + ")" + mark
		}
		escape.Fprintf(w, "%s%s: %d overrides%s\n", at, text, len(c.Overrides), mark)
		for _, e := range c.Errors {
			escape.Fprintf(w, "  %s\n", e)
		}
	}
}

// print shows the facts by their groups. With all it also shows those that nothing sets and that rarely matter. A fact that the launch itself sets
// has its line number.
func (e *Training) print(w io.Writer, name string, all bool) {
	if e.Module != "" {
		escape.Fprintf(w, "%s on %s\n", e.Module, e.Target)
	} else {
		escape.Fprintf(w, "on %s\n", e.Target)
	}
	width, most := 0, 0
	names := slices.DeleteFunc(slices.Clone(e.names), func(n string) bool {
		return !all && e.minor[n] && strings.HasPrefix(e.Facts[n].From, "default")
	})
	for _, name := range names {
		width = max(width, len(name))
		if n := len(e.Facts[name].shown()); n <= 44 {
			most = max(most, n)
		}
	}
	group := ""
	for _, fact := range names {
		if g := e.groups[fact]; g != group {
			group = g
			escape.Fprintf(w, "%s\n", g)
		}
		v := e.Facts[fact]
		note := ""
		if v.Note != "" {
			note = ": " + v.Note
		}
		from := v.From
		if v.File == name && v.Line > 0 {
			from = strings.TrimPrefix(from, name)
		}
		escape.Fprintf(w, "  %-*s  %-*s  %s%s\n", width, fact, most, v.shown(), from, note)
	}
	for _, p := range e.Problems {
		escape.Fprintf(w, "  problem: %s\n", p)
	}
	for _, n := range e.Notes {
		escape.Fprintf(w, "  note: %s\n", n)
	}
}

// shown is a fact's value on one line.
func (v Value) shown() string {
	if text := v.text(); text != "null" || v.Note == "" {
		return text
	}
	return "unknown"
}

// text is a value on one line: a text without quotes.
func (v Value) text() string {
	raw, ok := v.Value.(json.RawMessage)
	if !ok {
		b, err := json.Marshal(v.Value)
		if err != nil {
			return fmt.Sprint(v.Value)
		}
		raw = b
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" && s == strings.TrimSpace(s) {
		return s
	}
	return string(raw)
}
