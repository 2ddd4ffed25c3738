package yamlfile

// A Schema is a part of a JSON Schema (draft 2020-12), which editors read to complete keys and to mark faults.
type Schema = map[string]any

// TextSchema is that of a text.
func TextSchema(doc string) Schema { return Schema{"type": "string", "description": doc} }

// ListSchema is that of a list of at least one such value.
func ListSchema(of Schema) Schema { return Schema{"type": "array", "items": of, "minItems": 1} }

// TextsSchema is that of what Reader.Texts reads: a text or a list of texts.
func TextsSchema(doc string) Schema {
	one := Schema{"type": "string"}
	return Schema{"description": doc, "anyOf": []any{one, ListSchema(one)}}
}

// ClosedSchema is that of a mapping with these keys and no others.
func ClosedSchema(properties Schema, required ...string) Schema {
	out := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// DocumentSchema makes s the schema of a whole file, found at id.
func DocumentSchema(s Schema, id, title string) Schema {
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = id
	s["title"] = title
	return s
}
