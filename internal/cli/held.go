package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// Counts says what the footer knows of nulls and bytes of a leaf; the pipeline asks.
func (s *fileSource) Counts(p pipeline.Part, leaf int) (nulls, bytes int64) {
	f := s.open[p.File].Parquet
	if f == nil {
		return -1, 0
	}
	return f.Counts(p.RowGroup, leaf)
}

// A held is what a column would hold if an edit had been done.
type held struct {
	path  schema.Path
	konst *schema.Value // where every row has the same
	reads []schema.Path // beside path
	want  func(row schema.Row) schema.Value
	fill  bool // what is not null counts as it is
}

// holds reports whether a file's column holds just what h says; else it returns, as text, what some row has. A null struct
// around the column is right too. Dictionaries and counts answer where they can.
func (s *fileSource) holds(ctx context.Context, file int, h *held) (bool, string, error) {
	f := s.files[file]
	bind := record.Bind(f.Schema, append([]schema.Path{h.path}, h.reads...))
	parts, err := s.Parts(file)
	if err != nil {
		return false, "", err
	}
	for _, p := range parts {
		if known, err := s.answers(p, bind.Leaf(0), h); err != nil || known {
			if err != nil {
				return false, "", err
			}
			continue
		}
		if is, other, err := s.holdsIn(ctx, p, bind, h); err != nil || !is {
			return false, other, err
		}
	}
	return true, "", nil
}

// answers reports whether it is known without reading rows that h holds; leaf is -1 where its column is more than one.
func (s *fileSource) answers(p pipeline.Part, leaf int, h *held) (bool, error) {
	if leaf < 0 || (h.konst == nil && !h.fill) {
		return false, nil
	}
	if nulls, _ := s.Counts(p, leaf); nulls != 0 {
		return false, nil
	}
	if h.fill {
		return true, nil
	}
	c, ok, err := s.Chunk(p, leaf)
	return ok && c.Nulls == 0 && len(c.Dict) == 1 && c.Dict[0].Equal(*h.konst), err
}

// holdsIn reads the rows of one part.
func (s *fileSource) holdsIn(ctx context.Context, p pipeline.Part, bind *record.Binding, h *held) (bool, string, error) {
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
		b.First = p.First + done
		done += int64(b.Rows)
		cur.Reset(b)
		for cur.Next() {
			v := cur.At(0)
			right := !v.IsNull()
			if !h.fill {
				right = (v.IsNull() && v.Depth() < parents) || v.Equal(h.value(cur))
			}
			if !right {
				return false, fmt.Sprintf("%s in row %d", v.Excerpt(40), cur.Origin().Row), nil
			}
		}
	}
}

func (h *held) value(row schema.Row) schema.Value {
	if h.konst != nil {
		return *h.konst
	}
	return h.want(row)
}
