package edit

import (
	"context"
	"fmt"
	"io"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// A columnClaim is what a column would hold if an edit had been done.
type columnClaim struct {
	path     schema.Path
	constant *schema.Value // where every row has the same
	reads    []schema.Path // beside path
	want     func(row schema.Row) schema.Value
	fill     bool // what is not null counts as it is
}

// by reports whether a file's column holds just what h says; else it returns, as text, what some row has. A null struct
// around the column is right too. Dictionaries and counts answer where they can.
func (h *columnClaim) by(ctx context.Context, s *input.Set, file int) (bool, string, error) {
	f := s.Files()[file]
	bind := record.Bind(f.Schema, append([]schema.Path{h.path}, h.reads...))
	ranges, err := s.Ranges(file)
	if err != nil {
		return false, "", err
	}
	for _, p := range ranges {
		if known, err := h.answered(s, p, bind.Leaf(0)); err != nil || known {
			if err != nil {
				return false, "", err
			}
			continue
		}
		if is, other, err := h.byRows(ctx, s, p, bind); err != nil || !is {
			return false, other, err
		}
	}
	return true, "", nil
}

// answered reports whether it is known without reading rows that h holds; leaf is -1 where its column is more than one.
func (h *columnClaim) answered(s *input.Set, p pipeline.ReadRange, leaf int) (bool, error) {
	if leaf < 0 || (h.constant == nil && !h.fill) {
		return false, nil
	}
	if nulls, _ := s.Counts(p, leaf); nulls != 0 {
		return false, nil
	}
	if h.fill {
		return true, nil
	}
	c, ok, err := s.Chunk(p, leaf)
	return ok && c.Nulls == 0 && len(c.Dict) == 1 && c.Dict[0].Equal(*h.constant), err
}

// byRows reads the rows of one range.
func (h *columnClaim) byRows(ctx context.Context, s *input.Set, p pipeline.ReadRange, bind *record.Binding) (bool, string, error) {
	r, err := s.Open(ctx, p, bind.Leaves())
	if err != nil {
		return false, "", err
	}
	defer r.Close()
	cur := bind.Cursor()
	parents := len(h.path.Steps()) - 1
	for done := int64(0); ; {
		b, err := r.Next(ctx, 4096)
		if err == io.EOF {
			return true, "", nil
		}
		if err != nil {
			return false, "", err
		}
		b.SplitRow = p.FileRow + done
		done += int64(b.Rows)
		cur.Reset(b)
		for cur.Next() {
			v := cur.At(0)
			right := !v.IsNull()
			if !h.fill {
				right = (v.IsNull() && v.Depth() < parents) || v.Equal(h.value(cur))
			}
			if !right {
				return false, fmt.Sprintf("%s in row %d", v.Excerpt(40), cur.Pos().Row), nil
			}
		}
	}
}

func (h *columnClaim) value(row schema.Row) schema.Value {
	if h.constant != nil {
		return *h.constant
	}
	return h.want(row)
}
