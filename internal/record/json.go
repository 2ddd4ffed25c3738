package record

import "github.com/rlprep/rlprep/schema"

// RowJSON returns row at as a JSON object of the columns that are decoded. It reads the batch from its start, so it is for
// a row or two.
func (b *Batch) RowJSON(at int) []byte { return b.RowValue(at).AppendJSON(nil) }

// RowValue returns row at as a struct of the columns that are decoded, a view of the batch.
func (b *Batch) RowValue(at int) schema.Value {
	var paths []schema.Path
	var fields []schema.Field
	leaf := 0
	for _, f := range b.Schema.Fields {
		p := schema.Path("").Field(f.Name)
		whole := true
		for ; leaf < len(b.Leaves) && b.Leaves[leaf].Path.Under(p); leaf++ {
			l := &b.Leaves[leaf]
			whole = whole && (l.Vec != nil || l.Const != nil || l.Seq != nil)
		}
		if whole {
			paths, fields = append(paths, p), append(fields, f)
		}
	}
	cur := Bind(b.Schema, paths).Cursor()
	cur.Reset(b)
	for cur.Next() && cur.Row() < at {
	}
	values := make([]schema.Value, len(paths))
	for i := range paths {
		values[i] = cur.At(i)
	}
	t := schema.StructOf(fields...)
	return schema.StructValue(&t, values)
}
