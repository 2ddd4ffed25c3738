package pipefile

import (
	"fmt"

	"github.com/rlprep/rlprep/transform"
)

// SchemaID is where the JSON Schema of pipeline files is found, and its name.
const SchemaID = "https://github.com/rlprep/rlprep/pipeline.schema.json"

type object = map[string]any

func text(doc string) object { return object{"type": "string", "description": doc} }

func list(of object) object { return object{"type": "array", "items": of, "minItems": 1} }

// texts1 is a text or a list of texts.
func texts1(doc string) object {
	one := object{"type": "string"}
	return object{"description": doc, "anyOf": []any{one, list(one)}}
}

func closed(properties object, required ...string) object {
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// JSONSchema returns the JSON Schema (draft 2020-12) of pipeline files, made of what the verbs declare. An error names an argument whose type
// no schema is known for.
func JSONSchema() (map[string]any, error) {
	steps := []any{}
	var bare []string
	for _, v := range transform.All() {
		args, err := verbSchema(v)
		if err != nil {
			return nil, err
		}
		step := closed(object{v.Name: args, "splits": texts1("the splits that the step is for; all when not given")}, v.Name)
		step["description"] = v.Title
		steps = append(steps, step)
		if !needsArgs(v) {
			bare = append(bare, v.Name)
		}
	}
	steps = append(steps, object{"type": "string", "enum": bare, "description": "a step without arguments"})
	source := texts1("files, folders or globs, from the pipeline's folder")
	out := closed(object{
		"sources": object{"description": "where the rows are read: for all splits, or split by split",
			"anyOf": []any{source, object{"type": "object", "minProperties": 1, "propertyNames": object{"pattern": "^[A-Za-z0-9_]+$"}, "additionalProperties": source}}},
		"columns": object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "string"},
			"description": "types of the columns of JSON Lines: string, int64, double, bool, list<element: …>, struct<name: …>; found out from the rows when not given"},
		"steps": list(object{"anyOf": steps}),
		"contract": closed(object{
			"rows":          object{"enum": []string{"rl", "sft", "preference"}, "description": "what the rows are for; told by the columns when not given"},
			"target":        text("the trainer that judges: verl@0.9"),
			"known_agents":  texts1("agent loops that your launch registers"),
			"known_sources": texts1("values of data_source that your reward function scores"),
			"expects":       texts1("ids of rules whose findings are at most warnings"),
		}),
		"output": closed(object{
			"shards":      object{"type": "integer", "minimum": 1, "description": "files of each split"},
			"compression": object{"enum": []string{"zstd", "snappy", "none"}},
		}),
	}, "steps")
	out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out["$id"] = SchemaID
	out["title"] = "rlprep pipeline"
	return out, nil
}

func needsArgs(v *transform.Verb) bool {
	if v.Name == "map" || v.Name == "prompt" { // one of several
		return true
	}
	for _, a := range v.Args {
		if a.Required {
			return true
		}
	}
	return false
}

// verbSchema is the schema of a verb's arguments, with the short form where there is one.
func verbSchema(v *transform.Verb) (object, error) {
	properties := object{}
	required := []string{}
	forms := []any{}
	for _, a := range v.Args {
		s, err := argSchema(a)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", v.Name, err)
		}
		properties[a.Name] = s
		if a.Required {
			required = append(required, a.Name)
		}
		if a.Name == v.Short {
			forms = append(forms, s)
		}
	}
	forms = append(forms, closed(properties, required...))
	if !needsArgs(v) {
		forms = append(forms, object{"type": "null"})
	}
	return object{"anyOf": forms}, nil
}

func argSchema(a transform.Arg) (object, error) {
	out := object{}
	switch a.Type {
	case "path", "string", "template", "regexp", "type", "expression", FileType, SplitType:
		out["type"] = "string"
	case "path or list of paths":
		out = texts1("")
	case "int":
		out["type"] = "integer"
	case "number":
		out["type"] = "number"
	case "value": // anything
	case "list of {role, template}":
		out = list(closed(object{"role": object{"type": "string"}, "template": object{"type": "string"}}, "role", "template"))
	case "mapping of names to shares":
		out = object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "number", "exclusiveMinimum": 0, "maximum": 1}}
	case "mapping of names to types":
		out = object{"type": "object", "additionalProperties": object{"type": "string"}}
	default:
		return nil, fmt.Errorf("argument %s: no schema for its type %q", a.Name, a.Type)
	}
	if a.Values != nil {
		out["enum"] = a.Values
	}
	out["description"] = a.Doc
	return out, nil
}
