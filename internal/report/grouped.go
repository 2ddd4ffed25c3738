package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A cause with more rows or files than these is printed as one block.
const (
	maxSingleRows  = 3
	maxSingleFiles = 1
)

// Limits of what a block shows.
const (
	maxBlockFiles  = 3
	maxBlockSpans  = 5
	maxBlockValues = 3
)

var _ = add(Format{Name: "grouped", Place: 1, For: "people (the default)", Entry: "a block for each cause that more than one file or three rows share: rule, level, files, rows, what was found, values, what to do (`fix:`, `help:`); at the end a table by rule", write: writeGrouped})

// writeGrouped is for people: findings of one cause are one block where more than one file or three rows have it, and lines as those of full
// elsewhere. A table by rule and a tally end it.
func writeGrouped(w io.Writer, r *result) error {
	var b bytes.Buffer
	p := painter{&b, r.Color}
	causes := r.merged(r.causes())
	blocks := 0
	for _, c := range causes {
		if c.files() > maxSingleFiles || c.count > maxSingleRows {
			p.block(r, c)
			blocks++
			continue
		}
		for _, e := range c.groups {
			p.entry(e)
		}
	}
	if blocks > 0 && len(causes) > 1 {
		b.WriteByte('\n')
		if err := writeStatistics(&b, r); err != nil {
			return err
		}
	}
	p.paint(bold, "%s", r.tally())
	b.WriteString(r.fixable() + "\n")
	_, err := w.Write(b.Bytes())
	return err
}

// relative returns the groups with files below the working directory named from there.
func (r *result) relative() []group {
	here, err := os.Getwd()
	if err != nil {
		return r.groups
	}
	name := func(p *schema.Pos) {
		if rel, err := filepath.Rel(here, p.File); err == nil && filepath.IsAbs(p.File) && filepath.IsLocal(rel) {
			p.File = filepath.ToSlash(rel)
		}
	}
	out := slices.Clone(r.groups)
	for i := range out {
		g := &out[i]
		g.more = slices.Clone(g.more)
		for k := range g.more {
			g.more[k] = renamed(g.more[k], name)
		}
		g.Finding = renamed(g.Finding, name)
	}
	return out
}

// renamed returns f with name called for each of its positions.
func renamed(f rule.Finding, name func(*schema.Pos)) rule.Finding {
	name(&f.Pos)
	f.Related = slices.Clone(f.Related)
	for i := range f.Related {
		name(&f.Related[i])
	}
	return f
}

// A cause is what findings of one rule and level say in several files, of one column or of several that have the same findings.
type cause struct {
	groups []group // by file, in the order of files
	paths  []schema.Path
	count  int64
	same   bool // all say the same but for their values
	spread rule.Spread
}

// A causeKey is what findings of one cause have in common.
type causeKey struct {
	rule  *rule.Rule
	level rule.Level
	path  schema.Path
	text  string
}

// particulars are the parts of a message that differ between findings of one cause.
var particulars = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S*/\S*|\S+\.(?:parquet|jsonl?)\b|[0-9][0-9.,]*`)

// causes gathers the groups by cause, in the order of the first of each.
func (r *result) causes() []*cause {
	var out []*cause
	by := map[causeKey]*cause{}
	for _, g := range r.relative() {
		text := message(g.Finding)
		k := causeKey{g.Rule, g.Level, g.Pos.Path, particulars.ReplaceAllString(text, "…")}
		c := by[k]
		if c == nil {
			c = &cause{same: true, paths: []schema.Path{g.Pos.Path}}
			by[k] = c
			out = append(out, c)
		} else if text != message(c.groups[0].Finding) {
			c.same = false
		}
		for _, f := range g.more {
			c.same = c.same && message(f) == text
		}
		c.groups = append(c.groups, g)
		c.count += g.count
		c.spread.Merge(rule.Spread{Values: g.spread.Values, ManyValues: g.spread.ManyValues})
	}
	return out
}

// merged joins causes that differ only in their column: of the same rule and text, in the same rows of the same files.
func (r *result) merged(causes []*cause) []*cause {
	var out []*cause
	by := map[string]*cause{}
	for _, c := range causes {
		first := c.groups[0].Finding
		k := fmt.Sprintf("%s %s %t %q %q %v", first.Rule.ID, first.Level, c.same, message(first), c.values(), r.places(c))
		if d := by[k]; d != nil && first.Pos.Path != "" && (c.files() > maxSingleFiles || c.count > maxSingleRows) {
			d.paths = append(d.paths, first.Pos.Path)
			continue
		}
		by[k] = c
		out = append(out, c)
	}
	return out
}

// message is what f says apart from its value.
func message(f rule.Finding) string {
	text := strings.TrimPrefix(f.Message, f.Value+": ")
	if value := strings.Trim(f.Value, `"`); value != "" && text == f.Message && hasWord(text, value) {
		text = strings.Replace(text, value, "…", 1)
	}
	return text
}

// files counts the files that the cause is in.
func (c *cause) files() int {
	n := 0
	for i, g := range c.groups {
		if i == 0 || g.Pos.File != c.groups[i-1].Pos.File {
			n++
		}
	}
	return n
}

// block prints a cause.
func (p painter) block(r *result, c *cause) {
	first := c.groups[0].Finding
	p.paint(bold, "%s %s", first.Rule.ID, first.Rule.Name)
	b := p.b
	b.WriteString("  ")
	p.paint(levelColor[first.Level], "%s", first.Level)
	fmt.Fprintf(b, "  %s", plural(int64(c.files()), "file"))
	if c.groups[0].Pos.Row >= 0 {
		fmt.Fprintf(b, ", %s", plural(c.count, "row"))
	}
	text, values := message(first), c.values()
	switch {
	case !c.same:
		text = "for example: " + first.Message
	case len(c.spread.Values) == 1 && c.spread.Values[0].Count == c.count:
		text, values = what(first), ""
	}
	if first.Pos.Path != "" {
		var names []string
		for _, path := range c.paths {
			names = append(names, string(path))
		}
		text = strings.Join(names, ", ") + ": " + text
	}
	fmt.Fprintf(b, "\n  %s\n", escape.Text(text))
	p.places(r.places(c))
	if len(first.Related) > 0 {
		p.paint(dim, "  for example:")
		fmt.Fprintf(b, " %s, and %s\n", where(first.Pos), where(first.Related[0]))
	}
	if values != "" {
		p.paint(dim, "  values:")
		fmt.Fprintf(b, " %s\n", escape.Text(values))
	}
	best := c.groups[0]
	if i := slices.IndexFunc(c.groups, func(g group) bool { return g.remedy != Remedy{} }); i >= 0 {
		best = c.groups[i]
	}
	p.remedy(best)
}

// A filesOfRows is the files in which a cause has the same rows, as text.
type filesOfRows struct {
	rows  string
	files []string
}

// places returns in which rows of which files a cause is, most files first. Files of which the rows are the same are together.
func (r *result) places(c *cause) []filesOfRows {
	var places []filesOfRows
	for _, g := range c.groups {
		rows := rowsText(g, r.rowsOf(g.Pos.File))
		at := slices.IndexFunc(places, func(x filesOfRows) bool { return x.rows == rows })
		if at < 0 {
			at = len(places)
			places = append(places, filesOfRows{rows: rows})
		}
		places[at].files = append(places[at].files, escape.Text(g.Pos.File))
	}
	slices.SortStableFunc(places, func(a, b filesOfRows) int { return cmp.Compare(len(b.files), len(a.files)) })
	return places
}

// places prints where a cause is.
func (p painter) places(places []filesOfRows) {
	for i, x := range places {
		if i == maxBlockFiles {
			rest := 0
			for _, y := range places[i:] {
				rest += len(y.files)
			}
			p.paint(dim, "  … %s", plural(int64(rest), "more file"))
			p.b.WriteByte('\n')
			return
		}
		shown := min(len(x.files), maxBlockFiles)
		names := strings.Join(x.files[:shown], ", ")
		if rest := len(x.files) - shown; rest > 0 {
			names += fmt.Sprintf(" and %s more", thousands(int64(rest)))
		}
		if x.rows != "" {
			names += ": " + x.rows
		}
		p.paint(dim, "  in:")
		fmt.Fprintf(p.b, " %s\n", names)
	}
}

// rowsOf returns how many rows a file has, by its name as it was given or relative to the working directory; 0: unknown.
func (r *result) rowsOf(file string) int64 {
	if rows, ok := r.FileRows[file]; ok {
		return rows
	}
	if abs, err := filepath.Abs(file); err == nil {
		return r.FileRows[abs]
	}
	return 0
}

// rowsText says which rows of a file with that many rows (0: unknown) a group is about: "all 100 rows", "rows 3-7, 9"; "" where it is about the
// file. In line formats the lines are said.
func rowsText(g group, rows int64) string {
	if g.Pos.Row < 0 {
		if g.Pos.Line >= 1 {
			return fmt.Sprintf("line %d", g.Pos.Line)
		}
		return ""
	}
	spans := g.spread.Spans
	if len(spans) == 1 && spans[0].From == 0 && spans[0].Rows() == rows && rows > 1 {
		return "all " + plural(rows, "row")
	}
	noun := "rows "
	if g.count == 1 {
		noun = "row "
	}
	return noun + spansText(spans, g.spread.Cut, maxBlockSpans)
}

// spansText returns "3-7, 9, …"; at most n spans.
func spansText(spans []rule.Span, cut bool, n int) string {
	var parts []string
	for i, s := range spans {
		if i == n {
			cut = true
			break
		}
		if s.From == s.To {
			parts = append(parts, fmt.Sprint(s.From))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", s.From, s.To))
	}
	if cut {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// values returns the most frequent values with their counts; "" where the findings have none.
func (c *cause) values() string {
	if c.spread.ManyValues {
		var parts []string
		for _, g := range c.groups {
			for _, f := range slices.Insert(slices.Clone(g.more), 0, g.Finding) {
				if len(parts) < maxBlockValues && f.Value != "" && !slices.Contains(parts, f.Value) {
					parts = append(parts, f.Value)
				}
			}
		}
		return strings.Join(parts, ", ") + fmt.Sprintf(", … (more than %d different values)", rule.MaxValues)
	}
	values := slices.Clone(c.spread.Values)
	slices.SortFunc(values, func(a, b rule.ValueCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	var parts []string
	for i, v := range values {
		if i == maxBlockValues {
			parts = append(parts, fmt.Sprintf("… %s more", plural(int64(len(values)-i), "value")))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", v.Value, thousands(v.Count)))
	}
	return strings.Join(parts, ", ")
}

// fixable says how many findings the remedies fix; "" where there are none.
func (r *result) fixable() string {
	var safe, unsafe int64
	for _, g := range r.groups {
		switch {
		case !g.remedy.Fixes:
		case g.remedy.Unsafe:
			unsafe += g.count
		default:
			safe += g.count
		}
	}
	var parts []string
	if safe > 0 {
		parts = append(parts, thousands(safe)+" fixable with --fix")
	}
	if unsafe > 0 {
		parts = append(parts, thousands(unsafe)+" with --fix --unsafe-fixes")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}
