package parquetio

import (
	"encoding/json"

	"github.com/rlprep/rlprep/schema"
)

// updateGeo returns the value of "geo" (the GeoParquet specification, 1.1) for the columns s: readers take the columns that it names for
// geometry, by their names. It returns false where none is left, or where the primary one is gone: GeoParquet asks for it.
func updateGeo(value string, s *schema.Schema, base *File) (string, bool) {
	root, err := parseObject([]byte(value))
	if err != nil {
		return value, true // no reader takes it, before or after
	}
	old, err := parseObject(root.get("columns"))
	if err != nil {
		return value, true
	}
	var primary string
	if json.Unmarshal(root.get("primary_column"), &primary) != nil {
		return value, true
	}
	columns, found := jsonObject{}, false
	for _, f := range s.Fields {
		was, ok := nameIn(f, base)
		if !ok || old.get(was) == nil {
			continue
		}
		columns = append(columns, jsonMember{f.Name, old.get(was)})
		if was == primary {
			root.set("primary_column", quoted(f.Name))
			found = true
		}
	}
	root.set("columns", columns.append(nil))
	return string(root.append(nil)), found
}
