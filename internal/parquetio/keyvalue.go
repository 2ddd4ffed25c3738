package parquetio

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

const (
	hfKey     = "huggingface"
	pandasKey = "pandas"
)

// schemaCopies are keys under which other writers keep a second schema, which their readers then take for the file's own:
// Spark (ParquetFileFormat.readSchemaFromFooter) would not see a column that was added. They go once the columns differ.
var schemaCopies = []string{
	"org.apache.spark.sql.parquet.row.metadata", "parquet.avro.schema", "avro.schema", "iceberg.schema",
}

// keyValues returns the key-value metadata to write: that of Base, with what describes the columns brought up to date, and
// Metadata of the options over it.
func (w *Writer) keyValues() []KeyValue {
	var out []KeyValue
	arrowAt := -1
	if base := w.o.Base; base != nil {
		changed := !sameColumns(w.schema, base.schema)
		for _, kv := range base.meta.keyValues {
			keep := true
			switch {
			case kv.Key == arrowSchemaKey:
				keep = arrowAt < 0 && base.arrow != nil
				arrowAt = len(out)
			case kv.Key == hfKey:
				kv.Value, keep = updateHF(kv.Value, w.schema, base, w.o.HF)
			case kv.Key == pandasKey && changed || kv.Key == pandasKey && w.written.Rows != base.meta.rows, kv.Key == pandasKey && !readablePandas(kv.Value):
				kv.Value, keep = updatePandas(kv.Value, w.schema, base, w.written.Rows)
			case slices.Contains(schemaCopies, kv.Key):
				keep = !changed
			}
			if keep {
				out = append(out, kv)
			}
		}
	}
	for _, kv := range w.o.Metadata {
		if i := slices.IndexFunc(out, func(o KeyValue) bool { return o.Key == kv.Key }); i >= 0 {
			out[i] = kv
		} else {
			out = append(out, kv)
		}
	}
	if arrowAt < 0 || w.o.Base.arrow == nil {
		return out
	}
	value, ok := newArrowSchema(w.schema, w.o.Base.arrow, out)
	if !ok {
		return slices.Delete(out, arrowAt, arrowAt+1)
	}
	out[arrowAt].Value = value
	return out
}

// sameColumns reports whether a and b have the same columns in the same order.
func sameColumns(a, b *schema.Schema) bool {
	return slices.EqualFunc(a.Fields, b.Fields, func(x, y schema.Field) bool { return sameField(x, y) })
}

func sameField(x, y schema.Field) bool {
	return x.Name == y.Name && x.Nullable == y.Nullable && x.Type.Equal(y.Type) &&
		slices.EqualFunc(x.Type.Fields, y.Type.Fields, sameField)
}

// nameIn returns the name that f had in file, and false where it does not come from there.
func nameIn(f schema.Field, file *File) (string, bool) {
	o := originOf(f)
	if o == nil || o.file != file {
		return "", false
	}
	return file.meta.elements[o.elem].name, true
}

// A jsonObject is a JSON object whose members keep their order and, where they are not touched, their text.
type jsonObject []jsonMember

type jsonMember struct {
	key   string
	value json.RawMessage
}

var errNoObject = errors.New("not a JSON object")

func parseObject(b []byte) (jsonObject, error) {
	if !json.Valid(b) {
		return nil, errNoObject
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoObject
	}
	out := jsonObject{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, jsonMember{key, v})
	}
	return out, nil
}

func (o jsonObject) get(key string) json.RawMessage {
	for i := range o {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

// set replaces or appends a member.
func (o *jsonObject) set(key string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, jsonMember{key, value})
}

// append appends the object as Python's json.dumps separates it.
func (o jsonObject) append(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(schema.AppendQuoted(b, m.key), ": "...)
		b = append(b, m.value...)
	}
	return append(b, '}')
}

func quoted(s string) json.RawMessage { return schema.AppendQuoted(nil, s) }
