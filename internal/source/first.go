package source

import (
	"context"
	"io"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// FirstRow reads the first row of the file, as a struct; it is Missing where the file has none.
func (f *File) FirstRow(ctx context.Context) (schema.Value, error) {
	var all []int
	for i := range f.Schema.Leaves() {
		all = append(all, i)
	}
	units := f.ReadRanges(0)
	if len(units) == 0 {
		return schema.Value{}, nil
	}
	r, err := f.Open(ctx, units[0], all)
	if err != nil {
		return schema.Value{}, err
	}
	defer r.Close()
	batch, err := r.Next(ctx, 1)
	if err == io.EOF {
		return schema.Value{}, nil
	}
	if err != nil {
		return schema.Value{}, err
	}
	batch.Schema = f.Schema
	return batch.RowValue(0), nil
}

// Offsets returns the number of each split's first row, counting on over the splits: those of order first, then the others as they come.
func (s *Set) Offsets(order []string) map[string]int64 {
	offsets := map[string]int64{}
	var rows int64
	count := func(name string) {
		if x, ok := s.Split(name); ok {
			offsets[name] = rows
			rows += x.Rows()
		}
	}
	for _, name := range order {
		count(name)
	}
	for _, x := range s.Splits {
		if !slices.Contains(order, x.Name) {
			count(x.Name)
		}
	}
	return offsets
}
