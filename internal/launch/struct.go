package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// override applies one override that chooses from no group, as hydra-core 1.3 does in struct mode (config_loader_impl.py,
// _apply_overrides_to_config; omegaconf.py, OmegaConf.update). Where not all of the configuration is known, nothing is refused.
func (cfg *Config) override(o *Override) {
	key := o.Key
	if key == "" || key == "hydra" || strings.HasPrefix(key, "hydra.") || strings.HasPrefix(key, "hydra/") {
		return
	}
	if _, sweep := o.Value.(hydra.Sweep); sweep {
		cfg.Problems = append(cfg.Problems, Problem{Source: o.Source, Key: key, Text: fmt.Sprintf("%s: values for several runs (quote the value, or put it in [ ])", hydra.Clip(o.Text, 80))})
	}
	if o.At && cfg.whole {
		cfg.unknown(o, fmt.Sprintf("%s looks like a config group override, but config group '%s' does not exist", hydra.Clip(o.Text, 80), key))
		return
	}
	if !cfg.whole && strings.Contains(key, "/") {
		return
	}
	if o.Op == "~" {
		cfg.remove(o)
		return
	}
	if missing := cfg.firstAbsent(key); cfg.whole && missing != "" {
		if up := cfg.at(parent(missing)); up != nil && up.Kind == List {
			cfg.unknown(o, fmt.Sprintf("Error merging override %s: %s is a list", hydra.Clip(o.Text, 80), parent(missing)))
			return
		}
	}
	n := literal(o.Value, o.Source)
	switch have := cfg.selected(key); {
	case !cfg.whole:
		for up := parent(key); up != ""; up = parent(up) {
			if at := cfg.at(up); at != nil && at.Kind == Scalar && at.Value != nil && at.Source.Kind != FromDefault {
				cfg.Problems = append(cfg.Problems, Problem{Source: o.Source, Key: key, Text: fmt.Sprintf("%s is no group of keys (%s)", up, at.Source)})
				return
			}
		}
	case o.Op == "+" && have != nil && n.Kind == Scalar:
		cfg.unknown(o, fmt.Sprintf("Could not append to config: an item is already at '%s' (%s): remove the '+', or write '++'", key, have.Source))
		cfg.late = append(cfg.late, o)
		return
	case o.Op == "=":
		if missing := cfg.absent(key, n); missing != "" {
			cfg.unknown(o, fmt.Sprintf("Could not override '%s': %s", key, cfg.noSuchKey(o.Key, missing)))
			cfg.late = append(cfg.late, o)
			return
		}
	}
	if at := cfg.at(key); at != nil && (at.Kind == List && n.Kind == Map || at.Kind == Map && n.Kind == List) && cfg.whole {
		cfg.unknown(o, fmt.Sprintf("Error merging override %s: a list and a group of keys do not merge", hydra.Clip(o.Text, 80)))
		return
	}
	cfg.mark(key, n)
	cfg.put(key, n)
}

func (cfg *Config) unknown(o *Override, text string) {
	cfg.Problems = append(cfg.Problems, Problem{Source: o.Source, Key: o.Key, Text: text, Kind: rule.UnknownKey})
}

// remove takes a key away: "~key", or "~key=value" where it has that value.
func (cfg *Config) remove(o *Override) {
	have := cfg.selected(o.Key)
	if cfg.whole {
		switch {
		case have == nil:
			why := "it is null"
			if missing := cfg.firstAbsent(o.Key); missing != "" {
				why = cfg.noSuchKey(o.Key, missing)
			}
			cfg.unknown(o, fmt.Sprintf("Could not delete from config: '%s' does not exist: %s", o.Key, why))
			return
		case !o.Bare && o.Value != nil && !sameValue(have, literal(o.Value, o.Source)):
			cfg.unknown(o, fmt.Sprintf("Could not delete from config: the value of '%s' is %s", o.Key, textOf(have)))
			return
		}
	}
	if up := cfg.at(parent(o.Key)); up != nil {
		up.remove(o.Key[strings.LastIndexByte(o.Key, '.')+1:])
	}
	delete(cfg.sets, o.Key)
}

// sameValue compares as Python's == does where numbers are concerned.
func sameValue(a, b *Node) bool { return textOf(a) == textOf(b) }

func textOf(n *Node) string { return fmt.Sprint(hydra.JSONValue(n.Any())) }

// selected returns the value of a key, nil where there is none, where it is null or still to come ("???").
func (cfg *Config) selected(key string) *Node {
	n := cfg.Get(key)
	if n == nil || n.Kind == Scalar && (n.Value == nil || n.Value == "???") {
		return nil
	}
	return n
}

// absent returns the first key that "key=value" would have to add, "" where it adds none.
func (cfg *Config) absent(key string, n *Node) string {
	if missing := cfg.firstAbsent(key); missing != "" {
		return missing
	}
	at := cfg.at(key)
	if at.Kind != Map || n.Kind != Map {
		return ""
	}
	for _, k := range n.Keys {
		if missing := cfg.absent(join(key, k), n.fields[k]); missing != "" {
			return missing
		}
	}
	return ""
}

// firstAbsent returns the first key of those above key and of key itself that does not exist.
func (cfg *Config) firstAbsent(key string) string {
	steps := strings.Split(key, ".")
	n := cfg.Root
	for i, s := range steps {
		if n.Kind == List {
			at, err := strconv.Atoi(s)
			if err != nil || at < 0 || at >= len(n.List) {
				return strings.Join(steps[:i+1], ".")
			}
			n = n.List[at]
			continue
		}
		if n = n.Field(s); n == nil {
			return strings.Join(steps[:i+1], ".")
		}
	}
	return ""
}

// noSuchKey says that a key does not exist, and names the versions that have it, or the nearest key.
func (cfg *Config) noSuchKey(said, key string) string {
	who := "the configuration"
	if cfg.opts.Configs != nil {
		who = cfg.opts.Version
	}
	text := who + " has no key " + key
	if key == said {
		text = who + " has no such key"
	}
	if c := cfg.opts.Configs; c != nil && c.Versions != nil {
		others := slices.DeleteFunc(c.Versions(cfg.module, key), func(v string) bool { return v == cfg.opts.Version })
		if len(others) > 0 {
			return fmt.Sprintf("%s (it is a key of %s)", text, strings.Join(others, ", "))
		}
	}
	if up := cfg.at(parent(key)); up != nil && up.Kind == Map && len(up.Keys) == 0 {
		return text + ": write +" + key + ", which adds it"
	}
	if near := cfg.nearest(key); near != "" {
		return text + "; did you mean " + near + "?"
	}
	return text
}

// nearest returns the key that key may be meant to be, "" where none is like it: one beside it, else the one of the same name elsewhere,
// else one whose whole name is like it.
func (cfg *Config) nearest(key string) string {
	base, up := key[strings.LastIndexByte(key, '.')+1:], parent(key)
	if group := cfg.at(up); group != nil {
		if near := nearName(base, group.Keys); near != "" {
			return join(up, near)
		}
	}
	leaves := cfg.Leaves()
	same := slices.DeleteFunc(slices.Clone(leaves), func(k string) bool { return k[strings.LastIndexByte(k, '.')+1:] != base })
	if len(same) == 1 {
		return same[0]
	}
	return schema.Nearest(key, leaves)
}

// nearName returns the name that is like another, or begins with it or contains it.
func nearName(name string, names []string) string {
	if near := schema.Nearest(name, names); near != "" {
		return near
	}
	var like []string
	for _, n := range names {
		if len(name) >= 4 && (strings.Contains(n, name) || strings.Contains(name, n) && len(n) >= 4) {
			like = append(like, n)
		}
	}
	if len(like) == 0 {
		return ""
	}
	return slices.MinFunc(like, func(a, b string) int { return len(a) - len(b) })
}
