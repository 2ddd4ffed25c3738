package parquetio

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/schema"
)

const (
	hfKey     = "huggingface"
	pandasKey = "pandas"
	geoKey    = "geo"
)

// schemaCopies are keys under which other writers keep a second schema, which their readers then take for the file's own:
// Spark (ParquetFileFormat.readSchemaFromFooter) would not see a column that was added. They go once the columns differ.
var schemaCopies = []string{
	"org.apache.spark.sql.parquet.row.metadata", "parquet.avro.schema", "avro.schema", "iceberg.schema",
}

// keyValues returns the key-value metadata to write: that of Base, with what describes the columns brought up to date, and
// Metadata of the options over it. A key may occur more than once: every entry stays, in its place, and each one that describes
// the columns is brought up to date, because some readers take the first and others the last.
func (w *Writer) keyValues() []KeyValue {
	var out []KeyValue
	changed := false
	if base := w.o.Base; base != nil {
		changed = !sameColumns(w.schema, base.schema)
		for _, kv := range base.meta.keyValues {
			if kv, keep := w.carried(kv, changed); keep {
				out = append(out, kv)
			}
		}
	}
	for _, kv := range w.o.Metadata {
		found := false
		for i := range out {
			if out[i].Key == kv.Key {
				out[i], found = kv, true
			}
		}
		if !found {
			out = append(out, kv)
		}
	}
	if w.o.Base == nil && w.o.Layouts && slices.ContainsFunc(w.schema.Fields, func(f schema.Field) bool { return f.Type.Layout == schema.Large }) {
		if value, ok := newArrowSchema(w.schema, arrow.NewSchema(nil, nil), out); ok { // no other entry distinguishes large_string from string
			out = append(out, KeyValue{Key: arrowschema.Key, Value: value})
		}
	}
	if w.o.Base == nil || w.o.Base.arrow == nil {
		return out
	}
	return w.withArrowSchema(out, changed)
}

// carried returns an entry of Base as it is written, and false where it is left out. ARROW:schema is brought up to date later.
func (w *Writer) carried(kv KeyValue, changed bool) (KeyValue, bool) {
	base, keep := w.o.Base, true
	switch {
	case kv.Key == arrowschema.Key:
		keep = base.arrow != nil
	case kv.Key == hfKey:
		kv.Value, keep = updateHF(kv.Value, w.schema, base, w.o.HF)
	case kv.Key == pandasKey && (changed || w.totals.Rows != base.meta.rows || !readablePandas(kv.Value)):
		kv.Value, keep = updatePandas(kv.Value, w.schema, base, w.totals.Rows)
	case kv.Key == geoKey && changed:
		kv.Value, keep = updateGeo(kv.Value, w.schema, base)
	case slices.Contains(schemaCopies, kv.Key):
		keep = !changed
	}
	return kv, keep
}

// withArrowSchema returns entries with ARROW:schema for the columns that are written. Arrow reads the first one. Others stay as
// they are as long as the columns do; then they get the value of the first.
func (w *Writer) withArrowSchema(entries []KeyValue, changed bool) []KeyValue {
	value, ok := newArrowSchema(w.schema, w.o.Base.arrow, entries)
	if !ok {
		return slices.DeleteFunc(entries, func(kv KeyValue) bool { return kv.Key == arrowschema.Key })
	}
	first := true
	for i := range entries {
		if kv := &entries[i]; kv.Key == arrowschema.Key {
			if first || changed {
				kv.Value, kv.NoValue = value, false
			}
			first = false
		}
	}
	return entries
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
	o := sourceElementOf(f)
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
