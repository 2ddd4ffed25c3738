package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A drop is the edit of one run of the command.
type drop struct {
	paths   []schema.Path
	lenient bool // a file without one of the paths has been done before
}

func newDrop(a *app) *cobra.Command {
	e := &drop{}
	c := &columns{app: a, name: "drop", edit: e}
	cmd := &cobra.Command{
		Use:   "drop PATH[,PATH] FILES…",
		Short: "leave columns of Parquet files out without decoding the others",
		Long: `Leaves columns out, or fields of structs at any depth, also of structs in a list (prompt[].name). Nothing is decoded: every
other column chunk is copied byte for byte. A struct that would be left without a field must be dropped as a whole.

With --in-place a file that has none of the columns counts as done, so the command can be run again after an interruption;
a column that no file has is an error.`,
		Example: `  rlprep drop raw_text train.parquet -o out/
  rlprep drop question,extra_info.answer 'data/*.parquet' --in-place
  rlprep drop 'prompt[].name' train.parquet test.parquet -o out/`,
	}
	c.register(cmd)
	return cmd
}

func (e *drop) String() string { return "drop " + joinPaths(e.paths) }

func joinPaths(paths []schema.Path) string {
	words := make([]string, len(paths))
	for i, p := range paths {
		words[i] = string(p)
	}
	return strings.Join(words, ",")
}

func (e *drop) parse(args []string) (files []string, err error) {
	e.paths, files, err = leadingPaths(args, "such as: rlprep drop raw_text train.parquet -o out/")
	return files, err
}

// leadingPaths reads PATH[,PATH], the first argument.
func leadingPaths(args []string, such string) ([]schema.Path, []string, error) {
	if len(args) == 0 || isPathTo(args[0]) {
		return nil, nil, usagef("no PATH[,PATH] before the files, %s", such)
	}
	if err := notFile(args[0], "PATH[,PATH]"); err != nil {
		return nil, nil, err
	}
	list, err := paths(args[0])
	return list, args[1:], err
}

func (e *drop) prepare(files []*rule.File, inPlace bool) error {
	e.lenient = inPlace
	for _, p := range e.paths {
		if err := missingEverywhere(files, p); inPlace && err != nil {
			return err
		}
	}
	return nil
}

func (e *drop) steps(_ context.Context, src *fileSource, i int, _ int64) ([]transform.Transform, []string, error) {
	f := src.files[i]
	var have []schema.Path
	var notes []string
	for _, p := range e.paths {
		if _, ok := f.Schema.Lookup(p); ok || !e.lenient {
			have = append(have, p)
		} else {
			notes = append(notes, fmt.Sprintf("has no %s", p))
		}
	}
	if len(have) == 0 {
		return nil, notes, nil
	}
	return []transform.Transform{transform.Drop{Paths: have}}, notes, nil
}
