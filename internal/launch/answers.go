package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Config answers what rules ask of a launch.
var _ rule.Launch = (*Config)(nil)

// Value implements rule.Launch: defaults do not count.
func (cfg *Config) Value(key string) (schema.Value, schema.Pos) {
	if !cfg.Set(key) {
		return schema.Value{}, schema.Pos{}
	}
	n := cfg.Get(key)
	if n == nil {
		return schema.Value{}, schema.Pos{}
	}
	return toValue(n), cfg.Pos(n.Source)
}

// Whole implements rule.Launch.
func (cfg *Config) Whole() bool {
	return len(cfg.Command.Argv) > 0 && cfg.module != "" && !slices.ContainsFunc(cfg.Command.bareAt, func(s Source) bool { return s.Assumed })
}

// Keys implements rule.Launch.
func (cfg *Config) Keys() (keys []string) {
	for _, key := range cfg.Leaves() {
		if cfg.sets[key] && !cfg.at(key).Source.Assumed {
			keys = append(keys, key)
		}
	}
	return keys
}

// Default implements rule.Launch.
func (cfg *Config) Default(key string) schema.Value {
	n := cfg.Get(key)
	if n == nil || cfg.Set(key) {
		return schema.Value{}
	}
	return toValue(n)
}

// Document implements rule.Launch: it reads the YAML file that the value of the key names.
func (cfg *Config) Document(key string) schema.Value {
	n := cfg.Get(key)
	if n == nil {
		return schema.Value{}
	}
	name, _ := n.Value.(string)
	if name == "" {
		return schema.Value{}
	}
	doc, err := cfg.opts.read(cfg.Path(name), name)
	if err != nil {
		return schema.Value{}
	}
	return toValue(doc)
}

// DocumentError implements rule.Launch.
func (cfg *Config) DocumentError(key string) string {
	name := cfg.text(key)
	if name == "" {
		return ""
	}
	var bad *yamlfile.Error
	if _, err := cfg.opts.read(cfg.Path(name), name); errors.As(err, &bad) {
		return err.Error()
	}
	return ""
}

// maxPython is the size beyond which a file is not read as a Python program, in bytes.
const maxPython = 1 << 20

// Python implements rule.Launch. Files of other names are not read: what a script names may be anything.
func (cfg *Config) Python(key string) (string, bool) {
	name := cfg.text(key)
	if filepath.Ext(name) != ".py" {
		return "", false
	}
	path := cfg.Path(name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxPython {
		return "", false
	}
	text, err := infile.ReadFile(path)
	if cfg.opts.Opened != nil {
		cfg.opts.Opened(path)
	}
	return string(text), err == nil
}

// NearFile implements rule.Launch.
func (cfg *Config) NearFile(name string) string {
	list, err := os.ReadDir(filepath.Dir(cfg.Path(name)))
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range list {
		if filepath.Ext(f.Name()) == filepath.Ext(name) {
			names = append(names, f.Name())
		}
	}
	near := schema.Nearest(filepath.Base(name), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(name), near)
}

// text is the value of a key where it is a text, else "".
func (cfg *Config) text(key string) string {
	n := cfg.Get(key)
	if n == nil {
		return ""
	}
	s, _ := n.Value.(string)
	return s
}

// Operator implements rule.Launch.
func (cfg *Config) Operator(key string) string {
	for i := len(cfg.Command.Overrides) - 1; i >= 0; i-- {
		if o := &cfg.Command.Overrides[i]; o.Key == key && !cfg.inFiles[key] {
			return o.Op
		}
	}
	return ""
}

// Refused implements rule.Launch.
func (cfg *Config) Refused() []rule.Refusal {
	out := make([]rule.Refusal, len(cfg.Problems))
	for i, p := range cfg.Problems {
		out[i] = rule.Refusal{Key: p.Key, Message: p.Text, Pos: cfg.Pos(p.Source), Kind: p.Kind}
	}
	return out
}

// Variable implements rule.Launch: what the script exports to the command.
func (cfg *Config) Variable(name string) (string, bool) { return cfg.Command.env(name) }

// Module implements rule.Launch.
func (cfg *Config) Module() (string, schema.Pos) {
	return cfg.module, cfg.Pos(Source{File: cfg.Command.File, Line: cfg.Command.Line})
}

// MissingFiles implements rule.Launch.
func (cfg *Config) MissingFiles(key string) []string {
	if !cfg.Set(key) {
		return nil
	}
	_, missing := cfg.files(key)
	return missing
}

// Files returns the files that the key names, a default included, and that this machine has, by the path where it finds them.
func (cfg *Config) Files(key string) []string {
	present, _ := cfg.files(key)
	return present
}

// Named calls each with every file of this machine that a value of the configuration names, whatever its key.
func (cfg *Config) Named(each func(key, name, path string) error) error {
	for _, key := range cfg.Leaves() {
		n := cfg.Get(key)
		if n == nil {
			continue
		}
		list := n.List
		if n.Kind == Scalar {
			list = []*Node{n}
		}
		for _, e := range list {
			name, _ := e.Value.(string)
			if name == "" || strings.ContainsAny(name, "\n\x00") || !exists(cfg.Path(name)) {
				continue
			}
			if err := each(key, name, cfg.Path(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// files splits the files that a key names into those that this machine has and those that it does not have, as the launch names
// them.
func (cfg *Config) files(key string) (present, missing []string) {
	n := cfg.Get(key)
	if n == nil {
		return nil, nil
	}
	list := n.List
	if n.Kind == Scalar {
		list = []*Node{n}
	}
	for _, e := range list {
		name, _ := e.Value.(string)
		if name == "" || e.Source.Assumed {
			continue
		}
		path := cfg.Path(name)
		matches, err := filepath.Glob(path)
		switch {
		case err == nil && len(matches) > 0 || exists(path):
			present = append(present, path)
		case !remote(name):
			missing = append(missing, name)
		}
	}
	return present, missing
}

// remote reports whether name lies where this machine cannot look.
func remote(name string) bool {
	return slices.ContainsFunc([]string{"hdfs://", "s3://", "gs://", "hf://", "http://", "https://"}, func(scheme string) bool { return strings.HasPrefix(name, scheme) })
}

// exists reports whether path is a file or folder of this machine.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
