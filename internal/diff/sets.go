package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// A Comparison is two data sets side by side, split by split.
type Comparison struct {
	Old    string      `json:"old"`
	New    string      `json:"new"`
	Same   bool        `json:"same"`
	Splits []SplitDiff `json:"splits"`
}

// A SplitDiff is one split on both sides.
type SplitDiff struct {
	Name string `json:"name"` // "" where both sides are one file
	Only string `json:"only"` // "old" or "new" where one side alone has the split; else ""
	*Result
}

// Sets compares two sets of files, split by split; where both have one split, these whatever they are called. Old and New of the result are the caller's.
// A *misuse.Error says what cannot be compared as it is.
func Sets(ctx context.Context, a, b *source.Set, o Options) (*Comparison, error) {
	out := &Comparison{Same: true, Splits: []SplitDiff{}}
	one := len(a.Splits) == 1 && len(b.Splits) == 1
	for _, s := range a.Splits {
		t, ok := b.Split(s.Name)
		if one && !ok {
			t, ok = b.Splits[0], true // of two files it does not matter what they are called
		}
		if !ok {
			out.Splits = append(out.Splits, SplitDiff{s.Name, "old", &Result{Differences: []Difference{}}})
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
		r, err := Tables(ctx, x, y, o)
		if err != nil {
			return nil, err
		}
		out.Splits = append(out.Splits, SplitDiff{s.Name, "", r})
		out.Same = out.Same && r.Same()
	}
	for _, s := range b.Splits {
		if _, ok := a.Split(s.Name); !ok && !one {
			out.Splits = append(out.Splits, SplitDiff{s.Name, "new", &Result{Differences: []Difference{}}})
			out.Same = false
		}
	}
	return out, nil
}

// table is a split as diff wants it. Its files must have one schema: which rows of a mixed lot would be compared is not to say.
func table(s source.Split) (*Table, error) {
	t := &Table{Schema: s.Files[0].Schema, Metadata: s.Files[0].Metadata, Rows: s.Rows()}
	for _, f := range s.Files[1:] {
		if x, y := (schema.Type{Kind: schema.Struct, Fields: t.Schema.Fields}), (schema.Type{Kind: schema.Struct, Fields: f.Schema.Fields}); !x.Equal(y) {
			return nil, misuse.Errorf("%s and %s are of one split and have two schemas: compare them one by one ('rlprep lint' says what differs)", s.Files[0].Name, f.Name)
		}
	}
	t.Open = func(_ context.Context, paths []schema.Path) (Cursor, error) {
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
	units   []source.ReadRange // of file that are not begun
	reader  source.Reader
	cur     *record.Cursor // nil: no batch was read yet
}

// Next implements Cursor.
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

// A RowError is a row that cannot be read, and so cannot be compared.
type RowError struct {
	Pos     schema.Pos
	Message string
}

func (e *RowError) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Message) }

// ExitCode is the status that such an error ends the process with: a file cannot be read as its format.
func (e *RowError) ExitCode() int { return 3 }

// faulty returns the first fault of a batch: a row that cannot be read cannot be compared.
func faulty(f *source.File, b *record.Batch) error {
	if len(b.Faults) == 0 {
		return nil
	}
	x := b.Faults[0]
	return &RowError{b.Pos(int(x.Row)), x.Message}
}

// next begins the next unit.
func (c *splitCursor) next(ctx context.Context) (bool, error) {
	for len(c.units) == 0 {
		if len(c.files) == 0 {
			return false, nil
		}
		c.file, c.files = c.files[0], c.files[1:]
		c.binding, c.units = record.Bind(c.file.Schema, c.paths), c.file.ReadRanges(0)
	}
	u := c.units[0]
	c.units = c.units[1:]
	var err error
	if c.reader, err = c.file.Open(ctx, u, c.binding.Leaves()); err != nil {
		return false, err
	}
	return true, nil
}

// At implements Cursor.
func (c *splitCursor) At(i int) schema.Value { return c.cur.At(i) }

// Close implements Cursor.
func (c *splitCursor) Close() error {
	if c.reader == nil {
		return nil
	}
	return c.reader.Close()
}

// Print shows the differences to people, a line each.
func (c *Comparison) Print(w io.Writer) {
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
		told := slices.DeleteFunc(slices.Clone(s.Differences), func(d Difference) bool { return d.Kind != Value && d.Kind != Row })
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
func line(d Difference) string {
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
	case Column:
		if d.Old == "" {
			return fmt.Sprintf("%sonly NEW has %s: %s", at, path, d.New)
		}
		return fmt.Sprintf("%sonly OLD has %s: %s", at, path, d.Old)
	case Order:
		if path == "" {
			path = "columns"
		}
		return fmt.Sprintf("%sorder of %s: %s → %s", at, path, d.Old, d.New)
	case Meta:
		return fmt.Sprintf("%smetadata %s: %s → %s", at, path, orNone(d.Old), orNone(d.New))
	case Count:
		return fmt.Sprintf("%s%s rows → %s rows", at, d.Old, d.New)
	case Row:
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
