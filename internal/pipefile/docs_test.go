package pipefile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/pipefile"
)

// TestKeysAreDescribed: docs/pipeline.md has a row for each key of the JSON Schema, names each value that a key may have, and has no row for a
// key that does not exist. The keys of verbs have pages of their own.
func TestKeysAreDescribed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pipeline.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.SplitN(line, "|", 3); len(cells) == 3 {
			if key := strings.TrimSpace(cells[1]); strings.HasPrefix(key, "`") {
				rows[strings.Trim(key, "`")] = cells[2]
			}
		}
	}
	made, err := pipefile.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	keys := []string{"steps[].splits"} // of every step
	describedKeys(t, "", tree, rows, &keys)
	for key := range rows {
		if !slices.Contains(keys, key) {
			t.Errorf("docs/pipeline.md has a row for %s, which is no key", key)
		}
	}
	if len(keys) < 10 || !slices.Contains(keys, "contract.on_finding") {
		t.Errorf("the schema was not walked: %v", keys)
	}
}

// describedKeys walks the keys of a schema, but for those of steps.
func describedKeys(t *testing.T, path string, tree map[string]any, rows map[string]string, keys *[]string) {
	t.Helper()
	forms, _ := tree["anyOf"].([]any)
	for _, form := range forms {
		describedKeys(t, path, form.(map[string]any), rows, keys)
	}
	values, _ := tree["enum"].([]any)
	for _, v := range values {
		if s, ok := v.(string); ok && !strings.Contains(rows[path], "`"+s+"`") {
			t.Errorf("docs/pipeline.md: the row of %s lacks its value `%s`", path, s)
		}
	}
	properties, _ := tree["properties"].(map[string]any)
	for name, below := range properties {
		key := name
		if path != "" {
			key = path + "." + name
		}
		if _, ok := rows[key]; !ok {
			t.Errorf("docs/pipeline.md has no row for the key %s", key)
		}
		*keys = append(*keys, key)
		if key != "steps" {
			describedKeys(t, key, below.(map[string]any), rows, keys)
		}
	}
}
