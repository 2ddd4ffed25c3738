// Package pipelinetest has an input and a sink in memory, so that tests can run a pipeline without files and without the command line.
package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform/transformtest"
)

// An Input is files in memory. They are Parquet files, or with Lines they behave like line formats: without facts, in ranges of any size.
type Input struct {
	Lines   int64        // rows of a range; 0: ranges are row groups
	Decoded atomic.Int64 // leaves times rows that were decoded
	Changed func(file int) error
	files   []*rule.File
	data    []*parquetio.File
}

// Add adds a file with the rows of a text of JSON Lines, in row groups of at most group rows. Its columns are fields; nil: those that occur.
func (in *Input) Add(split, text string, fields []schema.Field, group int) error {
	table, err := transformtest.Parse(text, fields)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d.parquet", split, len(in.files))
	b, err := Encode(table, group)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f, err := parquetio.OpenAt(name, bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	file := &rule.File{Index: len(in.files), Name: name, Split: split, Format: "parquet", Schema: f.Schema(), Rows: f.NumRows(), Bytes: f.Size(), Metadata: f.Metadata()}
	for _, g := range f.RowGroups() {
		file.RowGroups = append(file.RowGroups, g.Rows)
	}
	if in.Lines > 0 {
		file.Format, file.RowGroups, file.Metadata = "jsonl", nil, nil
	}
	in.files, in.data = append(in.files, file), append(in.data, f)
	return nil
}

// Splits are the splits of the files.
func (in *Input) Splits() (out []pipeline.Split) {
	for i, f := range in.files {
		if n := len(out) - 1; n < 0 || out[n].Name != f.Split {
			out = append(out, pipeline.Split{Name: f.Split})
		}
		out[len(out)-1].Files = append(out[len(out)-1].Files, i)
	}
	return out
}

// Job is a job that checks the files.
func (in *Input) Job() *pipeline.Job {
	j := &pipeline.Job{Input: in, Splits: in.Splits()}
	if in.Lines == 0 {
		j.Facts = in
	}
	j.Rules.Env = &rule.Env{}
	return j
}

// Files implements pipeline.Input.
func (in *Input) Files() []*rule.File { return in.files }

// Ranges implements pipeline.Input.
func (in *Input) Ranges(file int) (out []pipeline.ReadRange, err error) {
	first := int64(0)
	for i, g := range in.data[file].RowGroups() {
		r := pipeline.ReadRange{File: file, RowGroup: i, FileRow: first, Rows: g.Rows, Bytes: g.Uncompressed, Packed: g.Compressed, Whole: true, Handle: int64(0)}
		first += g.Rows
		if in.Lines == 0 {
			out = append(out, r)
			continue
		}
		for r.Rows > in.Lines {
			var a pipeline.ReadRange
			a, r, _ = in.Cut(r, in.Lines)
			out = append(out, a)
		}
		out = append(out, r)
	}
	return out, nil
}

// Cut implements pipeline.Input. Handle is the first row within the row group.
func (in *Input) Cut(r pipeline.ReadRange, rows int64) (a, b pipeline.ReadRange, err error) {
	if rows <= 0 || rows >= r.Rows {
		return a, b, fmt.Errorf("cut after %d of %d rows", rows, r.Rows)
	}
	a, b = r, r
	a.Rows, b.Rows = rows, r.Rows-rows
	a.Bytes, a.Packed = r.Bytes*rows/r.Rows, r.Packed*rows/r.Rows
	b.Bytes, b.Packed = r.Bytes-a.Bytes, r.Packed-a.Packed
	b.FileRow, b.Handle = r.FileRow+rows, r.Handle.(int64)+rows
	a.Whole, b.Whole = false, false
	return a, b, nil
}

// Unchanged implements pipeline.Input.
func (in *Input) Unchanged(file int) error {
	if in.Changed != nil {
		return in.Changed(file)
	}
	return nil
}

// Chunk implements pipeline.Facts.
func (in *Input) Chunk(r pipeline.ReadRange, leaf int) (rule.ColumnFacts, bool, error) {
	c, err := in.data[r.File].Chunk(r.RowGroup, leaf)
	if !r.Whole {
		c.Nulls = -1
	}
	return c, err == nil, err
}

// Nulls implements pipeline.Facts.
func (in *Input) Nulls(r pipeline.ReadRange, leaf int) (int64, error) {
	if !r.Whole {
		return -1, nil
	}
	return in.data[r.File].CountNulls(r.RowGroup, leaf)
}

// Counts implements pipeline.Facts.
func (in *Input) Counts(r pipeline.ReadRange, leaf int) (nulls, bytes int64) {
	return in.data[r.File].Counts(r.RowGroup, leaf)
}

// Raw implements pipeline.Facts.
func (in *Input) Raw(r pipeline.ReadRange, leaf int) *record.Raw {
	if !r.Whole {
		return nil
	}
	return in.data[r.File].Raw(r.RowGroup, leaf)
}

// Open implements pipeline.Input.
func (in *Input) Open(_ context.Context, r pipeline.ReadRange, decode []int) (pipeline.Reader, error) {
	rd, err := in.data[r.File].Reader(r.RowGroup, decode, r.Handle.(int64), r.Rows)
	if err != nil {
		return nil, err
	}
	return &reader{in: in, r: r, decode: decode, from: rd}, nil
}

type reader struct {
	in     *Input
	r      pipeline.ReadRange
	decode []int
	from   *parquetio.Reader
	read   int64
}

// Next implements pipeline.Reader.
func (r *reader) Next(ctx context.Context, limit int) (*record.Batch, error) {
	rows := min(int64(limit), r.r.Rows-r.read)
	if rows == 0 || ctx.Err() != nil {
		return nil, io.EOF
	}
	f := r.in.files[r.r.File]
	vecs, err := r.from.Next(int(rows))
	if err != nil {
		return nil, err
	}
	b := &record.Batch{Schema: f.Schema, File: f.Name, RowGroup: r.r.RowGroup, FileRow: r.r.FileRow + r.read}
	for _, l := range f.Schema.Leaves() {
		b.Leaves = append(b.Leaves, record.Leaf{Leaf: l})
	}
	for k, v := range vecs {
		b.Leaves[r.decode[k]].Vec, b.Rows = v, v.Rows
	}
	if r.in.Lines > 0 {
		b.RowGroup, b.FirstLine = -1, b.FileRow+1
	}
	r.read += int64(b.Rows)
	r.in.Decoded.Add(int64(b.Rows * len(r.decode)))
	return b, nil
}

// Close implements pipeline.Reader.
func (r *reader) Close() error { return r.from.Close() }

// Batch returns the rows of a table as one batch.
func Batch(t *transformtest.Table) (*record.Batch, error) {
	b := &record.Batch{Schema: t.Schema, Rows: len(t.Rows), File: "memory", RowGroup: 0}
	leaves := t.Schema.Leaves()
	for _, f := range t.Schema.Fields {
		build, err := record.NewBuilder(f, 0)
		if err != nil {
			return nil, err
		}
		for _, row := range t.Rows {
			v := row.Field(f.Name)
			if v.IsMissing() {
				v = schema.NullValue
			}
			if err := build.Append(v); err != nil {
				return nil, err
			}
		}
		for _, v := range build.Vectors() {
			b.Leaves = append(b.Leaves, record.Leaf{Leaf: leaves[len(b.Leaves)], Vec: v})
		}
	}
	return b, nil
}

// Encode writes the rows of a table as a Parquet file.
func Encode(t *transformtest.Table, group int) ([]byte, error) {
	out := &buffer{name: "memory"}
	w, err := parquetio.NewWriter(out, t.Schema, parquetio.WriterOptions{CreatedBy: "pipelinetest"})
	if err != nil {
		return nil, err
	}
	enc := parquetio.NewEncoder(t.Schema, parquetio.EncoderOptions{Codec: parquetio.Snappy})
	for rows := t.Rows; len(rows) > 0; {
		part := *t
		part.Rows = rows[:min(group, len(rows))]
		rows = rows[len(part.Rows):]
		b, err := Batch(&part)
		if err != nil {
			return nil, err
		}
		if err := enc.Append(b); err != nil {
			return nil, err
		}
		g, err := enc.Finish()
		if err == nil {
			err = w.Write(g)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err = w.Close()
	return out.Bytes(), err
}

// Rows returns the rows of a Parquet file as JSON Lines.
func Rows(file []byte) (string, error) {
	f, err := parquetio.OpenAt("memory", bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return "", err
	}
	leaves := f.Schema().Leaves()
	all := make([]int, len(leaves))
	for i := range all {
		all[i] = i
	}
	var out strings.Builder
	for i, g := range f.RowGroups() {
		r, err := f.Reader(i, all, 0, g.Rows)
		if err != nil {
			return "", err
		}
		for read := int64(0); read < g.Rows; {
			vecs, err := r.Next(1 << 10)
			if err != nil {
				return "", err
			}
			b := &record.Batch{Schema: f.Schema(), Rows: vecs[0].Rows}
			for k, v := range vecs {
				b.Leaves = append(b.Leaves, record.Leaf{Leaf: leaves[k], Vec: v})
			}
			for row := range b.Rows {
				out.Write(b.RowJSON(row))
				out.WriteByte('\n')
			}
			read += int64(b.Rows)
		}
		r.Close()
	}
	return out.String(), nil
}
