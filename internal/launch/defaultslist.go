package launch

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema/rule"
)

// A defaultsEntry is one entry of a defaults list of Hydra: a configuration ("base"), a choice of a group ("db@store: mysql"), or
// _self_. The rules of packages and keys are those of hydra-core 1.3 (core/default_element.py).
type defaultsEntry struct {
	group    string // "" of a configuration
	path     string // of a configuration: "base", "dir/base", "_self_"
	name     string // the choice of a group
	list     []string
	null     bool // the choice is null: nothing is loaded
	pkg      string
	hasPkg   bool
	optional bool
	override bool
	appended bool // by the command, with '+'
	source   Source

	base, parent string // folder and package of the file that the entry stands in
	header       string // the file's "# @package", as an absolute package; "" none
}

func (e *defaultsEntry) isSelf() bool { return e.group == "" && e.path == "_self_" }

// where is what the entry names, without the name of a choice.
func (e *defaultsEntry) where() string {
	if e.group != "" {
		return e.group
	}
	return e.path[:max(strings.LastIndexByte(e.path, '/'), 0)]
}

// groupPath is the folder of the search path that the entry chooses from.
func (e *defaultsEntry) groupPath() string {
	if strings.HasPrefix(e.group, "/") || strings.HasPrefix(e.path, "/") {
		return strings.TrimPrefix(e.where(), "/")
	}
	return strings.Trim(e.base+"/"+e.where(), "/")
}

// file is the configuration that the entry names.
func (e *defaultsEntry) file() string {
	name := e.name
	if e.group == "" {
		name = path.Base("/" + e.path)
	}
	return strings.TrimPrefix(e.groupPath()+"/"+name, "/")
}

// finalPackage is the key below which the entry's values lie.
func (e *defaultsEntry) finalPackage(header bool) string {
	pkg, has := e.pkg, e.hasPkg
	if !has && header && e.header != "" {
		pkg, has = e.header, true
	}
	if !has {
		pkg = strings.ReplaceAll(strings.TrimPrefix(e.where(), "/"), "/", ".")
	}
	out := join(e.parent, pkg)
	if i := strings.LastIndex(out, "_global_"); i >= 0 {
		out = strings.TrimPrefix(out[i+len("_global_"):], ".")
	}
	return out
}

// key is what an override names the entry by: "db", or "db@store" where the package is not the group's own.
func (e *defaultsEntry) key() string {
	group, final := e.groupPath(), e.finalPackage(false)
	if final == strings.ReplaceAll(group, "/", ".") {
		return group
	}
	if final == "" {
		final = "_global_"
	}
	return group + "@" + final
}

// below sets the file that the entry stands in.
func (e *defaultsEntry) below(base, parent string) {
	e.base, e.parent = base, parent
	if e.hasPkg && strings.Contains(e.pkg, "_group_") {
		e.pkg = "_global_." + strings.ReplaceAll(e.pkg, "_group_", strings.ReplaceAll(e.groupPath(), "/", "."))
	}
}

// A choice is a group's option that the command or a file sets in place of that of the defaults list.
type choice struct {
	name string
	list []string
	null bool
	used bool
	by   *Override // nil: a file's "override"
	in   string    // the file
}

// A composition makes one list of all files of a configuration and of their packages, in the order in which they are merged.
type composition struct {
	*loader
	choices  map[string]*choice
	deleted  map[string]*choice
	appended []*defaultsEntry
	known    map[string]string // choice by key
	keys     []string          // of known, in order
	lost     bool              // a file of the list is not here
}

// A part is one file of the list, with the key below which it is merged.
type part struct {
	doc *document
	pkg string
	key string // of a group's option without a defaults list
}

// overrides sorts out those that choose from a group, and returns the others.
func (c *composition) overrides(list []Override) (rest []*Override) {
	for i := range list {
		o := &list[i]
		_, dict := o.Value.(*hydra.Dict)
		if dict || o.Key == "" || strings.HasPrefix(o.Key, "hydra/") || !c.group(o.Key) {
			rest = append(rest, o)
			continue
		}
		key := o.Key
		if o.At {
			key += "@" + o.Package
		}
		name, text := o.Value.(string)
		names, many := textsOf(o.Value)
		switch {
		case o.Op == "++":
			c.refuse(o, "force-add of config groups is not supported: '"+o.Text+"'")
		case o.Op == "~":
			c.deleted[key] = &choice{name: name, null: o.Bare || o.Value == nil, by: o}
		case !text && !many:
			c.refuse(o, fmt.Sprintf("Config group override must be a string or a list: '%s' (%s is a group of this configuration: %s)", o.Text, o.Key, strings.Join(c.options(o.Key), ", ")))
		case o.Op == "+":
			c.appended = append(c.appended, &defaultsEntry{group: o.Key, pkg: packageOf(o.Package), hasPkg: o.At, name: name, list: names, appended: true, source: o.Source})
		default:
			c.choices[key] = &choice{name: name, list: names, by: o}
		}
	}
	return rest
}

func textsOf(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := []string{}
	for _, e := range list {
		s, text := e.(string)
		if !text {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// packageOf is a package as it is written; _here_ is the package of the file.
func packageOf(pkg string) string {
	if pkg == "_here_" {
		return ""
	}
	return pkg
}

// refuse notes that Hydra refuses an override.
func (c *composition) refuse(o *Override, text string) {
	c.cfg.Problems = append(c.cfg.Problems, Problem{Source: o.Source, Key: o.Key, Text: text, Kind: rule.UnknownKey})
}

// unused notes the choices that no defaults list has.
func (c *composition) unused(list []Override) {
	for i := range list {
		o := &list[i]
		for key, ch := range c.choices {
			if ch.by == o && !ch.used {
				c.refuse(o, "Could not override '"+key+"': "+c.meant(o.Key))
			}
		}
		for key, ch := range c.deleted {
			if ch.by == o && !ch.used {
				c.refuse(o, "Could not delete '"+key+"': "+c.meant(o.Key))
			}
		}
	}
}

// meant names the choices of a group that there are.
func (c *composition) meant(group string) string {
	var have []string
	for _, key := range c.keys {
		if g, _, _ := strings.Cut(key, "@"); g == group {
			have = append(have, key)
		}
	}
	if len(have) == 0 {
		return "no match in the defaults list"
	}
	return "did you mean " + strings.Join(have, " or ") + "?"
}

// errTooDeep stops files that name each other.
var errTooDeep = errors.New("the configuration files name each other")

// parts lists the files that an entry stands for.
func (c *composition) parts(e *defaultsEntry, primary, interpolated bool, deep int) ([]part, error) {
	if deep > 20 {
		return nil, errTooDeep
	}
	if !e.null {
		if doc, err := c.find(e.file()); err == nil {
			e.header = doc.header
		}
	}
	if e.group != "" {
		if d := c.deleted[e.key()]; d != nil && (d.null || d.name == e.name) {
			d.used = true
			return nil, nil
		}
		if err := c.know(e); err != nil {
			return nil, err
		}
	}
	if e.null {
		return nil, nil
	}
	doc, err := c.find(e.file())
	switch {
	case errors.Is(err, errNoConfig) && e.optional:
		return nil, nil
	case errors.Is(err, errNoConfig):
		return nil, c.missing(e)
	case err != nil:
		return nil, err
	}
	return c.children(e, doc, primary, interpolated, deep)
}

// know notes the choice of a group; one group has one.
func (c *composition) know(e *defaultsEntry) error {
	key, name := e.key(), e.name
	if prev, have := c.known[key]; have {
		if prev != name {
			return fmt.Errorf("%s: multiple values for %s: to override a value use 'override %s: %s'", e.source, key, key, prev)
		}
		return nil
	}
	c.known[key] = name
	c.keys = append(c.keys, key)
	return nil
}

// missing is the error for a file that does not exist; nil where others may have it.
func (c *composition) missing(e *defaultsEntry) error {
	if options := c.options(e.groupPath()); e.group != "" && len(options) > 0 {
		return fmt.Errorf("could not find '%s'; available options in '%s': %s", e.file(), e.groupPath(), strings.Join(options, ", "))
	}
	c.lost = true
	c.cfg.Notes = append(c.cfg.Notes, fmt.Sprintf("%s: configuration %s is not there: what it sets is missing", e.source, e.file()))
	return nil
}

// children lists the files of a file's defaults list, with its own values at _self_.
func (c *composition) children(e *defaultsEntry, doc *document, primary, interpolated bool, deep int) ([]part, error) {
	list := make([]*defaultsEntry, len(doc.defaults))
	hasSelf := false
	for i := range doc.defaults {
		copied := doc.defaults[i]
		list[i] = &copied
		hasSelf = hasSelf || copied.isSelf()
	}
	if !hasSelf {
		list = append(list, &defaultsEntry{path: "_self_"})
	}
	if primary {
		list = append(list, c.appended...)
	}
	base, pkg := e.groupPath(), e.finalPackage(true)
	for _, d := range list {
		d.below(base, pkg)
		if d.override && c.choices[d.key()] == nil {
			if interpolated {
				return nil, fmt.Errorf("%s: an override is not allowed below an interpolated choice", d.source)
			}
			c.choices[d.key()] = &choice{name: d.name, list: d.list, null: d.null, in: doc.shown}
		}
	}
	out := make([][]part, len(list))
	var later []int
	for i, d := range slices.Backward(list) {
		if d.isSelf() {
			out[i] = []part{{doc: doc, pkg: pkg}}
			if e.group != "" && len(doc.defaults) == 0 {
				out[i][0].key = e.key()
			}
			continue
		}
		if d.override {
			continue
		}
		if ch := c.choices[d.key()]; d.group != "" && ch != nil {
			d.name, d.list, d.null, ch.used = ch.name, ch.list, ch.null, true
		}
		if d.list == nil && strings.Contains(d.name+d.path, "${") {
			later = append(later, i)
			continue
		}
		var err error
		if out[i], err = c.chosen(d, interpolated, deep); err != nil {
			return nil, err
		}
	}
	if err := c.later(list, later, out, deep); err != nil {
		return nil, err
	}
	return slices.Concat(out...), nil
}

// later lists the files of the choices that follow other choices: "${engine}_actor".
func (c *composition) later(list []*defaultsEntry, at []int, out [][]part, deep int) error {
	for _, i := range at {
		d := list[i]
		for key, v := range c.known {
			d.name, d.path = strings.ReplaceAll(d.name, "${"+key+"}", v), strings.ReplaceAll(d.path, "${"+key+"}", v)
		}
		if strings.Contains(d.name+d.path, "${") {
			return fmt.Errorf("%s: error resolving interpolation '%s'", d.source, d.name+d.path)
		}
		var err error
		if out[i], err = c.parts(d, false, true, deep+1); err != nil {
			return err
		}
	}
	return nil
}

// chosen lists the files of an entry, which may choose several options of its group.
func (c *composition) chosen(d *defaultsEntry, interpolated bool, deep int) ([]part, error) {
	if d.list == nil {
		return c.parts(d, false, interpolated, deep+1)
	}
	out := make([][]part, len(d.list))
	for i, name := range slices.Backward(d.list) {
		one := &defaultsEntry{path: d.group + "/" + name, pkg: d.pkg, hasPkg: d.hasPkg, optional: d.optional, source: d.source}
		one.below(d.base, d.parent)
		var err error
		if out[i], err = c.parts(one, false, interpolated, deep+1); err != nil {
			return nil, err
		}
	}
	return slices.Concat(out...), nil
}
