package launch

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

// Options say what a configuration is composed over.
type Options struct {
	// Defaults are the trainer's own values of the version, by key; keys with dots.
	Defaults map[string]any
	Version  string // names the defaults in sources: "verl 0.9"
	// Builtin tells the configurations that the trainer brings itself: they are the defaults where no such file is found.
	Builtin func(name string) bool
	Opened  func(path string) // called with every configuration file that was read; nil: nobody asks
}

// read is readYAML for a file that the launch names.
func (o *Options) read(path, shown string) (*Node, error) {
	doc, err := readYAML(path, shown)
	if o.Opened != nil && !errors.Is(err, errNoConfig) {
		o.Opened(path)
	}
	return doc, err
}

// OptionsFor returns the options for launches of the target's framework, which has a profile.
func OptionsFor(t rule.Target) Options {
	p := t.Profile()
	o := Options{Defaults: map[string]any{}, Version: t.Framework + " " + t.Version, Builtin: p.Builtin}
	if p.Defaults == nil {
		return o
	}
	for key, v := range p.Defaults(t) {
		o.Defaults[key] = withBigInts(v)
	}
	return o
}

// withBigInts gives integers the form that values have here.
func withBigInts(v any) any {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withBigInts(e)
		}
		return out
	}
	return v
}

// A Config is what a command gives the trainer.
type Config struct {
	Command  *Command
	Root     *Node
	Problems []Problem
	Notes    []string

	module  string          // that is run; "": unknown
	sets    map[string]bool // keys that a YAML file or the command set, with every key above and below
	inFiles map[string]bool // those that a YAML file sets
	opts    Options
}

// A Problem is something that Hydra would refuse.
type Problem struct {
	Source Source
	Key    string
	Text   string
}

// Compose merges the defaults, the YAML that the command names and its overrides, in this order, as Hydra does.
func Compose(c *Command, o Options) *Config {
	inv := c.invocation()
	cfg := &Config{Command: c, module: inv.module, Root: &Node{Kind: Map}, sets: map[string]bool{}, opts: o}
	for _, key := range slices.Sorted(maps.Keys(o.Defaults)) {
		cfg.put(key, literal(o.Defaults[key], Source{Kind: FromDefault, Note: o.Version}))
	}
	cfg.yaml(inv)
	cfg.inFiles = maps.Clone(cfg.sets)
	for i := range c.Overrides {
		cfg.override(&c.Overrides[i])
	}
	for i, e := range c.Errors {
		cfg.Problems = append(cfg.Problems, Problem{Source: c.refused[i], Text: e})
	}
	return cfg
}

// ComposeFile merges the defaults, one YAML file and overrides. The file is found from where we are, as a script is; cwd is where
// the launch runs.
func ComposeFile(file, cwd string, overrides []string, o Options) (*Config, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("find configuration: %w", err)
	}
	doc, err := o.read(abs, file)
	if err != nil {
		return nil, err
	}
	c := NewCommand(append([]string{"python3", "-m", ""}, overrides...), cwd)
	c.File = file
	cfg := &Config{Command: &c, Root: &Node{Kind: Map}, sets: map[string]bool{}, opts: o}
	for _, key := range slices.Sorted(maps.Keys(o.Defaults)) {
		cfg.put(key, literal(o.Defaults[key], Source{Kind: FromDefault, Note: o.Version}))
	}
	l := &loader{cfg: cfg, cwd: cwd, dirs: []folder{{filepath.Dir(abs), filepath.Dir(file)}}}
	l.search(doc)
	l.apply(doc, "", "")
	cfg.inFiles = maps.Clone(cfg.sets)
	for i := range c.Overrides {
		cfg.override(&c.Overrides[i])
	}
	return cfg, nil
}

// yaml merges the file that --config-name names, where there is one.
func (cfg *Config) yaml(inv invocation) {
	if inv.configName == "" {
		return
	}
	name := strings.TrimSuffix(strings.TrimSuffix(inv.configName, ".yaml"), ".yml")
	dir := inv.configPath
	if strings.Contains(dir, "://") {
		dir = strings.TrimPrefix(dir, "file://")
	}
	l := &loader{cfg: cfg, cwd: cfg.Command.Dir}
	if dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(moduleDir(inv.module), dir)
	} else if dir == "" {
		dir = filepath.Join(moduleDir(inv.module), "config")
	}
	l.add(dir)
	switch doc, err := l.find(name); {
	case err == nil:
		l.search(doc)
		l.apply(doc, path.Dir(name), "")
	case !errors.Is(err, errNoConfig):
		cfg.Problems = append(cfg.Problems, Problem{Source: cfg.Command.sources[inv.configAt], Text: err.Error()})
	case cfg.opts.Builtin != nil && cfg.opts.Builtin(name):
	default:
		cfg.Notes = append(cfg.Notes, fmt.Sprintf("configuration %s is not there (%s): what it sets is missing", name, dir))
	}
}

// moduleDir is the folder of a module relative to the working directory: Hydra looks for a relative --config-path there.
func moduleDir(module string) string {
	if strings.HasSuffix(module, ".py") {
		return filepath.Dir(module)
	}
	return filepath.Dir(strings.ReplaceAll(module, ".", "/"))
}

// A loader finds configuration files in the folders of Hydra's search path.
type loader struct {
	cfg     *Config
	cwd     string
	dirs    []folder
	deep    int
	choices map[string]string // of the defaults lists, by group
}

// A folder is a place of the search path and how it is shown.
type folder struct{ dir, shown string }

// add adds a folder, relative to the working directory.
func (l *loader) add(dir string) {
	abs := dir
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(l.cwd, abs)
	}
	l.dirs = append(l.dirs, folder{abs, dir})
}

// search adds the folders of hydra.searchpath.
func (l *loader) search(doc *Node) {
	list := doc.Field("hydra").Field("searchpath")
	if list == nil {
		return
	}
	for _, e := range list.List {
		if s, ok := e.Value.(string); ok && strings.HasPrefix(s, "file://") {
			l.add(strings.TrimPrefix(s, "file://"))
		}
	}
}

// find reads the first file of that name, without its suffix, in the search path.
func (l *loader) find(name string) (*Node, error) {
	for _, d := range l.dirs {
		doc, err := l.cfg.opts.read(filepath.Join(d.dir, name+".yaml"), filepath.Join(d.shown, name+".yaml"))
		if err == nil || !errors.Is(err, errNoConfig) {
			return doc, err
		}
	}
	return nil, fmt.Errorf("%s.yaml: %w", name, errNoConfig)
}

// apply merges a document and its defaults list at a package, a key with dots. group is the folder it came from.
func (l *loader) apply(doc *Node, group, pkg string) {
	if l.deep++; l.deep > 20 {
		return
	}
	defer func() { l.deep-- }()
	own := &Node{Kind: Map, Source: doc.Source}
	for _, k := range doc.Keys {
		if k != "defaults" && k != "hydra" {
			own.set(k, doc.fields[k])
		}
	}
	self := false
	if list := doc.Field("defaults"); list != nil {
		for _, e := range list.List {
			if e.Value == "_self_" {
				self = true
				l.cfg.merge(pkg, own)
				continue
			}
			l.entry(e, group, pkg)
		}
	}
	if !self {
		l.cfg.merge(pkg, own)
	}
}

// entry merges one entry of a defaults list: "name", "group/name", or "group@package: name".
func (l *loader) entry(e *Node, group, pkg string) {
	if name, ok := e.Value.(string); ok && e.Kind == Scalar {
		at, _, _ := strings.Cut(name, "@")
		if i := strings.IndexByte(name, '@'); i >= 0 {
			pkg = join(pkg, name[i+1:])
		}
		l.include(rooted(group, at), pkg, e)
		return
	}
	for _, key := range e.Keys {
		value := e.fields[key]
		optional := strings.HasPrefix(key, "optional ")
		spec := strings.TrimPrefix(strings.TrimPrefix(key, "optional "), "override ")
		g, at, has := strings.Cut(spec, "@")
		if strings.HasPrefix(g, "hydra/") || value.Value == nil && value.Kind == Scalar {
			continue
		}
		to := join(pkg, strings.ReplaceAll(strings.Trim(g, "/."), "/", "."))
		if has {
			to = join(pkg, at)
			if at == "_here_" {
				to = pkg
			}
			if rest, global := strings.CutPrefix(at, "_global_"); global {
				to = strings.TrimPrefix(rest, ".")
			}
		}
		names := []*Node{value}
		if value.Kind == List {
			names = value.List
		}
		for _, n := range names {
			name, _ := n.Value.(string)
			name = l.choice(name)
			if l.choices == nil {
				l.choices = map[string]string{}
			}
			l.choices[g] = name
			before := len(l.cfg.Notes)
			l.include(path.Join(rooted(group, g), name), to, n)
			if optional {
				l.cfg.Notes = l.cfg.Notes[:before]
			}
		}
	}
}

// choice fills in "${group}" from the choices made before.
func (l *loader) choice(name string) string {
	for g, v := range l.choices {
		name = strings.ReplaceAll(name, "${"+g+"}", v)
	}
	return name
}

func rooted(group, name string) string {
	if strings.HasPrefix(name, "/") {
		return strings.TrimPrefix(name, "/")
	}
	return path.Join(group, name)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}

// include merges the file of a defaults list's entry; one that the trainer brings is among the defaults.
func (l *loader) include(name, pkg string, e *Node) {
	doc, err := l.find(name)
	switch {
	case err == nil:
		l.apply(doc, path.Dir(name), pkg)
	case !errors.Is(err, errNoConfig):
		l.cfg.Problems = append(l.cfg.Problems, Problem{Source: e.Source, Text: err.Error()})
	case l.cfg.opts.Builtin != nil && l.cfg.opts.Builtin(name):
	default:
		l.cfg.Notes = append(l.cfg.Notes, fmt.Sprintf("%s: configuration %s is not there: what it sets is missing", e.Source, name))
	}
}

// merge merges a map at a package.
func (cfg *Config) merge(pkg string, n *Node) {
	cfg.mark(pkg, n)
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

// override applies one override.
func (cfg *Config) override(o *Override) {
	key := o.Key
	if strings.Contains(key, "/") || key == "" || strings.HasPrefix(key, "hydra.") {
		return // a choice of a group, or Hydra's own
	}
	if o.Op == "~" {
		if up := cfg.at(parent(key)); up != nil {
			up.remove(key[strings.LastIndexByte(key, '.')+1:])
		}
		delete(cfg.sets, key)
		return
	}
	n := literal(o.Value, o.Source)
	if _, sweep := o.Value.(Sweep); sweep {
		cfg.Problems = append(cfg.Problems, Problem{Source: o.Source, Key: key, Text: fmt.Sprintf("%s: values for several runs (quote the value, or put it in [ ])", clip(o.Text, 80))})
	}
	for up := parent(key); up != ""; up = parent(up) {
		if at := cfg.at(up); at != nil && at.Kind == Scalar && at.Value != nil && at.Source.Kind != FromDefault {
			cfg.Problems = append(cfg.Problems, Problem{Source: o.Source, Key: key, Text: fmt.Sprintf("%s is no group of keys (%s)", up, at.Source)})
			return
		}
	}
	cfg.mark(key, n)
	cfg.put(key, n)
}

// put sets a key, making what stands above it. Maps join what is there.
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
	case Sweep:
		return literal([]any(v), s)
	case *Dict:
		n := &Node{Kind: Map, Source: s}
		for i, k := range v.Keys {
			n.set(keyText(k), literal(v.Values[i], s))
		}
		return n
	case Call:
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
