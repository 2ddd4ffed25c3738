package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// Here returns a name of the file as it is seen from the working directory, as short as it can be.
func (f *File) Here(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, source.RemoteScheme) {
		return name
	}
	name = filepath.Join(f.Dir(), name)
	if strings.HasPrefix(name, "..") { // "../../data/x" in the folder data is "x"
		here, err := os.Getwd()
		if err == nil {
			if rel, err := filepath.Rel(here, filepath.Join(here, name)); err == nil {
				name = rel
			}
		}
	}
	return filepath.ToSlash(name)
}

// Dir is the folder of the file, as seen from the working directory.
func (f *File) Dir() string { return filepath.Dir(filepath.FromSlash(f.Name)) }

// Files returns the files of a data set, by split; none: the launch's own data.
func (f *File) Files(d *Dataset) (splits []source.SplitArg) {
	for _, s := range d.Splits {
		for _, name := range s.Files {
			splits = append(splits, source.SplitArg{Name: s.Name, Glob: f.Here(name)})
		}
	}
	return splits
}

// Owner returns the first data set that names the file, and the split that it is in there; -1 for none.
func (f *File) Owner(name string) (dataset int, split string) {
	for i, d := range f.Datasets {
		for _, s := range d.Splits {
			if slices.ContainsFunc(s.Files, func(arg string) bool { return f.means(arg, name) }) {
				return i, s.Name
			}
		}
	}
	return -1, ""
}

// means reports whether arg, a name or a pattern of the project's file, means the file that is called name here.
func (f *File) means(arg, name string) bool {
	return source.Match(source.Absolute(f.Here(arg)), source.Absolute(name))
}

// A Passed is a rule of an entry of PerFile: indices in PerFile and in its Rules.
type Passed struct{ Entry, Rule int }

// Passing returns what of PerFile lets a finding pass; nothing where f is nil.
func (f *File) Passing(x rule.Finding) (by []Passed) {
	if f == nil {
		return nil
	}
	for i, g := range f.PerFile {
		for k, name := range g.Rules {
			if x.Rule.Named(name) && slices.ContainsFunc(g.Files, func(arg string) bool { return f.means(arg, x.Pos.File) }) {
				by = append(by, Passed{i, k})
			}
		}
	}
	return by
}

// Passes reports whether the file lets a finding pass.
func (f *File) Passes(x rule.Finding) bool { return len(f.Passing(x)) > 0 }
