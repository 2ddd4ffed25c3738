package pipeline

import (
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// hidden are the columns of a bucket after those of its rows.
var hidden = []string{"position", "number", "file", "row group", "row", "line"}

func (o *Order) bucketSchema(split string) *schema.Schema {
	out := o.scatter.Schemas[split].Clone()
	for _, name := range hidden {
		out.Fields = append(out.Fields, schema.Field{Name: "\x00" + name, Type: schema.Int64Type})
	}
	return out
}

// A scatterer cuts the rows of a row group into buckets.
type scatterer struct {
	order    *Order
	schema   *schema.Schema
	encoders []*parquetio.Encoder // by bucket
}

func (o *Order) newScatterer(split string) *scatterer {
	return &scatterer{order: o, schema: o.bucketSchema(split), encoders: make([]*parquetio.Encoder, len(o.buckets))}
}

// rows adds the rows of a batch of a file.
func (s *scatterer) rows(b *record.Batch, file int) error {
	if b.Rows == 0 {
		return nil
	}
	before, err := s.order.gone.Count(0, b.Number(0))
	if err != nil {
		return err
	}
	positions, err := s.order.positions.At(b.Number(0)-before, int64(b.Rows)) // rows that are gone have no rank
	if err != nil {
		return err
	}
	take := make([][]int32, len(s.encoders))
	for i, at := range positions {
		if at >= 0 {
			k := at / s.order.size
			take[k] = append(take[k], int32(i))
		}
	}
	places, err := s.places(b, file, positions)
	if err != nil {
		return err
	}
	leaves := s.schema.Leaves()
	for k, rows := range take {
		if len(rows) == 0 {
			continue
		}
		out := &record.Batch{Schema: s.schema, Rows: len(rows), File: b.File, RowGroup: b.RowGroup}
		for i, l := range b.Leaves[:len(leaves)-len(hidden)] {
			out.Leaves = append(out.Leaves, record.Leaf{Leaf: leaves[i], Vec: l.Vec.SelectRows(rows, l.MaxDef)})
		}
		for _, v := range places {
			out.Leaves = append(out.Leaves, record.Leaf{Leaf: leaves[len(out.Leaves)], Vec: v.SelectRows(rows, 0)})
		}
		if s.encoders[k] == nil {
			s.encoders[k] = parquetio.NewEncoder(s.schema, parquetio.EncoderOptions{Codec: parquetio.Snappy})
		}
		if err := s.encoders[k].Append(out); err != nil {
			return err
		}
	}
	return nil
}

// places are the hidden columns of a batch.
func (s *scatterer) places(b *record.Batch, file int, positions []int64) ([]*record.Vector, error) {
	builder, err := record.NewBuilder(schema.Field{Type: schema.StructOf(s.schema.Fields[len(s.schema.Fields)-len(hidden):]...)}, 0)
	if err != nil {
		return nil, err
	}
	values := make([]schema.Value, len(hidden))
	for i, at := range positions {
		pos := b.Pos(b.ReadIndex(i))
		for k, n := range []int64{at, b.Number(i), int64(file), int64(pos.RowGroup), pos.Row, pos.Line} {
			values[k] = schema.IntValue(n)
		}
		if err := builder.Append(schema.StructValue(nil, values)); err != nil {
			return nil, err
		}
	}
	return builder.Vectors(), nil
}

// finish returns the row group of each bucket.
func (s *scatterer) finish() ([]*parquetio.EncodedRowGroup, error) {
	out := make([]*parquetio.EncodedRowGroup, len(s.encoders))
	for k, e := range s.encoders {
		if e == nil {
			continue
		}
		var err error
		if out[k], err = e.Finish(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
