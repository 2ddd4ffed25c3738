package pipefile

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// SchemaID is where the JSON Schema of pipeline files is found, and its name.
const SchemaID = "https://github.com/rlprep/rlprep/pipeline.schema.json"

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
		step := yamlfile.ClosedSchema(yamlfile.Schema{v.Name: args, "splits": yamlfile.TextsSchema("the splits that the step is for; all when not given")}, v.Name)
		step["description"] = v.Title
		steps = append(steps, step)
		if !needsArgs(v) {
			bare = append(bare, v.Name)
		}
	}
	steps = append(steps, yamlfile.Schema{"type": "string", "enum": bare, "description": "a step without arguments"})
	files := yamlfile.Schema{"type": "integer", "minimum": 1}
	source := yamlfile.TextsSchema("files, folders or globs, from the pipeline's folder")
	out := yamlfile.ClosedSchema(yamlfile.Schema{
		"sources": yamlfile.Schema{"description": "where the rows are read: for all splits, or split by split",
			"anyOf": []any{source, yamlfile.Schema{"type": "object", "minProperties": 1, "propertyNames": yamlfile.Schema{"pattern": "^[A-Za-z0-9_]+$"}, "additionalProperties": source}}},
		"columns": yamlfile.Schema{"type": "object", "minProperties": 1, "additionalProperties": yamlfile.Schema{"type": "string"},
			"description": "types of the columns of JSON Lines: string, int64, double, bool, list<element: …>, struct<name: …>; found out from the rows when not given"},
		"steps": yamlfile.ListSchema(yamlfile.Schema{"anyOf": steps}),
		"contract": yamlfile.Schema{"description": "how the rows are judged; none: not at all, for a pipeline whose output another pipeline reads",
			"anyOf": []any{yamlfile.Schema{"const": "none"}, yamlfile.ClosedSchema(yamlfile.Schema{
				"rows":          yamlfile.Schema{"enum": rule.KindNames(), "description": "kind of rows (default: follows from the columns)"},
				"target":        yamlfile.TextSchema("the trainer that judges: " + rule.TargetNames()),
				"known_agents":  yamlfile.TextsSchema("agent loops that your launch registers"),
				"known_sources": yamlfile.TextsSchema("values of data_source that your reward function scores"),
				"on_finding":    yamlfile.Schema{"enum": onFinding, "description": "what an error about a single row does: fail the run, or reject the row under the id of the rule"},
				"expects":       yamlfile.TextsSchema("ids of rules whose findings are at most warnings"),
			})}},
		"output": yamlfile.ClosedSchema(yamlfile.Schema{
			"shards": yamlfile.Schema{"description": "files of each split, or of single splits: {train: 8, test: 1}", "anyOf": []any{files,
				yamlfile.Schema{"type": "object", "minProperties": 1, "additionalProperties": files}}},
			"compression": yamlfile.Schema{"enum": []string{"zstd", "snappy", "none"}},
		}),
	}, "steps")
	return yamlfile.DocumentSchema(out, SchemaID, "rlprep pipeline"), nil
}

func needsArgs(v *transform.Verb) bool {
	if v.Name == "map" || v.Name == "prompt" || v.Name == "slice" { // one of several
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
func verbSchema(v *transform.Verb) (yamlfile.Schema, error) {
	properties := yamlfile.Schema{}
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
	forms = append(forms, yamlfile.ClosedSchema(properties, required...))
	if !needsArgs(v) {
		forms = append(forms, yamlfile.Schema{"type": "null"})
	}
	return yamlfile.Schema{"anyOf": forms}, nil
}

func argSchema(a transform.Arg) (yamlfile.Schema, error) {
	out := yamlfile.Schema{}
	switch a.Type {
	case "path", "string", "template", "regexp", "type", "expression", FileType, transform.SplitType:
		out["type"] = "string"
	case "path or list of paths":
		out = yamlfile.TextsSchema("")
	case "int":
		out["type"] = "integer"
	case "number":
		out["type"] = "number"
	case "value": // anything
	case "list of {role, template}":
		out = yamlfile.ListSchema(yamlfile.ClosedSchema(yamlfile.Schema{"role": yamlfile.Schema{"type": "string"}, "template": yamlfile.Schema{"type": "string"}, "loss_mask": yamlfile.Schema{"type": "integer"}}, "role", "template"))
	case "mapping of names to shares":
		out = yamlfile.Schema{"anyOf": []any{
			yamlfile.Schema{"type": "object", "minProperties": 1, "additionalProperties": yamlfile.Schema{"type": "number", "exclusiveMinimum": 0, "maximum": 1}},
			yamlfile.Schema{"type": "array", "minItems": 1, "items": yamlfile.Schema{"type": "string", "minLength": 1}},
		}}
	case "mapping of names to slices":
		out = yamlfile.Schema{"type": "object", "minProperties": 1, "additionalProperties": yamlfile.Schema{"type": "string"}}
	case "mapping of names to types", "mapping of names to names":
		out = yamlfile.Schema{"type": "object", "additionalProperties": yamlfile.Schema{"type": "string"}}
	default:
		return nil, fmt.Errorf("argument %s: no schema for its type %q", a.Name, a.Type)
	}
	if a.Values != nil {
		out["enum"] = a.Values
	}
	out["description"] = a.Doc
	return out, nil
}
