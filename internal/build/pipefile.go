package build

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/transform"
)

// A FileError says what is wrong in a pipeline file, and where.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ExitCode makes it an error of the configuration.
func (e *FileError) ExitCode() int { return 2 }

// FileSources adds the sources of a pipeline file to spec: those of the splits that spec names, where it names some. inDir is a name of the file as it is
// seen from the working directory.
func FileSources(f *pipefile.File, inDir func(name string) string, spec *source.Spec) error {
	wanted := spec.Splits
	if slices.ContainsFunc(wanted, func(s source.SplitArg) bool { return s.Glob != "" }) {
		return nil // it says itself where they are
	}
	var names []string
	spec.Splits = nil
	for _, s := range f.Sources {
		if s.Split == "" {
			for _, n := range s.Names {
				spec.Args = append(spec.Args, inDir(n))
			}
			spec.Splits = wanted
			return nil
		}
		names = append(names, s.Split)
		if wanted != nil && !slices.Contains(wanted, source.SplitArg{Name: s.Split}) {
			continue
		}
		for _, n := range s.Names {
			spec.Splits = append(spec.Splits, source.SplitArg{Name: s.Split, Glob: inDir(n)})
		}
	}
	for _, w := range wanted {
		if !slices.Contains(names, w.Name) {
			return misuse.Unknown("split", w.Name, names)
		}
	}
	if len(names) == 0 {
		return misuse.Errorf("%s names no sources: add the key sources, or give --source FILE|DIR|GLOB", f.Name)
	}
	return nil
}

// TakeSteps sets what the splits of o.Source become, and by which steps, as a pipeline file says.
func (o *Options) TakeSteps(f *pipefile.File) error {
	came := map[string]string{} // the split of the input that each of the output comes from
	into := map[string][]string{}
	for _, s := range o.Source.Splits {
		into[s.Name] = f.Outputs(s.Name)
		for _, name := range into[s.Name] {
			if other, twice := came[name]; twice {
				return &FileError{fmt.Errorf("%s: splits %s and %s both become %s: give step split 'splits: [%s]', or other names", f.Name, other, s.Name, name, other)}
			}
			came[name] = s.Name
		}
	}
	made := map[string][]transform.RowStep{}
	for name, from := range came {
		steps, err := f.Transforms(from, name)
		if err != nil {
			return &FileError{err}
		}
		made[name] = steps
	}
	o.Derive = func(from string) []string { return into[from] }
	o.Steps = func(split string) []transform.RowStep { return made[split] }
	return nil
}
