package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A rename is the edit of one run of the command.
type rename struct {
	from, to []schema.Path
	lenient  bool // a file that has the new names in place of the old ones has been done before
}

func newRename(a *app) *cobra.Command {
	e := &rename{}
	c := &columns{app: a, name: "rename", edit: e}
	cmd := &cobra.Command{
		Use:   "rename OLD=NEW[,OLD=NEW] FILES…",
		Short: "rename columns of Parquet files without decoding anything",
		Long: `Renames columns, or fields of structs at any depth, one after the other. Both names are whole paths: a field that gets a
path outside its struct is moved. Nothing is decoded where the levels of both places agree.

With --in-place a file that has the new names in place of the old ones counts as done, so the command can be run again after
an interruption.`,
		Example: `  rlprep rename question=problem train.parquet -o out/
  rlprep rename extra_info.idx=extra_info.index,answer=solution 'data/*.parquet' --in-place
  rlprep rename 'prompt[].text=prompt[].content' train.parquet -o out/`,
	}
	c.register(cmd)
	return cmd
}

func (e *rename) String() string {
	words := make([]string, len(e.from))
	for i := range e.from {
		words[i] = string(e.from[i] + "=" + e.to[i])
	}
	return "rename " + strings.Join(words, ",")
}

func (e *rename) parse(args []string) (files []string, err error) {
	if len(args) == 0 || isPathTo(args[0]) || !strings.Contains(args[0], "=") {
		return nil, usagef("no OLD=NEW before the files, such as: rlprep rename question=problem train.parquet -o out/")
	}
	if err := notFile(args[0], "OLD=NEW"); err != nil {
		return nil, err
	}
	for _, text := range splitCommas(args[0]) {
		old, name, ok := cutUnquoted(text, '=')
		if !ok {
			return nil, usagef("%q is not OLD=NEW", text)
		}
		from, err := schema.ParsePath(old)
		if err != nil {
			return nil, &usageError{err}
		}
		to, err := schema.ParsePath(name)
		if err != nil {
			return nil, &usageError{err}
		}
		e.from, e.to = append(e.from, from), append(e.to, to)
	}
	return args[1:], nil
}

func (e *rename) prepare(_ []*rule.File, inPlace bool) error {
	e.lenient = inPlace
	for _, p := range e.to {
		if inPlace && slices.Contains(e.from, p) {
			return fmt.Errorf("%q is a new and an old name: whether a file was done could not be told; use -o DIR, or one call after the other", p)
		}
	}
	return nil
}

func (e *rename) steps(_ context.Context, src *fileSource, i int, _ int64) ([]transform.Transform, []string, error) {
	f := src.files[i]
	if e.lenient && e.done(f.Schema) {
		return nil, []string{"has the new names"}, nil
	}
	var steps []transform.Transform
	for k := range e.from {
		steps = append(steps, transform.Rename{From: e.from[k], To: e.to[k]})
	}
	return steps, nil, nil
}

// done reports whether s has all new names and no old one.
func (e *rename) done(s *schema.Schema) bool {
	for i := range e.from {
		if _, ok := s.Lookup(e.from[i]); ok {
			return false
		}
		if _, ok := s.Lookup(e.to[i]); !ok {
			return false
		}
	}
	return true
}
