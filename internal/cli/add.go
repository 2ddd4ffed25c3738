package cli

import (
	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema"
)

// An addArgs reads the arguments of add.
type addArgs struct{ edit.Add }

func newAdd(a *app) *cobra.Command {
	e := &addArgs{}
	c := &editRun{app: a, name: "add", edit: e}
	cmd := &cobra.Command{
		Use:   "add PATH=VALUE… FILES…",
		Short: "add columns to Parquet files without decoding the others",
		Long: `Adds columns, or fields of structs, to Parquet files. Every other column chunk is copied byte for byte and only the footer
is rewritten, so it takes about as long as cp. A column that already has this value stays unchanged. A column with another
value is an error, unless --replace overwrites it or --fill sets only its nulls.

PATH is a column (agent_name) or a field (extra_info.index). Missing structs on the path are created. A null struct stays
null, unless --fill is given. VALUE is text, or a typed value: str:TEXT, int:1, float:0.5, bool:true, json:{…}, null:TYPE.
These values differ by row or file:

  @row        the row number, from --index-start, counted over all files in the order of their names
  @uuid       an identifier made from --seed and the row number: the same in every run
  @copy:PATH  the value of another column
  @file       the base name of the file
  @path       the name of the file as given

DIR keeps the paths below the deepest folder that all files share. --in-place replaces each file by one rename and keeps
mode and owner. After an interruption run the command again: it skips finished files.`,
		Example: `  rlprep add agent_name=tool_agent train.parquet test.parquet -o out/
  rlprep add agent_name=tool_agent 'data/*.parquet' --after data_source --in-place
  rlprep add extra_info.index=@row extra_info.need_tools_kwargs=bool:true train.parquet --replace -o out/`,
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringVar(&e.After, "after", "", "column after which the new columns go (default: at the end)")
	f.BoolVar(&e.Replace, "replace", false, "overwrite an existing column")
	f.BoolVar(&e.Fill, "fill", false, "set only the nulls of an existing column, and create null structs around it")
	f.Int64Var(&e.IndexStart, "index-start", 0, "number of the first row, for @row and @uuid")
	f.Int64Var(&e.Seed, "seed", 0, "seed for @uuid")
	return cmd
}

// parse reads the edits, which come first, and returns the names of files.
func (e *addArgs) parse(args []string) (files []string, err error) {
	for i, arg := range args {
		name, value, ok := edit.CutUnquoted(arg, '=')
		if !ok || edit.IsFileName(arg) {
			files = args[i:]
			break
		}
		if err := edit.NotFile(arg, "PATH=VALUE"); err != nil {
			return nil, err
		}
		path, err := schema.ParsePath(name)
		if err != nil {
			return nil, &misuse.Error{Err: err}
		}
		v, err := edit.ParseAssign(arg, path, value)
		if err != nil {
			return nil, &misuse.Error{Err: err}
		}
		e.Values = append(e.Values, v)
	}
	switch {
	case len(e.Values) == 0:
		return nil, misuse.Errorf("no PATH=VALUE: say what to add, such as agent_name=tool_agent")
	case e.Replace && e.Fill:
		return nil, misuse.Errorf("--replace and --fill: give one of them")
	}
	return files, asUsage(e.CheckAfter())
}
