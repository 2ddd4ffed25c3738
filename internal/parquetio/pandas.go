package parquetio

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// readablePandas reports whether pandas finds in value what it asks for.
func readablePandas(value string) bool {
	root, err := parseObject([]byte(value))
	var list []json.RawMessage
	return err == nil && json.Unmarshal(root.get("columns"), &list) == nil
}

// updatePandas returns the value of "pandas" for the columns s and rows rows (pandas developer docs, "Storing pandas
// DataFrame objects in Apache Parquet format"), and false where it cannot be read: then pandas does well without.
func updatePandas(value string, s *schema.Schema, base *File, rows int64) (string, bool) {
	root, err := parseObject([]byte(value))
	if err != nil {
		return "", false
	}
	var entries, index []json.RawMessage
	if json.Unmarshal(root.get("columns"), &entries) != nil || json.Unmarshal(root.get("index_columns"), &index) != nil {
		return "", false
	}
	old := map[string]jsonObject{}
	for _, e := range entries {
		o, err := parseObject(e)
		if err != nil {
			return "", false
		}
		old[pandasField(o)] = o
	}
	renamed := map[string]string{}
	columns := []json.RawMessage{}
	for _, f := range s.Fields {
		was, known := nameIn(f, base)
		e, ok := old[was]
		if !known || !ok || !sourceElementOf(f).kind.Equal(f.Type) {
			e = pandasEntry(f)
		} else if was != f.Name {
			e = renamePandas(e, f.Name)
		}
		if known {
			renamed[was] = f.Name
		}
		columns = append(columns, e.append(nil))
	}
	root.set("columns", jsonArray(columns))
	root.set("index_columns", jsonArray(pandasIndex(index, renamed, rows == base.meta.rows)))
	return string(root.append(nil)), true
}

// pandasField returns the name of the column that an entry is about; older writers have no field_name.
func pandasField(e jsonObject) string {
	var name string
	if raw := e.get("field_name"); raw != nil && json.Unmarshal(raw, &name) == nil && name != "" {
		return name
	}
	_ = json.Unmarshal(e.get("name"), &name)
	return name
}

// renamePandas gives an entry another name. An index keeps its user-facing name where that differs from the column's.
func renamePandas(e jsonObject, name string) jsonObject {
	var shown string
	was := pandasField(e)
	out := append(jsonObject{}, e...)
	if json.Unmarshal(e.get("name"), &shown) == nil && shown == was {
		out.set("name", quoted(name))
	}
	out.set("field_name", quoted(name))
	return out
}

// pandasIndex returns index_columns without those that are gone. A range that no longer spans the rows goes too: pandas then
// numbers the rows.
func pandasIndex(index []json.RawMessage, renamed map[string]string, sameRows bool) []json.RawMessage {
	out := []json.RawMessage{}
	for _, e := range index {
		var name string
		if json.Unmarshal(e, &name) != nil {
			if sameRows {
				out = append(out, e)
			}
			continue
		}
		if now, ok := renamed[name]; ok {
			out = append(out, quoted(now))
		}
	}
	return out
}

// pandasEntry describes a column that is new.
func pandasEntry(f schema.Field) jsonObject {
	kind, numpy := pandasTypes(f.Type)
	return jsonObject{
		{"name", quoted(f.Name)}, {"field_name", quoted(f.Name)},
		{"pandas_type", quoted(kind)}, {"numpy_type", quoted(numpy)}, {"metadata", json.RawMessage("null")},
	}
}

// pandasTypes returns pandas_type and numpy_type as pyarrow's pandas_compat.get_logical_type has them.
func pandasTypes(t schema.Type) (kind, numpy string) {
	switch t.Kind {
	case schema.Null:
		return "empty", "object"
	case schema.Bool:
		return "bool", "bool"
	case schema.Int:
		return t.String(), t.String()
	case schema.Float:
		name := fmt.Sprintf("float%d", t.Bits)
		return name, name
	case schema.Text:
		return "unicode", "object"
	case schema.Binary:
		return "bytes", "object"
	case schema.List:
		inner, _ := pandasTypes(t.Fields[0].Type)
		return "list[" + inner + "]", "object"
	case schema.Decimal:
		return "decimal", "object"
	case schema.Time:
		if strings.HasPrefix(t.Name, "date") {
			return "date", "object"
		}
	}
	return "object", "object"
}

func jsonArray(elems []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, e := range elems {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, e...)
	}
	return append(b, ']')
}
