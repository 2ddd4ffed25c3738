package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = add(Format{Name: "github", Place: 7, For: "GitHub Actions", Entry: "a workflow command, which becomes an annotation", write: writeGitHub})

// writeGitHub is workflow commands, which GitHub Actions turns into annotations. It shows ten errors and ten warnings a step,
// so it matters that there is one for each rule, file and column.
//
// GitHub shows an annotation in the diff only at a line of a text file. A line format has lines. A binary file has none, so
// its annotations stand at the file that the user names for that (Options.Anchor: a dataset card, a config), else at the
// DVC pointer beside the file, else at line 1 of the file itself, which shows in the summary of the checks. The text says
// the row and column in any case.
func writeGitHub(w io.Writer, r *result) error {
	commands := map[rule.Level]string{rule.Error: "error", rule.Warning: "warning", rule.Info: "notice"}
	var b bytes.Buffer
	for _, e := range r.groups {
		file, line := anchor(e.Pos, r.Anchor)
		text := where(e.Pos) + ": " + what(e.Finding)
		if n := counted(e); n != "" {
			text += " " + n
		}
		text += "\n" + strings.Join(e.remedyLines(), "\n") + "\n" + HelpURL(e.Rule)
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", commands[e.Level],
			property(escape.Text(fromRoot(file, r.Root))), line, property(e.Rule.ID+" "+e.Rule.Name), data(text))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// anchor returns the file and line at which an annotation about p is shown.
func anchor(p schema.Pos, named string) (file string, line int64) {
	if p.Line >= 1 {
		return p.File, p.Line
	}
	if named != "" {
		return named, 1
	}
	if pointer := p.File + ".dvc"; isFile(pointer) {
		return pointer, 1
	}
	return p.File, 1
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// fromRoot returns file as seen from root, with slashes: what a CI system looks up in the repository. A file outside, or without
// a root, stays as it is named.
func fromRoot(file, root string) string {
	if root != "" {
		if abs, err := filepath.Abs(file); err == nil {
			if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
				file = rel
			}
		}
	}
	return filepath.ToSlash(filepath.Clean(file))
}

// data and property escape as workflow commands ask (actions/toolkit, packages/core/src/command.ts).
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
