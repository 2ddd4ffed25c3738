package project

import (
	"maps"

	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema/rule"
)

// SchemaID is where the JSON Schema of rlprep.yaml is found, and its name.
const SchemaID = "https://github.com/rlprep/rlprep/rlprep.schema.json"

// JSONSchema returns the JSON Schema (draft 2020-12) of rlprep.yaml.
func JSONSchema() map[string]any {
	type object = yamlfile.Schema
	dataset := settingsSchema()
	for _, k := range splitKeys {
		dataset[k.key] = yamlfile.TextsSchema("files, folders or globs of the split, from the file's folder")
	}
	set := yamlfile.ClosedSchema(dataset)
	set["anyOf"] = []any{object{"required": []string{"config"}}, object{"required": []string{"train"}}, object{"required": []string{"val"}}, object{"required": []string{"test"}}}
	all := settingsSchema()
	maps.Copy(all, object{
		"datasets": object{"type": "object", "minProperties": 1, "additionalProperties": set,
			"description": "data that is trained on together, by name: what 'rlprep lint' without files checks"},
		"per_file_ignores": object{"type": "array", "description": "findings to suppress, with the reason",
			"items": yamlfile.ClosedSchema(object{
				"files":  yamlfile.TextsSchema("files, folders or globs, from the file's folder"),
				"rules":  yamlfile.TextsSchema("ids, names or beginnings of ids"),
				"reason": object{"type": "string", "pattern": `\S`, "description": "why they are suppressed"},
			}, "files", "rules", "reason")},
		"fail_level":     object{"enum": []string{"error", "warning", "info"}, "description": "lowest level that fails"},
		"output_formats": formatsSchema(),
		"baseline":       yamlfile.TextSchema("file of the findings that were there before; 'rlprep lint --write-baseline' writes it"),
	})
	return yamlfile.DocumentSchema(yamlfile.ClosedSchema(all), SchemaID, "rlprep project")
}

func settingsSchema() yamlfile.Schema {
	return yamlfile.Schema{
		"target":        yamlfile.TextSchema("trainer and version: " + rule.TargetNames()),
		"rows":          yamlfile.Schema{"enum": rule.KindNames(), "description": "kind of rows (default: follows from the columns)"},
		"config":        yamlfile.TextsSchema("launch scripts or configurations to check together with the data"),
		"select":        yamlfile.TextsSchema("only these rules: ids, names, beginnings of ids"),
		"ignore":        yamlfile.TextsSchema("without these rules"),
		"known_agents":  yamlfile.TextsSchema("agent loops that your launch registers"),
		"known_sources": yamlfile.TextsSchema("values of data_source that your reward function scores"),
	}
}

func formatsSchema() yamlfile.Schema {
	pattern := "^("
	for i, f := range report.Formats() {
		if i > 0 {
			pattern += "|"
		}
		pattern += f
	}
	one := yamlfile.Schema{"type": "string", "pattern": pattern + ")(=.+)?$"}
	return yamlfile.Schema{"description": "formats of the output, FORMAT or FORMAT=FILE", "anyOf": []any{one, yamlfile.ListSchema(one)}}
}
