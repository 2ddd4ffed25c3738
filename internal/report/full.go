package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema/rule"
)

// The few colours that full uses.
const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	cyan   = "36"
	dim    = "2"
)

var levelColor = map[rule.Level]string{rule.Error: red, rule.Warning: yellow, rule.Info: cyan}

var _ = add(Format{Name: "full", Place: 2, For: "people", Entry: "up to three findings of a rule, file and column, then the rows of the others, then what to do (`fix:`, `help:`)", write: writeFull})

// writeFull is for people: the first MaxShown findings of a kind a file, each on a line that begins with its position, the rows of the others,
// how to fix them, and a tally at the end.
func writeFull(w io.Writer, r *result) error {
	var b bytes.Buffer
	p := painter{&b, r.Color}
	for _, e := range r.relative() {
		p.entry(e)
	}
	p.paint(bold, "%s", r.tally())
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// A painter writes text, coloured or not.
type painter struct {
	b     *bytes.Buffer
	color bool
}

func (p painter) paint(sgr, format string, args ...any) {
	if !p.color {
		fmt.Fprintf(p.b, format, args...)
		return
	}
	fmt.Fprintf(p.b, "\x1b["+sgr+"m"+format+"\x1b[0m", args...)
}

func (p painter) entry(e group) {
	shown := int64(0)
	for _, f := range append([]rule.Finding{e.Finding}, e.more...) {
		if shown == MaxShown {
			break
		}
		p.finding(f)
		shown++
	}
	if rest := e.count - shown; rest > 0 {
		p.paint(dim, "%s: … %s more %s%s", escape.Text(e.Pos.File), thousands(rest), tag(e.Finding), e.allRows())
		p.b.WriteByte('\n')
	}
	p.remedy(e)
}

// remedy prints what to do about e.
func (p painter) remedy(e group) {
	for _, line := range e.remedyLines() {
		label, text, _ := strings.Cut(line, " ")
		p.paint(cyan, "  %s", label)
		fmt.Fprintf(p.b, " %s\n", text)
	}
}

// allRows returns ", in rows 0-99, 120 in all": the rows of all findings of e, "" where they are about no row. It says where MaxSpans has cut them.
func (e group) allRows() string {
	if len(e.spread.Spans) == 0 {
		return ""
	}
	text := ", all in rows " + spansText(e.spread.Spans, false, rule.MaxSpans)
	if e.spread.Cut {
		text += fmt.Sprintf(" and more (cut after %d ranges)", rule.MaxSpans)
	}
	return text
}

func (p painter) finding(f rule.Finding) {
	p.paint(bold, "%s", where(f.Pos))
	fmt.Fprintf(p.b, ": %s ", what(f))
	p.paint(levelColor[f.Level], "%s", tag(f))
	p.b.WriteByte('\n')
	for i, at := range f.Related {
		if i == MaxShown {
			fmt.Fprintf(p.b, "  also: … %s more\n", thousands(int64(len(f.Related)-i)))
			break
		}
		fmt.Fprintf(p.b, "  also: %s\n", where(at))
	}
}

var _ = add(Format{Name: "concise", Place: 3, For: "grep, editors", Entry: "a line: `file: row N: column: message [RL301 agent-name-null]`, `(2,117 rows)` where there are more", write: writeConcise})

// writeConcise is one line an entry, for grep and for editors.
func writeConcise(w io.Writer, r *result) error {
	var b bytes.Buffer
	for _, e := range r.groups {
		fmt.Fprintf(&b, "%s: %s %s", where(e.Pos), what(e.Finding), tag(e.Finding))
		if n := counted(e); n != "" {
			b.WriteString(" " + n)
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}
