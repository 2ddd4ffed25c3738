package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/diff"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// A diffing is one run of the command.
type diffing struct {
	app    *app
	key    string
	opt    diff.Options
	split  []string
	limits readLimits
	asJSON bool
}

func newDiff(a *app) *cobra.Command {
	d := &diffing{app: a}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "compare two data sets: schema, metadata, rows, values",
		Long: `Compares files, or directories split by split: columns and their order, types, metadata, numbers of rows, and every value,
row by row or by a key. How rows are cut into files and row groups, and how they are encoded, does not matter. Whether
columns are nullable, and metadata that only says how a writer saw the columns (ARROW:schema, huggingface, pandas,
content_defined_chunking), is a note, and makes a difference with --strict alone. Exit status 1 says that they differ.`,
		Example: `  rlprep diff verl-out/ out/
  rlprep diff old.parquet new.parquet --key extra_info.index
  rlprep diff out/ hf://datasets/OWNER/NAME --json | jq '.splits[].differences'`,
		Args:        exactArgs("OLD", "NEW"),
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted),
		RunE:        func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&d.key, "key", "", "compare rows that have the same value at PATH, which must be unique, in place of rows at the same place")
	f.StringArrayVar(&d.split, "split", nil, "compare only these splits; repeatable")
	d.limits.register(f)
	f.IntVar(&d.opt.Values, "values", 10, "how many values that differ are shown for each split")
	f.BoolVar(&d.opt.Strict, "strict", false, "notes are differences too")
	f.BoolVar(&d.asJSON, "json", false, "print an object")
	return cmd
}

func (d *diffing) run(ctx context.Context, old, new string) error {
	if d.opt.Values < 0 {
		return usagef("--values %d: give a number of values", d.opt.Values)
	}
	if d.key != "" {
		p, err := schema.ParsePath(d.key)
		if err != nil {
			return usagef("--key: %v", err)
		}
		d.opt.Key = p
	}
	a, err := d.open(ctx, old)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := d.open(ctx, new)
	if err != nil {
		return err
	}
	defer b.Close()
	out, err := d.compare(source.Together(ctx), a, b)
	if err != nil {
		return err
	}
	out.Old, out.New = old, new
	if d.asJSON {
		err = printJSON(d.app.stdout, out)
	} else {
		out.print(d.app.stdout)
	}
	if err == nil && !out.Same {
		err = errFindings
	}
	return err
}

func (d *diffing) open(ctx context.Context, name string) (*source.Set, error) {
	in := inputFlags{splits: d.split, limits: d.limits}
	spec, err := in.spec(d.app, []string{name})
	if err != nil {
		return nil, err
	}
	spec.Hash = false
	set, err := d.app.resolve(ctx, "OLD and NEW", spec)
	return set, asInput(err)
}

// A comparison is what the command prints with --json.
type comparison struct {
	Old    string      `json:"old"`
	New    string      `json:"new"`
	Same   bool        `json:"same"`
	Splits []splitDiff `json:"splits"`
}

type splitDiff struct {
	Name string `json:"name"` // "" where both sides are one file
	Only string `json:"only"` // "old" or "new" where one side alone has the split; else ""
	*diff.Result
}

func (d *diffing) compare(ctx context.Context, a, b *source.Set) (*comparison, error) {
	out := &comparison{Same: true, Splits: []splitDiff{}}
	one := len(a.Splits) == 1 && len(b.Splits) == 1
	for _, s := range a.Splits {
		t, ok := b.Split(s.Name)
		if one && !ok {
			t, ok = b.Splits[0], true // of two files it does not matter what they are called
		}
		if !ok {
			out.Splits = append(out.Splits, splitDiff{s.Name, "old", &diff.Result{Differences: []diff.Difference{}}})
			out.Same = false
			continue
		}
		x, err := table(s)
		if err != nil {
			return nil, err
		}
		y, err := table(t)
		if err != nil {
			return nil, err
		}
		r, err := diff.Tables(ctx, x, y, d.opt)
		if err != nil {
			return nil, asUsage(err)
		}
		out.Splits = append(out.Splits, splitDiff{s.Name, "", r})
		out.Same = out.Same && r.Same()
	}
	for _, s := range b.Splits {
		if _, ok := a.Split(s.Name); !ok && !one {
			out.Splits = append(out.Splits, splitDiff{s.Name, "new", &diff.Result{Differences: []diff.Difference{}}})
			out.Same = false
		}
	}
	return out, nil
}

// table is a split as diff wants it. Its files must have one schema: which rows of a mixed lot would be compared is not to say.
func table(s source.Split) (*diff.Table, error) {
	t := &diff.Table{Schema: s.Files[0].Schema, Metadata: s.Files[0].Metadata, Rows: s.Rows()}
	for _, f := range s.Files[1:] {
		if x, y := (schema.Type{Kind: schema.Struct, Fields: t.Schema.Fields}), (schema.Type{Kind: schema.Struct, Fields: f.Schema.Fields}); !x.Equal(y) {
			return nil, usagef("%s and %s are of one split and have two schemas: compare them one by one ('rlprep lint' says what differs)", s.Files[0].Name, f.Name)
		}
	}
	t.Open = func(_ context.Context, paths []schema.Path) (diff.Cursor, error) {
		return &splitCursor{files: s.Files, paths: paths}, nil
	}
	return t, nil
}

// A splitCursor reads the files of a split one after the other.
type splitCursor struct {
	files []*source.File // that are not begun
	paths []schema.Path

	file    *source.File
	binding *record.Binding
	units   []source.Unit // of file that are not begun
	reader  source.Reader
	cur     *record.Cursor // nil: no batch was read yet
}

// Next implements diff.Cursor.
func (c *splitCursor) Next(ctx context.Context) (bool, error) {
	for {
		if c.cur != nil && c.cur.Next() {
			return true, nil
		}
		if c.reader != nil {
			b, err := c.reader.Next(ctx, 4096)
			if err == nil {
				if err := faulty(c.file, b); err != nil {
					return false, err
				}
				if c.cur == nil {
					c.cur = c.binding.Cursor()
				}
				c.cur.Reset(b)
				continue
			}
			err = errors.Join(eofIsNil(err), c.reader.Close())
			c.reader, c.cur = nil, nil
			if err != nil {
				return false, err
			}
		}
		if ok, err := c.next(ctx); !ok || err != nil {
			return false, err
		}
	}
}

func eofIsNil(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// faulty returns the first fault of a batch: a row that cannot be read cannot be compared.
func faulty(f *source.File, b *record.Batch) error {
	if len(b.Faults) == 0 {
		return nil
	}
	x := b.Faults[0]
	return withCode(ExitFile, fmt.Errorf("%s: %s", b.Pos(int(x.Row)), x.Message))
}

// next begins the next unit.
func (c *splitCursor) next(ctx context.Context) (bool, error) {
	for len(c.units) == 0 {
		if len(c.files) == 0 {
			return false, nil
		}
		c.file, c.files = c.files[0], c.files[1:]
		c.binding, c.units = record.Bind(c.file.Schema, c.paths), c.file.Units(0)
	}
	u := c.units[0]
	c.units = c.units[1:]
	var err error
	if c.reader, err = c.file.Open(ctx, u, c.binding.Leaves()); err != nil {
		return false, err
	}
	return true, nil
}

// At implements diff.Cursor.
func (c *splitCursor) At(i int) schema.Value { return c.cur.At(i) }

// Close implements diff.Cursor.
func (c *splitCursor) Close() error {
	if c.reader == nil {
		return nil
	}
	return c.reader.Close()
}

func (c *comparison) print(w io.Writer) {
	var rows int64
	var names []string
	for _, s := range c.Splits {
		rows += s.Rows
		names = append(names, s.Name)
		if s.Only != "" {
			side := map[string]string{"old": c.Old, "new": c.New}[s.Only]
			escape.Fprintf(w, "split %s: in %s alone\n", s.Name, side)
			continue
		}
		for _, d := range s.Differences {
			escape.Fprintf(w, "%s%s\n", s.Name, line(d))
		}
		told := slices.DeleteFunc(slices.Clone(s.Differences), func(d diff.Difference) bool { return d.Kind != diff.Value && d.Kind != diff.Row })
		if n := max(s.CellsDiffer, s.RowsDiffer); n > int64(len(told)) {
			escape.Fprintf(w, "%s: … in all %s rows differ\n", s.Name, amount.Thousands(s.RowsDiffer))
		}
	}
	if c.Same {
		escape.Fprintf(w, "the same: %s rows in %s\n", amount.Thousands(rows), strings.Join(names, ", "))
	} else {
		escape.Fprintf(w, "different\n")
	}
}

// line is how a difference is printed, after the name of the split.
func line(d diff.Difference) string {
	at := ": "
	if d.Note {
		at = ": note: "
	}
	if d.Row >= 0 {
		at += fmt.Sprintf("row %d: ", d.Row)
	}
	if d.Key != "" {
		at += fmt.Sprintf("key %s: ", d.Key)
	}
	path := d.Path
	switch d.Kind {
	case diff.Column:
		if d.Old == "" {
			return fmt.Sprintf("%sonly NEW has %s: %s", at, path, d.New)
		}
		return fmt.Sprintf("%sonly OLD has %s: %s", at, path, d.Old)
	case diff.Order:
		if path == "" {
			path = "columns"
		}
		return fmt.Sprintf("%sorder of %s: %s → %s", at, path, d.Old, d.New)
	case diff.Meta:
		return fmt.Sprintf("%smetadata %s: %s → %s", at, path, orNone(d.Old), orNone(d.New))
	case diff.Count:
		return fmt.Sprintf("%s%s rows → %s rows", at, d.Old, d.New)
	case diff.Row:
		return fmt.Sprintf("%s%s → %s", at, orNone(d.Old), orNone(d.New))
	}
	return fmt.Sprintf("%s%s: %s → %s", at, path, d.Old, d.New)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
