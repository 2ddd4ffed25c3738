package recipe

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// ByDefault reports whether the recipe's own source is read.
func (c *Choice) ByDefault() bool { return !c.Demo && !c.Generated() && !c.named() }

// Generated reports whether the recipe makes its rows itself.
func (c *Choice) Generated() bool {
	return len(c.Recipe.Sources) == 1 && c.Recipe.Sources[0].Generated
}

func (c *Choice) named() bool { return len(c.Sources) > 0 || c.Listed }

// checkSources says what is wrong with the choice of files.
func (c *Choice) checkSources() error {
	switch {
	case c.Generated() && c.named():
		return misuse.Errorf("recipe %s makes its rows itself: remove --source", c.Recipe.Name)
	case c.Demo && c.named():
		return misuse.Errorf("--demo has its own dataset: remove --source")
	case c.Demo && c.Recipe.Sample == nil:
		return misuse.Errorf("recipe %s has no built-in sample: name the raw dataset with --source FILE|DIR|GLOB", c.Recipe.Name)
	case c.Selects && !slices.Equal(c.Splits(), c.Recipe.Splits):
		return misuse.Errorf("recipe %s makes its splits (%s) of others: remove --split", c.Recipe.Name, strings.Join(c.Recipe.Splits, ", "))
	case c.Listed && len(c.Recipe.Sources) > 1:
		return misuse.Errorf("recipe %s reads several datasets: give each as --source KEY=PATH in place of --files-from", c.Recipe.Name)
	}
	_, err := c.Args()
	return err
}

// Args are the names of the files of each source: those that the user gives, else the recipe's own. The error is a *misuse.Error.
func (c *Choice) Args() ([][]string, error) {
	sources := c.Recipe.Sources
	out := make([][]string, len(sources))
	var keys []string
	for _, s := range sources {
		keys = append(keys, s.Key)
	}
	for _, name := range c.Sources {
		key, file, keyed := strings.Cut(name, "=")
		i := slices.Index(keys, key)
		switch {
		case keyed && key != "" && i >= 0 && file != "":
			out[i] = append(out[i], file)
		case len(sources) == 1:
			out[0] = append(out[0], name)
		case c.folders(name, out):
		case !keyed || file == "":
			return nil, misuse.Errorf("--source %s: recipe %s reads several datasets: give each as KEY=PATH (%s)", name, c.Recipe.Name, strings.Join(keys, ", "))
		default:
			return nil, misuse.Unknown("source", key, keys)
		}
	}
	if c.Demo || c.Generated() || c.Listed {
		return out, nil
	}
	for i := range out {
		switch {
		case len(out[i]) > 0:
		case sources[i].Hub == "" && len(sources) == 1:
			return nil, misuse.Errorf("no source: name the raw dataset with --source FILE|DIR|GLOB, or try --demo")
		case sources[i].Hub == "":
			return nil, misuse.Errorf("no source %s: name the raw dataset with --source %s=FILE|DIR|GLOB, or try --demo", keys[i], keys[i])
		default:
			out[i] = []string{sources[i].Hub}
		}
	}
	return out, nil
}

// folders adds to out the folder of each source, where name is a folder that has all of them.
func (c *Choice) folders(name string, out [][]string) bool {
	for i := range c.Recipe.Sources {
		if st, err := os.Stat(filepath.Join(name, c.Recipe.Sources[i].Place())); err != nil || !st.IsDir() {
			return false
		}
	}
	for i := range c.Recipe.Sources {
		out[i] = append(out[i], filepath.Join(name, c.Recipe.Sources[i].Place()))
	}
	return true
}

// Spec gives spec what the recipe knows of one of its sources: files of splits, columns of files without a footer, and with Demo the sample.
func (c *Choice) Spec(s *datasets.Source, spec *source.Spec) error {
	if c.Demo || s.Generated {
		var err error
		if spec.Embedded, err = c.sample(s); err != nil {
			return err
		}
	}
	for _, split := range s.Splits {
		for _, in := range s.Inputs(split) {
			spec.Layout = append(spec.Layout, source.SplitArg{Name: split, Glob: in.Glob})
		}
	}
	if in := s.Inputs(s.Splits[0]); len(in) > 0 && in[0].Fields != nil {
		spec.Fields = func(string) []schema.Field { return in[0].Fields }
	}
	return nil
}

// Joined are the files of all sources, one set for each, with the splits that the recipe's steps know.
func (c *Choice) Joined(sets []*source.Set) *source.Set {
	if first := c.Recipe.Sources[0]; len(sets) == 1 && first.Key == "" && first.As == "" {
		return sets[0]
	}
	return source.Join(sets, func(i int, split string) string { return c.Recipe.Sources[i].SplitOf(split) })
}

// sample returns the files of the recipe's sample, which are in the binary.
func (c *Choice) sample(s *datasets.Source) (out []source.Embedded, err error) {
	if s.Generate != nil {
		for split, rows := range s.Generate(c.options()) {
			out = append(out, source.Embedded{Name: c.Recipe.Name + "/" + split + ".jsonl", Data: rows, Split: split})
		}
		slices.SortFunc(out, func(a, b source.Embedded) int { return strings.Compare(a.Name, b.Name) })
		return out, nil
	}
	files := c.Recipe.Sample
	failed := func(err error) error { return fmt.Errorf("read the sample of recipe %s: %w", c.Recipe.Name, err) }
	if len(c.Recipe.Sources) > 1 {
		if files, err = fs.Sub(files, s.Place()); err != nil {
			return nil, failed(err)
		}
	}
	taken := map[string]bool{}
	for _, split := range s.Splits {
		for _, in := range s.Inputs(split) {
			names, err := fs.Glob(files, in.Glob)
			if err != nil {
				return nil, failed(err)
			}
			for _, name := range names {
				b, err := fs.ReadFile(files, name)
				if err != nil {
					return nil, failed(err)
				}
				if !taken[name] {
					taken[name] = true
					out = append(out, source.Embedded{Name: path.Join("sample", s.Key, name), Data: b, Split: split})
				}
			}
		}
	}
	return out, nil
}
