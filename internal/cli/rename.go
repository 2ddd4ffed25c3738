package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema"
)

// A renameArgs reads the arguments of rename.
type renameArgs struct{ edit.Rename }

func newRename(a *app) *cobra.Command {
	e := &renameArgs{}
	c := &editRun{app: a, name: "rename", edit: e}
	cmd := &cobra.Command{
		Use:   "rename OLD=NEW[,OLD=NEW] FILES…",
		Short: "rename columns of Parquet files without decoding anything",
		Long: `Renames columns, or fields of structs at any depth, one after the other. Both names are whole paths: a path outside the
field's struct moves the field. Nothing is decoded if both places have the same levels.

With --in-place a file that has the new names instead of the old ones counts as done, so you can run the command again
after an interruption.`,
		Example: `  rlprep rename question=problem train.parquet -o out/
  rlprep rename extra_info.idx=extra_info.index,answer=solution 'data/*.parquet' --in-place
  rlprep rename 'prompt[].text=prompt[].content' train.parquet -o out/`,
	}
	c.register(cmd)
	return cmd
}

func (e *renameArgs) parse(args []string) (files []string, err error) {
	if len(args) == 0 || edit.IsFileName(args[0]) || !strings.Contains(args[0], "=") {
		return nil, misuse.Errorf("no OLD=NEW before the files, such as: rlprep rename question=problem train.parquet -o out/")
	}
	if err := edit.NotFile(args[0], "OLD=NEW"); err != nil {
		return nil, err
	}
	for _, text := range edit.SplitCommas(args[0]) {
		old, name, ok := edit.CutUnquoted(text, '=')
		if !ok {
			return nil, misuse.Errorf("%q is not OLD=NEW", text)
		}
		from, err := schema.ParsePath(old)
		if err != nil {
			return nil, &misuse.Error{Err: err}
		}
		to, err := schema.ParsePath(name)
		if err != nil {
			return nil, &misuse.Error{Err: err}
		}
		e.From, e.To = append(e.From, from), append(e.To, to)
	}
	return args[1:], nil
}
