package edit

import (
	"os"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// ParsePaths reads a list of paths, PATH[,PATH…]; a comma in quotes parts nothing.
func ParsePaths(arg string) ([]schema.Path, error) {
	var out []schema.Path
	for _, text := range SplitCommas(arg) {
		p, err := schema.ParsePath(text)
		if err != nil {
			return nil, &misuse.Error{Err: err}
		}
		if slices.Contains(out, p) {
			return nil, misuse.Errorf("path %q is repeated", p)
		}
		out = append(out, p)
	}
	return out, nil
}

// SplitCommas cuts s at its commas, but for those in double quotes.
func SplitCommas(s string) []string {
	var out []string
	for {
		before, after, ok := CutUnquoted(s, ',')
		out = append(out, before)
		if !ok {
			return out
		}
		s = after
	}
}

// CutUnquoted is strings.Cut at the first sep that does not stand in double quotes.
func CutUnquoted(s string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// Editable returns a *misuse.Error where the files of set are none that command, by its name, can edit: Parquet files of this machine.
func Editable(set *source.Set, command string) error {
	for _, f := range set.Files() {
		switch {
		case f.Format != "parquet":
			return misuse.Errorf("%s: %s takes Parquet files only; for %s use 'rlprep run'", f.Name, command, f.Format)
		case f.Name == "-" || f.Name == "<stdin>":
			return misuse.Errorf("%s reads files, not standard input: name one", command)
		}
	}
	if len(set.Files()) == 0 {
		return misuse.Errorf("no files: name the Parquet files to edit")
	}
	return nil
}

// ParseHFPolicy reads the value of --hf-metadata. The error is a *misuse.Error.
func ParseHFPolicy(text string) (parquetio.HFPolicy, error) {
	switch text {
	case "auto":
		return parquetio.HFAuto, nil
	case "strip":
		return parquetio.HFStrip, nil
	case "keep":
		return parquetio.HFKeep, nil
	}
	return 0, misuse.Errorf("unknown --hf-metadata %q (auto, strip, keep)", text)
}

// NotFile returns a *misuse.Error where arg, which is read as an edit, is also the name of a file. what is how help writes the edit.
func NotFile(arg, what string) error {
	if _, err := os.Lstat(arg); err == nil {
		return misuse.Errorf("%q is a file, but %s is expected here: write ./%s for the file", arg, what, arg)
	}
	return nil
}

// IsFileName reports whether an argument can only be the name of a file.
func IsFileName(arg string) bool {
	return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || strings.HasPrefix(arg, "/") || arg == "-"
}
