package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// Pipeline returns the recipe, with what the user changes in it, as a pipeline file in the folder dir: it makes the same files. set are the files
// that it reads; nil: the recipe's own on the Hub. The choice has been checked.
func (c *Choice) Pipeline(dir string, set *source.Set) *pipefile.Text {
	out := &pipefile.Text{Rows: c.Recipe.Rows, Target: c.form, Expects: c.Recipe.Expects, Columns: c.columns(), Sources: c.hubSources(),
		Steps: c.Recipe.Steps(c.options())}
	if set != nil {
		out.Sources = pipefile.RelativeTo(dir, Files(set))
	}
	if c.Agent != "" {
		out.Agents = []string{c.Agent}
	}
	if c.DataSource != "" {
		out.DataSources = []string{c.DataSource}
	}
	out.Comment = fmt.Sprintf("The recipe %s: %s.\n'rlprep run THIS -o DIR' makes the same files as 'rlprep preprocess %s'. 'rlprep explain %s' describes the rows.",
		c.Recipe.Name, c.Recipe.Title, c.Recipe.Name, c.Recipe.Name)
	return out
}

// Files are the files of a set as a pipeline file has them, split by split.
func Files(set *source.Set) (out []pipefile.Source) {
	for _, s := range set.Splits {
		from := pipefile.Source{Split: s.Name}
		for _, f := range s.Files {
			from.Names = append(from.Names, f.Name)
		}
		out = append(out, from)
	}
	return out
}

// hubSources are the files of the recipe's datasets on the Hub.
func (c *Choice) hubSources() (out []pipefile.Source) {
	for i := range c.Recipe.Sources {
		s := &c.Recipe.Sources[i]
		for _, split := range s.Splits {
			glob := s.Inputs(split)[0].Glob
			if _, after, ok := strings.Cut(s.Hub, "@"); ok { // Hub may be a folder of the dataset, with which the glob begins
				_, folder, _ := strings.Cut(after, "/")
				glob = strings.TrimPrefix(glob, folder+"/")
			}
			name := s.SplitOf(split)
			at := slices.IndexFunc(out, func(x pipefile.Source) bool { return x.Split == name })
			if at < 0 {
				at, out = len(out), append(out, pipefile.Source{Split: name})
			}
			out[at].Names = append(out[at].Names, s.Hub+"/"+glob)
		}
	}
	return out
}

// columns are the declared columns of the recipe's files in line formats; nil where several datasets have others.
func (c *Choice) columns() []schema.Field {
	if len(c.Recipe.Sources) != 1 {
		return nil
	}
	s := c.Recipe.Sources[0]
	return s.Inputs(s.Splits[0])[0].Fields
}
