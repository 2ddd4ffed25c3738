package launch

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A loader finds configuration files in the folders of Hydra's search path.
type loader struct {
	cfg  *Config
	cwd  string
	dirs []folder
	read map[string]*document // by name
}

// A folder is a place of the search path.
type folder struct {
	dir, shown string
	builtin    bool // it is one of Options.Configs: dir is the beginning of their names
	trainers   bool // its values are the trainer's own
}

// A document is a configuration file.
type document struct {
	values   *Node // without defaults and hydra
	defaults []defaultsEntry
	header   string // "# @package", as an absolute package; "" none
	shown    string
	search   []string // hydra.searchpath
	builtin  bool
	trainers bool // the values are the trainer's own
}

// primary returns the search path of a command, and the name of its configuration.
func (cfg *Config) primary(inv invocation) (l *loader, name string) {
	l = &loader{cfg: cfg, cwd: cfg.Command.Dir}
	main, known := "", false
	if c := cfg.opts.Configs; c != nil {
		if main, known = c.Mains[inv.module]; !known && c.Other != nil {
			if other, version := c.Other(inv.module); other != nil {
				cfg.Notes = append(cfg.Notes, fmt.Sprintf("%s has no program %s: it is read as %s has it", cfg.opts.Version, inv.module, version))
				cfg.opts.Configs, cfg.opts.Version, cfg.foreign = other, version, true
				main, known = other.Mains[inv.module]
			}
		}
		cfg.hydra = known
		if !known && inv.module != "" && inv.configName == "" {
			cfg.Notes = append(cfg.Notes, fmt.Sprintf("%s is no program of the trainer: what it reads is not known, and the values that nothing sets are those of %s", inv.module, path.Base(c.Base)))
		}
	}
	name = strings.TrimSuffix(strings.TrimSuffix(inv.configName, ".yaml"), ".yml")
	if name == "" && known {
		name = path.Base(main)
	}
	dir := strings.TrimPrefix(inv.configPath, "file://")
	switch {
	case dir == "" && known:
		l.dirs = append(l.dirs, folder{dir: filepath.Join(l.cwd, path.Dir(main)), shown: path.Dir(main), trainers: true}, folder{dir: path.Dir(main), builtin: true, trainers: true})
	case dir == "":
		l.add(filepath.Join(moduleDir(inv.module), "config"))
	case filepath.IsAbs(dir):
		l.add(dir)
	default:
		l.add(filepath.Join(moduleDir(inv.module), dir))
	}
	if name != "" && !known || dir != "" {
		l.fallback()
	}
	if _, err := l.find(name); name != "" && errors.Is(err, errNoConfig) {
		cfg.Notes = append(cfg.Notes, fmt.Sprintf("configuration %s is not there (%s): what it sets is missing", name, l.dirs[0].shown))
	}
	return l, name
}

// moduleDir is the folder of a module relative to the working directory: Hydra looks for a relative --config-path there.
func moduleDir(module string) string {
	if strings.HasSuffix(module, ".py") {
		return filepath.Dir(module)
	}
	return filepath.Dir(strings.ReplaceAll(module, ".", "/"))
}

// add adds a folder, relative to the working directory.
func (l *loader) add(dir string) {
	abs := dir
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(l.cwd, abs)
	}
	l.dirs = append(l.dirs, folder{dir: abs, shown: dir})
}

// fallback adds the trainer's own folder: the files that the launch names may lie on another machine, and the trainer's beside them.
func (l *loader) fallback() {
	if c := l.cfg.opts.Configs; c != nil {
		l.dirs = append(l.dirs, folder{dir: path.Dir(c.Base), builtin: true, trainers: true})
	}
}

// search adds the folders of hydra.searchpath.
func (l *loader) search(doc *document) {
	own := l.dirs
	l.dirs = slices.DeleteFunc(slices.Clone(own), func(f folder) bool { return f.builtin })
	for _, dir := range doc.search {
		if rest, ok := strings.CutPrefix(dir, "file://"); ok {
			l.add(rest)
		}
	}
	for _, f := range own {
		if f.builtin {
			l.dirs = append(l.dirs, f)
		}
	}
	if !slices.ContainsFunc(l.dirs, func(f folder) bool { return f.builtin && f.dir == path.Dir(l.cfg.base()) }) {
		l.fallback()
	}
	for name, have := range l.read {
		if have == nil {
			delete(l.read, name) // it may lie in one of the new folders
		}
	}
}

// base is the trainer's own configuration.
func (cfg *Config) base() string {
	if cfg.opts.Configs == nil {
		return ""
	}
	return cfg.opts.Configs.Base
}

// find reads the first file of that name, without its suffix, in the search path.
func (l *loader) find(name string) (*document, error) {
	name = path.Clean(name)
	if doc, known := l.read[name]; known {
		if doc == nil {
			return nil, fmt.Errorf("%s.yaml: %w", name, errNoConfig)
		}
		return doc, nil
	}
	if l.read == nil {
		l.read = map[string]*document{}
	}
	for _, d := range l.dirs {
		doc, err := l.openIn(d, name)
		if err == nil {
			l.read[name] = doc
			return doc, nil
		}
		if !errors.Is(err, errNoConfig) {
			return nil, err
		}
	}
	l.read[name] = nil
	return nil, fmt.Errorf("%s.yaml: %w", name, errNoConfig)
}

// openIn reads the file of a folder.
func (l *loader) openIn(d folder, name string) (*document, error) {
	if !d.builtin {
		doc, err := l.open(filepath.Join(d.dir, name+".yaml"), filepath.Join(d.shown, name+".yaml"))
		if err == nil {
			doc.trainers = d.trainers
		}
		return doc, err
	}
	text, ok := l.cfg.opts.Configs.Files[path.Join(d.dir, name)]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, errNoConfig)
	}
	root, err := parseYAML([]byte(text), path.Join(d.dir, name)+".yaml", Source{Kind: FromDefault, Note: l.cfg.opts.Version})
	if err != nil {
		return nil, err
	}
	doc := newDocument(root, []byte(text), path.Join(d.dir, name)+".yaml")
	doc.builtin, doc.trainers = true, true
	return doc, nil
}

// open reads a file.
func (l *loader) open(file, shown string) (*document, error) {
	root, text, err := l.cfg.opts.readText(file, shown)
	if err != nil {
		return nil, err
	}
	return newDocument(root, text, shown), nil
}

// newDocument sorts out what a file says to Hydra.
func newDocument(root *Node, text []byte, shown string) *document {
	doc := &document{values: &Node{Kind: Map, Source: root.Source}, header: packageHeader(string(text)), shown: shown}
	for _, k := range root.Keys {
		if k != "defaults" && k != "hydra" {
			doc.values.set(k, root.fields[k])
		}
	}
	if list := root.Field("hydra").Field("searchpath"); list != nil {
		for _, e := range list.List {
			if s, ok := e.Value.(string); ok {
				doc.search = append(doc.search, s)
			}
		}
	}
	if list := root.Field("defaults"); list != nil {
		for _, e := range list.List {
			doc.defaults = append(doc.defaults, entriesOf(e)...)
		}
	}
	return doc
}

// packageHeader reads "# @package name" of the first lines of a file, as an absolute package.
func packageHeader(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest := strings.TrimSpace(strings.TrimLeft(line, "#"))
		switch words := strings.Fields(rest); {
		case line == "":
			continue
		case !strings.HasPrefix(line, "#") || !strings.HasPrefix(rest, "@"):
			return ""
		case len(words) == 2 && words[0] == "@package" && words[1] != "_group_":
			if words[1] == "_global_" || strings.HasPrefix(words[1], "_global_.") {
				return words[1]
			}
			return "_global_." + words[1]
		}
	}
	return ""
}

// entriesOf reads one entry of a defaults list: "name", "group/name@package", or "optional group@package: name".
func entriesOf(n *Node) (out []defaultsEntry) {
	if name, ok := n.Value.(string); ok && n.Kind == Scalar {
		at, pkg, has := strings.Cut(name, "@")
		return []defaultsEntry{{path: at, pkg: packageOf(pkg), hasPkg: has, source: n.Source}}
	}
	for _, key := range n.Keys {
		v := n.fields[key]
		e := defaultsEntry{source: v.Source}
		for {
			word, rest, more := strings.Cut(key, " ")
			if !more || word != "optional" && word != "override" {
				break
			}
			e.optional, e.override = e.optional || word == "optional", e.override || word == "override"
			key = strings.TrimSpace(rest)
		}
		group, pkg, has := strings.Cut(key, "@")
		e.group, e.pkg, e.hasPkg = group, packageOf(pkg), has
		if strings.HasPrefix(strings.TrimPrefix(group, "/"), "hydra/") {
			continue // Hydra's own
		}
		switch {
		case v.Kind == List:
			e.list, _ = textsOf(v.Any())
		case v.Value == nil || v.Value == false:
			e.null = true
		default:
			e.name, _ = v.Value.(string)
		}
		out = append(out, e)
	}
	return out
}

// group reports whether a folder of that name lies in the search path.
func (l *loader) group(name string) bool {
	return slices.ContainsFunc(l.dirs, func(d folder) bool {
		if !d.builtin {
			info, err := os.Stat(filepath.Join(d.dir, name))
			return err == nil && info.IsDir()
		}
		return len(l.cfg.opts.Configs.Options(path.Join(d.dir, name))) > 0
	})
}

// options lists the files of a group, sorted.
func (l *loader) options(name string) (out []string) {
	for _, d := range l.dirs {
		if d.builtin {
			out = append(out, l.cfg.opts.Configs.Options(path.Join(d.dir, name))...)
			continue
		}
		list, err := os.ReadDir(filepath.Join(d.dir, name))
		if err != nil {
			continue
		}
		for _, f := range list {
			if base, ok := strings.CutSuffix(f.Name(), ".yaml"); ok && !f.IsDir() {
				out = append(out, base)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
