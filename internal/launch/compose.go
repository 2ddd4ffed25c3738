package launch

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema/rule"
)

// Options say what a configuration is composed over.
type Options struct {
	Configs *rule.Configs     // that the trainer brings; nil: none are known
	Version string            // names its values in sources: "verl 0.9"
	Opened  func(path string) // called with every configuration file that was read; nil: nobody asks
}

// read is readYAML for a file that the launch names.
func (o *Options) read(path, shown string) (*Node, error) {
	doc, _, err := o.readText(path, shown)
	return doc, err
}

// readText is read, with the text of the file.
func (o *Options) readText(path, shown string) (*Node, []byte, error) {
	doc, text, err := readYAML(path, shown)
	if o.Opened != nil && !errors.Is(err, errNoConfig) {
		o.Opened(path)
	}
	return doc, text, err
}

// OptionsFor returns the options for launches of the target's framework, which has a profile.
func OptionsFor(t rule.Target) Options {
	o := Options{Version: t.Framework + " " + t.Version}
	if p := t.Profile(); p.Configs != nil {
		o.Configs = p.Configs(t)
	}
	return o
}

// A Config is what a command gives the trainer.
type Config struct {
	Command  *Command
	Root     *Node
	Problems []Problem
	Notes    []string

	module  string          // that is run; "": unknown
	whole   bool            // every file of the configuration is known, so a key that does not exist is refused
	sets    map[string]bool // keys that a YAML file or the command set, with every key above and below
	inFiles map[string]bool // those that a YAML file sets
	foreign bool            // the program is one of another version
	builds  bool            // it holds files of the trainer's own
	hydra   bool            // the program is Hydra's for certain
	late    []*Override     // refused, because the key does not exist or is there already
	opts    Options
}

// A Problem is something that Hydra would refuse.
type Problem struct {
	Source Source
	Key    string
	Text   string
	Kind   rule.RefusalKind
}

// Compose merges the YAML that the command names, or that its program brings, and its overrides, as Hydra does.
func Compose(c *Command, o Options) *Config {
	inv := c.invocation()
	cfg := &Config{Command: c, module: inv.module, Root: &Node{Kind: Map}, sets: map[string]bool{}, opts: o}
	cfg.compose(cfg.primary(inv))
	for i, e := range c.Errors {
		cfg.Problems = append(cfg.Problems, Problem{Source: c.refused[i], Text: e})
	}
	if cfg.hydra {
		cfg.Problems = append(cfg.Problems, c.notOverrides()...)
	}
	cfg.Problems = append(cfg.Problems, c.lost...)
	return cfg
}

// ComposeFile merges one YAML file and overrides. The file is found from where we are, as a script is; cwd is where the launch
// runs.
func ComposeFile(file, cwd string, overrides []string, o Options) (*Config, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("find configuration: %w", err)
	}
	c := NewCommand(append([]string{"python3", "-m", ""}, overrides...), cwd)
	c.File = file
	cfg := &Config{Command: &c, Root: &Node{Kind: Map}, sets: map[string]bool{}, opts: o}
	l := &loader{cfg: cfg, cwd: cwd, dirs: []folder{{dir: filepath.Dir(abs), shown: filepath.Dir(file)}}}
	doc, err := l.open(abs, file)
	if err != nil {
		return nil, err
	}
	l.read = map[string]*document{strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)): doc}
	cfg.compose(l, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	return cfg, nil
}

// of reports whether the configuration sets a key that begins as those of the profile's trainer do, or builds on the trainer's own.
func (cfg *Config) of(p *rule.Profile) bool {
	if cfg.builds || len(p.Keys) == 0 {
		return true
	}
	for key := range cfg.inFiles {
		if slices.ContainsFunc(p.Keys, func(with string) bool { return strings.HasPrefix(key+".", with) }) {
			return true
		}
	}
	return false
}

// compose merges the files of a primary configuration, then the overrides. Where it is not known, the trainer's own lies beneath, and
// nothing is refused.
func (cfg *Config) compose(l *loader, name string) {
	comp := &composition{loader: l, choices: map[string]*choice{}, deleted: map[string]*choice{}, known: map[string]string{}}
	doc, err := l.find(name)
	if err == nil {
		l.search(doc)
	}
	rest := comp.overrides(cfg.Command.Overrides)
	var parts []part
	switch {
	case err == nil:
		if parts, err = comp.parts(&defaultsEntry{path: name}, true, false, 0); err != nil {
			cfg.Problems = append(cfg.Problems, Problem{Source: cfg.Command.place(), Text: err.Error()})
		} else {
			comp.unused(cfg.Command.Overrides)
			cfg.whole = !comp.lost && !cfg.foreign
		}
	case !errors.Is(err, errNoConfig):
		cfg.Problems = append(cfg.Problems, Problem{Source: cfg.Command.place(), Text: err.Error()})
	}
	cfg.builds = slices.ContainsFunc(parts, func(p part) bool { return p.doc.builtin })
	if !cfg.whole && !cfg.builds {
		cfg.beneath()
	}
	seen := map[string]bool{}
	for _, p := range parts {
		if p.key != "" && seen[p.key] {
			cfg.Problems = append(cfg.Problems, Problem{Source: cfg.Command.place(), Key: p.key, Text: p.key + " appears more than once in the final defaults list", Kind: rule.UnknownKey})
		}
		seen[p.key] = true
		cfg.merge(p.pkg, p.doc)
	}
	cfg.inFiles = maps.Clone(cfg.sets)
	for _, o := range rest {
		cfg.override(o)
	}
	for _, o := range cfg.late { // what the user meant: rules judge it, too
		n := literal(o.Value, o.Source)
		cfg.mark(o.Key, n)
		cfg.put(o.Key, n)
	}
}

// beneath merges the trainer's own configuration.
func (cfg *Config) beneath() {
	c := cfg.opts.Configs
	if c == nil {
		return
	}
	l := &loader{cfg: cfg, dirs: []folder{{dir: path.Dir(c.Base), builtin: true}}}
	comp := &composition{loader: l, choices: map[string]*choice{}, deleted: map[string]*choice{}, known: map[string]string{}}
	parts, err := comp.parts(&defaultsEntry{path: path.Base(c.Base)}, true, false, 0)
	if err != nil {
		panic("launch: the trainer's own configuration: " + err.Error())
	}
	for _, p := range parts {
		cfg.merge(p.pkg, p.doc)
	}
}

// place is where a command stands.
func (c *Command) place() Source {
	s := Source{Kind: FromScript, File: c.File, Line: c.Line}
	if c.File == "" {
		s.Kind = FromArgument
	}
	return s
}

// merge merges a file at a package.
func (cfg *Config) merge(pkg string, doc *document) {
	n := doc.values
	if !doc.trainers {
		cfg.mark(pkg, n)
	}
	if pkg == "" {
		mergeInto(cfg.Root, n)
		return
	}
	m := &Node{Kind: Map}
	steps := strings.Split(pkg, ".")
	for i := len(steps) - 1; i >= 0; i-- {
		m = &Node{Kind: Map, Source: n.Source}
		m.set(steps[i], n)
		n = m
	}
	mergeInto(cfg.Root, m)
}

// mark notes which keys are set.
func (cfg *Config) mark(key string, n *Node) {
	for k := key; k != ""; k = parent(k) {
		cfg.sets[k] = true
	}
	for _, name := range n.Keys {
		cfg.mark(join(key, name), n.fields[name])
	}
}

// join joins two keys, either of which may be empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}

func parent(key string) string {
	return key[:max(strings.LastIndexByte(key, '.'), 0)]
}

// mergeInto merges b over a: maps join, everything else is replaced.
func mergeInto(a, b *Node) {
	for _, k := range b.Keys {
		v := b.fields[k]
		if have := a.Field(k); have != nil && have.Kind == Map && v.Kind == Map {
			mergeInto(have, v)
			continue
		}
		if have := a.Field(k); have != nil && v.Kind == Scalar && v.Value == "???" {
			continue // a value that is still to come replaces none
		}
		a.set(k, clone(v))
	}
}

// clone copies maps, which are merged into; scalars and lists are never changed.
func clone(n *Node) *Node {
	if n.Kind != Map {
		return n
	}
	c := &Node{Kind: Map, Source: n.Source}
	for _, k := range n.Keys {
		c.set(k, clone(n.fields[k]))
	}
	return c
}

// put sets a key and makes the maps above it. A map is merged into an existing one.
func (cfg *Config) put(key string, n *Node) {
	at := cfg.Root
	steps := strings.Split(key, ".")
	for _, s := range steps[:len(steps)-1] {
		next := at.Field(s)
		if next == nil || next.Kind != Map {
			next = &Node{Kind: Map, Source: n.Source}
			at.set(s, next)
		}
		at = next
	}
	last := steps[len(steps)-1]
	if have := at.Field(last); have != nil && have.Kind == Map && n.Kind == Map {
		mergeInto(have, n)
		return
	}
	at.set(last, clone(n))
}

// literal makes a node of a value of an override or of a default.
func literal(v any, s Source) *Node {
	switch v := v.(type) {
	case []any:
		n := &Node{Kind: List, Source: s}
		for _, e := range v {
			n.List = append(n.List, literal(e, s))
		}
		return n
	case hydra.Sweep:
		return literal([]any(v), s)
	case *hydra.Dict:
		n := &Node{Kind: Map, Source: s}
		for i, k := range v.Keys {
			n.set(hydra.KeyText(k), literal(v.Values[i], s))
		}
		return n
	case hydra.Call:
		return &Node{Value: v.Name + "(…)", Source: s}
	}
	return &Node{Value: v, Source: s}
}

// at returns the node at key as it stands, nil where there is none.
func (cfg *Config) at(key string) *Node {
	n := cfg.Root
	if key == "" {
		return n
	}
	for _, s := range strings.Split(key, ".") {
		if n = n.Field(s); n == nil {
			return nil
		}
	}
	return n
}
