package verl

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rlprep/rlprep/schema/rule"
)

// The configurations of verl's releases 0.5.0, 0.6.1, 0.7.1 (with fsdp_sft_trainer of 0.7.0), 0.8.0 and 0.9.1, one file a version. gen
// makes them of the releases' own trees; testdata/conformance/configs.py holds what is composed of them to hydra-core.
//
//go:generate go run ./gen -trees ../../../shared/data/verl-config -wheels ../../.venv/wheels -out configs
//go:embed configs/*.json.gz
var configFiles embed.FS

// A table is one of these files.
type table struct {
	Release string
	Files   map[string]string
	Mains   map[string]string
	Values  map[string]map[string]any // by file of Mains, by key
}

const baseConfig = "verl/trainer/config/ppo_trainer"

var tables sync.Map // func() *table by version

// tableOf returns the table of the target's version; it is read at the first call.
func tableOf(t rule.Target) *table {
	version := t.Version
	read, _ := tables.LoadOrStore(version, sync.OnceValue(func() *table { return readTable(version) }))
	return read.(func() *table)()
}

func readTable(version string) *table {
	text, err := configFiles.ReadFile(path.Join("configs", version+".json.gz"))
	if err != nil {
		panic("verl: " + err.Error())
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		panic(fmt.Sprintf("verl: configs of %s: %v", version, err))
	}
	out := new(table)
	d := json.NewDecoder(z)
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		panic(fmt.Sprintf("verl: configs of %s: %v", version, err))
	}
	return out
}

// Configs returns the configurations that verl brings in the target's version.
func Configs(t rule.Target) *rule.Configs {
	table := tableOf(t)
	return &rule.Configs{Files: table.Files, Mains: table.Mains, Base: baseConfig, Other: otherConfigs, Versions: versionsWith}
}

// otherConfigs returns the configurations of the newest version that has a program.
func otherConfigs(module string) (*rule.Configs, string) {
	for _, v := range slices.Backward(versions) {
		t := rule.Target{Version: v}
		if _, ok := tableOf(t).Mains[module]; ok {
			return Configs(t), "verl " + v
		}
	}
	return nil, ""
}

// versions are those that have a table, oldest first.
var versions = []string{"0.5", "0.6", "0.7", "0.8", "0.9"}

// versionsWith names the versions in which the configuration of a program has a key, or keys below it.
func versionsWith(module, key string) (out []string) {
	for _, v := range versions {
		table := tableOf(rule.Target{Version: v})
		name, ok := table.Mains[module]
		if !ok {
			continue
		}
		for have := range table.Values[name] {
			if have == key || strings.HasPrefix(have, key+".") {
				out = append(out, "verl "+v)
				break
			}
		}
	}
	return out
}

// defaultOf returns the value that the configuration of a program has for a key: nil, bool, int64, float64, string or []any; false where
// it has no such key. A text "${other.key}" stands for the value of that key. A module that verl does not have counts as main_ppo.
func defaultOf(t rule.Target, module, key string) (any, bool) {
	table := tableOf(t)
	name, ok := table.Mains[module]
	if !ok {
		name = baseConfig
	}
	v, ok := table.Values[name][key]
	return plain(v), ok
}

// plain gives numbers their types.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if i, err := v.Int64(); err == nil {
				return i
			}
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}
