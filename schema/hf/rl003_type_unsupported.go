package hf

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

var _ = framework.Add(rule.Rule{
	ID: "RL003", Name: "type-unsupported", Cites: []string{"datasets@5.0.2.dev0 features.py:125"},
	Title: "a column is of a type that HF datasets does not know",
	Doc: `
HF datasets has no type for maps, unions, UUIDs and other extension types: ValueError 'Arrow type … does not have a datasets
dtype equivalent' at load. It fails even if the type is deep inside a column that nobody reads (executed on datasets 5.2). Polars,
Spark and DuckDB write maps for dicts with varying keys.

Drop the column, or make it a struct, a list of {key, value}, or JSON in a string.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the loader fails: no datasets dtype equivalent"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		walk(f.Schema, func(path schema.Path, field schema.Field) bool {
			if !unsupported(field.Type) {
				return true
			}
			p.Reportf(at(f, path), schema.Value{}, "%s: %s", field.Type, p.Consequence)
			return false
		})
	}),
	Fixes:   []rule.Fix{fixes.Unsafe(fixes.DropColumn("drops the column"))},
	Unfixed: "the elements of a list cannot be dropped without the list",
	Examples: []rule.Example{
		{Title: "a map", Files: []string{`{"id":1,"meta":null}`}, Schema: "meta: map<string, string>", Want: []string{"0 -1 meta"}},
		{Title: "a map inside a struct", Files: []string{`{"extra_info":{"meta":null}}`}, Schema: "extra_info.meta: map<string, int64>", Want: []string{"0 -1 extra_info.meta"}},
		{Title: "a UUID", Files: []string{`{"id":"0123456789abcdef"}`}, Schema: "id: extension<arrow.uuid>", Want: []string{"0 -1 id"}},
		{Title: "structs, lists, times", Files: []string{`{"id":1,"meta":{"a":[1]},"at":"2026-01-01"}`}, Schema: "at: timestamp[us]"},
	},
})

// unsupported reports whether datasets has no dtype for t (features.py, _arrow_to_datasets_dtype). A type that is not
// understood here is taken as unsupported only where it is known to be.
func unsupported(t schema.Type) bool {
	if t.Kind == schema.Map {
		return true
	}
	if t.Kind != schema.Other {
		return false
	}
	for _, prefix := range []string{"uuid", "extension<", "dense_union", "sparse_union", "union", "interval", "month_", "day_time", "run_end_encoded"} {
		if strings.HasPrefix(t.Name, prefix) {
			return !strings.Contains(t.Name, "arrow.json")
		}
	}
	return false
}
