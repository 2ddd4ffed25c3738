package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
)

// maxTable is how many entries a table shows: GitHub drops a summary above 1 MiB and takes comments of 64 KiB.
const maxTable = 200

var _ = add(Format{Name: "markdown", Place: 4, For: "comments, pages", Entry: "a row of a table; 200 at most", write: writeMarkdown})

// writeMarkdown is a table for a comment or a page; $GITHUB_STEP_SUMMARY gets the same.
func writeMarkdown(w io.Writer, r *result) error {
	_, err := io.WriteString(w, markdown(r))
	return err
}

// markdown says what was found, with a table of the first maxTable entries.
func markdown(r *result) string {
	var b strings.Builder
	targets := make([]string, len(r.Targets))
	for i, t := range r.Targets {
		targets[i] = t.String()
	}
	fmt.Fprintf(&b, "### rlprep: %s\n\nChecked against %s.\n", r.tally(), strings.Join(targets, ", "))
	if len(r.groups) == 0 {
		return b.String()
	}
	b.WriteString("\n| level | rule | file | row | column | what | findings |\n|---|---|---|---:|---|---|---:|\n")
	for i, e := range r.groups {
		if i == maxTable {
			fmt.Fprintf(&b, "\n… %s more\n", thousands(int64(len(r.groups)-i)))
			break
		}
		row := ""
		if e.Pos.Row >= 0 {
			row = fmt.Sprint(e.Pos.Row)
		}
		fmt.Fprintf(&b, "| %s | [%s](%s) %s | %s | %s | %s | %s | %s |\n", e.Level, e.Rule.ID, HelpURL(e.Rule), e.Rule.Name,
			cell(e.Pos.File), row, cell(string(e.Pos.Path)), cell(what(e.Finding)), thousands(e.count))
	}
	return b.String()
}

// cell returns s as text in a Markdown table: nothing in it is markup.
func cell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "#", `\#`, "@", "&#64;").Replace(escape.Text(s))
}
