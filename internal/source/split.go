package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A SplitArg is one split that a user or a recipe names, with the files that it has where Glob is not "".
type SplitArg struct {
	Name string
	Glob string
}

// ParseSplit reads what --split takes: "train", "train,test" or "train=GLOB".
func ParseSplit(s string) ([]SplitArg, error) {
	name, glob, isGlob := strings.Cut(s, "=")
	if isGlob {
		if !splitName.MatchString(name) && name != "" {
			return nil, fmt.Errorf("split %q: a split is named by letters, digits and underscores", name)
		}
		if name == "" || glob == "" {
			return nil, fmt.Errorf("split %q: expected NAME=GLOB, as train=data/train*.parquet", s)
		}
		return []SplitArg{{Name: name, Glob: glob}}, nil
	}
	var out []SplitArg
	for _, n := range strings.Split(s, ",") {
		if n = strings.TrimSpace(n); !splitName.MatchString(n) {
			return nil, fmt.Errorf("split %q: a split is named by letters, digits and underscores", n)
		}
		out = append(out, SplitArg{Name: n})
	}
	return out, nil
}

// The names of splits, and the words that stand for them in names of files and folders, are those of HF datasets
// (data_files.py, 00724a7d).
var (
	splitName = regexp.MustCompile(`^\w+(\.\w+)*$`)
	sharded   = regexp.MustCompile(`^data/([^/]+)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*$`)

	splitWords = []struct {
		split string
		words []string
	}{
		{"train", []string{"train", "training"}},
		{"validation", []string{"validation", "valid", "dev", "val"}},
		{"test", []string{"test", "testing", "eval", "evaluation"}},
	}
)

// splitRank orders splits: train, validation, test, then others by name.
func splitRank(name string) int {
	for i, s := range splitWords {
		if s.split == name {
			return i
		}
	}
	return len(splitWords)
}

// canonical returns the split that a word stands for: "validation" for "val"; the word itself where it stands for none.
func canonical(word string) string {
	for _, s := range splitWords {
		if slices.Contains(s.words, word) {
			return s.split
		}
	}
	return word
}

// wordIn reports whether word stands in name on its own: between the ends, digits and any of "-._ ". At the end of a file's
// name there is always a suffix, so there the end does not count.
func wordIn(name, word string, atEnd bool) bool {
	isSep := func(c byte) bool { return strings.IndexByte("-._ 0123456789", c) >= 0 }
	for from := 0; ; {
		i := strings.Index(name[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || isSep(name[i-1])) && (end == len(name) && atEnd || end < len(name) && isSep(name[end])) {
			return true
		}
		from = i + 1
	}
}

// inFile and inFolders return the splits that a file's own name, or those of the folders that it is in, stand for.
func inFile(rel string) []string {
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	return splitsOf(func(word string) bool { return wordIn(base, word, false) })
}

func inFolders(rel string) []string {
	folders := strings.Split(rel, "/")
	folders = folders[:len(folders)-1]
	return splitsOf(func(word string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return wordIn(f, word, true) })
	})
}

func splitsOf(has func(word string) bool) []string {
	var out []string
	for _, s := range splitWords {
		if slices.ContainsFunc(s.words, has) {
			out = append(out, s.split)
		}
	}
	return out
}

// SplitOfName returns the split that the name of a file, or of a folder that it is in, says, as HF datasets takes names; "" where none does. name
// has slashes.
func SplitOfName(name string) string {
	for _, in := range [][]string{inFile(name), inFolders(name)} {
		if len(in) > 0 {
			return in[0]
		}
	}
	return ""
}

// splitOfName returns the split of a file that was named itself: by its name, else by the folder that it is in; "" where
// neither says one.
func splitOfName(name string) string {
	parts := strings.Split(name, "/")
	return SplitOfName(strings.Join(parts[max(0, len(parts)-2):], "/"))
}

// splitsOfFolder assigns the files of a folder, by their names from there, to splits: by layout where that matches
// anything, else as HF datasets does: data/SPLIT-00000-of-00001.*, else the words in names of folders, else those in names
// of files; where there are none all are train. What then belongs to no split is missing from the result.
func splitsOfFolder(rels []string, layout []SplitArg) (map[string][]string, error) {
	out := map[string][]string{}
	for _, rel := range rels {
		for _, l := range layout {
			ok, err := matchGlob(l.Glob, rel)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", l.Glob, err)
			}
			if ok && !slices.Contains(out[rel], l.Name) {
				out[rel] = append(out[rel], l.Name)
			}
		}
	}
	for _, by := range []func(string) []string{inShards, inFolders, inFile} {
		if len(out) > 0 {
			return out, nil
		}
		for _, rel := range rels {
			if in := by(rel); len(in) > 0 {
				out[rel] = in
			}
		}
	}
	if len(out) == 0 {
		for _, rel := range rels {
			out[rel] = []string{"train"}
		}
	}
	return out, nil
}

func inShards(rel string) []string {
	if m := sharded.FindStringSubmatch(rel); m != nil && splitName.MatchString(m[1]) {
		return m[1:2]
	}
	return nil
}
