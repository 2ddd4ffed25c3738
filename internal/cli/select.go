package cli

import (
	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/edit"
)

// A selectArgs reads the arguments of select.
type selectArgs struct{ edit.Select }

func newSelect(a *app) *cobra.Command {
	e := &selectArgs{}
	c := &editRun{app: a, name: "select", edit: e}
	cmd := &cobra.Command{
		Use:   "select PATH[,PATH] FILES…",
		Short: "keep only these columns of Parquet files, undecoded",
		Long: `Keeps the named columns, or fields of structs at any depth, and removes all others. The order of the columns stays.
Nothing is decoded: every remaining column chunk is copied byte for byte.`,
		Example: `  rlprep select prompt,data_source,reward_model train.parquet -o out/
  rlprep select prompt,extra_info.index 'data/*.parquet' --in-place
  rlprep select 'prompt[].content' train.parquet -o out/`,
	}
	c.register(cmd)
	return cmd
}

func (e *selectArgs) parse(args []string) (files []string, err error) {
	e.Paths, files, err = leadingPaths(args, "such as: rlprep select prompt,data_source train.parquet -o out/")
	return files, err
}
