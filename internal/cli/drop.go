package cli

import (
	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema"
)

// A dropArgs reads the arguments of drop.
type dropArgs struct{ edit.Drop }

func newDrop(a *app) *cobra.Command {
	e := &dropArgs{}
	c := &editRun{app: a, name: "drop", edit: e}
	cmd := &cobra.Command{
		Use:   "drop PATH[,PATH] FILES…",
		Short: "remove columns of Parquet files without decoding the others",
		Long: `Removes columns, or fields of structs at any depth, also of structs in a list (prompt[].name). It decodes nothing: every
other column chunk is copied byte for byte. If a struct would have no field left, drop the struct itself.

With --in-place a file that has none of the columns counts as done, so you can run the command again after an
interruption. A column that no file has is an error.`,
		Example: `  rlprep drop raw_text train.parquet -o out/
  rlprep drop question,extra_info.answer 'data/*.parquet' --in-place
  rlprep drop 'prompt[].name' train.parquet test.parquet -o out/`,
	}
	c.register(cmd)
	return cmd
}

func (e *dropArgs) parse(args []string) (files []string, err error) {
	e.Paths, files, err = leadingPaths(args, "such as: rlprep drop raw_text train.parquet -o out/")
	return files, err
}

// leadingPaths reads PATH[,PATH], the first argument.
func leadingPaths(args []string, such string) ([]schema.Path, []string, error) {
	if len(args) == 0 || edit.IsFileName(args[0]) {
		return nil, nil, misuse.Errorf("no PATH[,PATH] before the files, %s", such)
	}
	if err := edit.NotFile(args[0], "PATH[,PATH]"); err != nil {
		return nil, nil, err
	}
	list, err := edit.ParsePaths(args[0])
	return list, args[1:], err
}
