package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/rlprep/rlprep/schema"
)

// arrowLines returns the decompressor, so to say, that makes JSON Lines of the rows of an Arrow IPC file or stream, such as HF datasets'
// save_to_disk writes. file is the opened file.
func arrowLines(file *os.File) *decompressor {
	return &decompressor{"Arrow", func(r io.Reader) (io.ReadCloser, error) {
		batches, err := arrowBatches(file, r)
		if err != nil {
			return nil, err
		}
		for _, f := range batches.schema.Fields() {
			if err := asJSON(f.Type); err != nil {
				return nil, fmt.Errorf("column %q: %w: save the dataset as Parquet (to_parquet)", f.Name, err)
			}
		}
		return &arrowReader{batches: batches}, nil
	}}
}

// arrowMixed is how an Arrow stream begins, of the format's version 0.15 and later.
var arrowMixed = []byte{0xff, 0xff, 0xff, 0xff}

// batchReader is what the two forms of Arrow IPC have in common.
type batchReader struct {
	schema *arrow.Schema
	next   func() (arrow.RecordBatch, error) // io.EOF: no more
	close  func()
}

func arrowBatches(file *os.File, r io.Reader) (b *batchReader, err error) {
	defer recovered(&err)
	head := make([]byte, len(arrowMagic))
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if bytes.Equal(head, arrowMagic) {
		f, err := ipc.NewFileReader(file)
		if err != nil {
			return nil, err
		}
		return &batchReader{f.Schema(), func() (arrow.RecordBatch, error) { return f.Read() }, func() { f.Close() }}, nil
	}
	s, err := ipc.NewReader(r)
	if err != nil {
		return nil, err
	}
	return &batchReader{s.Schema(), func() (arrow.RecordBatch, error) { return s.Read() }, s.Release}, nil
}

// recovered makes an error of a panic of the Arrow library, as damaged files cause them.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// asJSON returns an error where JSON does not hold the values of a type as they are.
func asJSON(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if err := asJSON(f.Type); err != nil {
				return fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
		return nil
	case *arrow.DictionaryType:
		return asJSON(t.ValueType)
	case *arrow.ExtensionBase, *arrow.MapType:
	case arrow.ListLikeType:
		return asJSON(t.Elem())
	}
	switch t.ID() {
	case arrow.NULL, arrow.BOOL, arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32,
		arrow.FLOAT32, arrow.FLOAT64:
		return nil
	}
	return fmt.Errorf("type %s of Arrow is not supported", t)
}

// An arrowReader reads record batches as JSON Lines.
type arrowReader struct {
	batches *batchReader
	pending bytes.Buffer
	line    []byte
}

// Read implements io.Reader.
func (a *arrowReader) Read(b []byte) (n int, err error) {
	defer recovered(&err)
	for a.pending.Len() == 0 {
		batch, err := a.batches.next()
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		a.pending.Reset()
		for row := range int(batch.NumRows()) {
			line := append(a.line[:0], '{')
			for i, c := range batch.Columns() {
				if line, err = appendMember(line, i, batch.ColumnName(i), c, row); err != nil {
					return 0, err
				}
			}
			a.line = append(line, '}', '\n')
			a.pending.Write(a.line)
		}
	}
	return a.pending.Read(b)
}

// appendMember appends the i-th member of an object: the value of c in a row.
func appendMember(out []byte, i int, name string, c arrow.Array, row int) ([]byte, error) {
	if i > 0 {
		out = append(out, ',')
	}
	return appendArrow(append(schema.AppendQuoted(out, name), ':'), c, row)
}

// appendArrow appends the value of c in a row as JSON, fields in their order.
func appendArrow(out []byte, c arrow.Array, row int) (_ []byte, err error) {
	if c.IsNull(row) {
		return append(out, "null"...), nil
	}
	switch c := c.(type) {
	case *array.Struct:
		out = append(out, '{')
		for i, f := range c.DataType().(*arrow.StructType).Fields() {
			if out, err = appendMember(out, i, f.Name, c.Field(i), row); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case array.ListLike:
		from, to := c.ValueOffsets(row)
		out = append(out, '[')
		for i := from; i < to; i++ {
			if i > from {
				out = append(out, ',')
			}
			if out, err = appendArrow(out, c.ListValues(), int(i)); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case *array.Dictionary:
		return appendArrow(out, c.Dictionary(), c.GetValueIndex(row))
	case interface{ Value(int) string }:
		return schema.AppendQuoted(out, c.Value(row)), nil
	case *array.Float64:
		return appendFloat(out, c.Value(row), 64)
	case *array.Float32:
		return appendFloat(out, float64(c.Value(row)), 32)
	}
	b, err := json.Marshal(c.GetOneForMarshal(row))
	return append(out, b...), err
}

// appendFloat appends a number with a fraction, so that its column is one of such numbers. JSON has no NaN.
func appendFloat(out []byte, v float64, bits int) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("a value is %g, which JSON cannot hold: save the dataset as Parquet (to_parquet)", v)
	}
	n := len(out)
	out = strconv.AppendFloat(out, v, 'g', -1, bits)
	if !bytes.ContainsAny(out[n:], ".e") {
		out = append(out, ".0"...)
	}
	return out, nil
}

// Close implements io.Closer.
func (a *arrowReader) Close() error {
	a.batches.close()
	return nil
}
