package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema/rule"
)

// own is a small configuration with what verl's has: groups with packages, a choice that follows another, an override in a file.
var own = &rule.Configs{
	Files: map[string]string{
		"p/conf/train":            "defaults: [{engine: dp}, {actor@model.actor: '${engine}_actor'}, {data@data: plain}, _self_]\nn: 1\nlogger: [console]\nopen: {}\nnone: null\nref: ${n}\nlater: '???'\n",
		"p/conf/mega":             "defaults: [train, {override engine: mega}, _self_]\n",
		"p/conf/engine/dp":        "# @package _global_\nkind: dp\n",
		"p/conf/engine/mega":      "# @package _global_\nkind: mega\n",
		"p/conf/actor/actor":      "rate: 1\nmini_batch_size: 8\n",
		"p/conf/actor/dp_actor":   "defaults: [../optim@optim: adam, actor, _self_]\nsharded: true\n",
		"p/conf/actor/mega_actor": "defaults: [actor, _self_]\npipeline: 1\n",
		"p/conf/optim/adam":       "lr: 1e-6\n",
		"p/conf/data/plain":       "files: a\nbatch_size: 4\n",
	},
	Mains:    map[string]string{"p.main": "p/conf/train"},
	Base:     "p/conf/train",
	Versions: func(_, key string) []string { return map[string][]string{"gone": {"p 1", "p 2"}}[key] },
}

// TestStruct holds verdicts and messages to those of hydra-core 1.3.8; testdata/conformance/configs.py compares thousands.
func TestStruct(t *testing.T) {
	for _, c := range []struct{ args, key, want, problem string }{
		{"n=2", "n", "2", ""},
		{"nn=2", "n", "1", "Could not override 'nn': p 3 has no such key; did you mean n?"},
		{"model.actor.mini_batch=2", "n", "1", "Could not override 'model.actor.mini_batch': p 3 has no such key; did you mean model.actor.mini_batch_size?"},
		{"batch_size=2", "n", "1", "Could not override 'batch_size': p 3 has no such key; did you mean data.batch_size?"},
		{"gone=2", "n", "1", "Could not override 'gone': p 3 has no such key (it is a key of p 1, p 2)"},
		{"open.x=1", "n", "1", "Could not override 'open.x': p 3 has no such key: write +open.x, which adds it"},
		{"open={x: 1}", "n", "1", "Could not override 'open': p 3 has no key open.x: write +open.x, which adds it"},
		{"+open.x=1", "open.x", "1", ""},
		{"+n=1", "n", "1", "Could not append to config: an item is already at 'n' (default of p 3): remove the '+', or write '++'"},
		{"+none=1", "none", "1", ""}, {"+later=1", "later", "1", ""}, {"++n=3", "n", "3", ""}, {"++new.x=3", "new.x", "3", ""},
		{"+ref=1", "ref", "1", "Could not append to config: an item is already at 'ref' (default of p 3): remove the '+', or write '++'"},
		{"~n", "n", "-", ""}, {"~n=1", "n", "-", ""}, {"~n=2", "n", "1", "Could not delete from config: the value of 'n' is 1"},
		{"~none", "n", "1", "Could not delete from config: 'none' does not exist: it is null"},
		{"~nn", "n", "1", "Could not delete from config: 'nn' does not exist: p 3 has no such key; did you mean n?"},
		{"logger={a: 1}", "n", "1", "Error merging override logger={a: 1}: a list and a group of keys do not merge"},
		{"+logger.path=[]", "n", "1", "Error merging override +logger.path=[]: logger is a list"},
		{"model.actor.optim.lr=1", "model.actor.optim.lr", "1", ""},
		{"engine=mega", "model.actor.pipeline", "1", ""}, {"engine=mega", "kind", "mega", ""},
		{"engine=mega model.actor.sharded=true", "kind", "mega", "Could not override 'model.actor.sharded': p 3 has no such key"},
		{"actor@model.actor=mega_actor", "model.actor.pipeline", "1", ""},
		{"actor=mega_actor", "n", "1", "Could not override 'actor': did you mean actor@model.actor?"},
		{"engine=meg", "n", "1", "could not find 'engine/meg'; available options in 'engine': dp, mega"},
		{"engine=1", "n", "1", "Config group override must be a string or a list: 'engine=1' (engine is a group of this configuration: dp, mega)"},
		{"++engine=dp", "n", "1", "force-add of config groups is not supported: '++engine=dp'"},
		{"~actor@model.actor", "model.actor.rate", "-", ""},
		{"~actor", "n", "1", "Could not delete 'actor': did you mean actor@model.actor?"},
		{"+optim@o=adam", "o.lr", "1e-06", ""},
		{"+data=plain", "n", "1", "data appears more than once in the final defaults list"},
		{"x@y=1", "n", "1", "x@y=1 looks like a config group override, but config group 'x' does not exist"},
		{"--config-name=mega", "model.actor.pipeline", "1", ""},
		{"--config-name=mega engine=dp", "model.actor.sharded", "true", ""},
		{"hydra.run.dir=x", "n", "1", ""},
	} {
		args := strings.Split(c.args, " ")
		if strings.Contains(c.args, "{") {
			args = []string{c.args}
		}
		command := NewCommand(append([]string{"python3", "-m", "p.main"}, args...), t.TempDir())
		cfg := Compose(&command, Options{Configs: own, Version: "p 3"})
		var got []string
		for _, p := range cfg.Problems {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, slices.DeleteFunc([]string{c.problem}, func(s string) bool { return s == "" })) {
			t.Errorf("%s: problems %q, want %q", c.args, got, c.problem)
		}
		value := "-"
		if n := cfg.Get(c.key); n != nil {
			value = textOf(n)
		}
		if c.problem == "" && value != c.want {
			t.Errorf("%s: %s is %s, want %s", c.args, c.key, value, c.want)
		}
	}
}

// A configuration that is not known refuses nothing; the trainer's own lies beneath it.
func TestUnknownConfig(t *testing.T) {
	dir := folderOf(t, map[string]string{"conf/mine.yaml": "defaults: [train, lost]\nhydra: {searchpath: [pkg://x]}\nextra: 1\n", "conf/whole.yaml": "defaults: [train, _self_]\nextra: 1\n"})
	for _, c := range []struct {
		args     []string
		problems int
	}{
		{[]string{"-m", "other.main", "any.key=1"}, 0},
		{[]string{"-m", "p.main", "--config-path=" + dir + "/conf", "--config-name=mine", "any.key=1"}, 0},
		{[]string{"-m", "p.main", "--config-path=" + dir + "/conf", "--config-name=whole", "extra=2", "n=1"}, 0},
		{[]string{"-m", "p.main", "--config-path=" + dir + "/conf", "--config-name=whole", "any.key=1"}, 1},
		{[]string{"-m", "p.main", "--config-path=" + dir + "/conf", "--config-name=none", "any.key=1"}, 0},
	} {
		command := NewCommand(append([]string{"python3"}, c.args...), dir)
		cfg := Compose(&command, Options{Configs: own, Version: "p 3"})
		if len(cfg.Problems) != c.problems {
			t.Errorf("%v: problems %v, want %d", c.args, cfg.Problems, c.problems)
		}
		if n := cfg.Get("data.batch_size"); n == nil || textOf(n) != "4" {
			t.Errorf("%v: data.batch_size is not the trainer's", c.args)
		}
	}
}
