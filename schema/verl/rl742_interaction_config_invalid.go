package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL742", Name: "interaction-config-invalid", Rows: rule.RL,
	Cites: []string{"verl@0.7.1 interactions/utils/interaction_registry.py:42-85", "verl@0.7.1 experimental/agent_loop/tool_agent_loop.py:116-121", "verl@0.5.0 workers/rollout/sglang_rollout/sglang_rollout.py:543-547"},
	Title: "verl cannot load the interaction configuration",
	Doc: `
verl reads the YAML of multi_turn.interaction_config_path with initialize_interactions_from_config
(interactions/utils/interaction_registry.py:42-85, the same file in verl 0.5.0 to 0.7.1). The file has a list 'interaction'. Each entry has
class_name (module.Class) and config, a mapping, which may be {}. The name of an interaction is the entry's name, else the class's name in
lower case without "Interaction" at its end. Each of these faults raises an exception: two entries of one name, a missing class_name or
config, a class_name without a dot, and a list in place of config (executed: this function of the 0.7.1 wheel with OmegaConf 2.3 over 33
files).

Up to 0.7 verl reads the file when it creates tool_agent (0.7.1 tool_agent_loop.py:116-121). SGLang's synchronous rollout reads it when it
starts (0.5.0 sglang_rollout.py:543-547). verl 0.8 has no interactions (RL714).
`,
	Applies: []rule.Severity{{Versions: hasInteractions, Level: rule.Error, Consequence: "the file is not loaded, and the rollout fails"}},
	New: onLaunch(func(c *launchCheck) {
		if c.Text(keyInteract) == "" || c.Target.Within("0.5") && c.Text(rollout+"name") != "sglang" {
			return
		}
		if bad := c.DocumentError(keyInteract); bad != "" {
			c.at(keyInteract, "%s: %s", bad, c.Consequence)
			return
		}
		doc := c.Document(keyInteract)
		list := doc.Field("interaction")
		switch {
		case doc.IsMissing():
			return
		case list.Kind() != schema.List:
			c.at(keyInteract, "the file has no list 'interaction': %s", c.Consequence)
			return
		}
		seen := map[string]bool{}
		for i := range list.Len() {
			name, faults := interactionEntry(list.Elem(i), c.Target)
			for _, bad := range faults {
				c.at(keyInteract, "interaction[%d].%s: %s", i, bad, c.Consequence)
			}
			if name != "" && seen[name] {
				c.at(keyInteract, "interaction[%d]: a second interaction of the name %s: ValueError 'Duplicate interaction name': %s", i, name, c.Consequence)
			}
			seen[name] = true
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "not YAML", Target: "verl@0.7", Launch: interactAt + "@!" + keyInteract + "=i.yaml:3:4: did not find expected ',' or ']'", Want: interactWant(1)},
		{Title: "no list", Target: "verl@0.7", Launch: interactAt + interactDoc + `{"interactions":[]}`, Want: interactWant(1)},
		{Title: "no class, no config", Target: "verl@0.6", Launch: interactAt + interactDoc + `{"interaction":[{"name":"game"}]}`, Want: interactWant(2)},
		{Title: "a class without a module, a list and a null as config", Target: "verl@0.7", Launch: interactAt + interactDoc + `{"interaction":[{"class_name":"Game","config":[]},{"class_name":"my.Other","config":null}]}`, Want: interactWant(3)},
		{Title: "an entry that is not a mapping", Target: "verl@0.7", Launch: interactAt + interactDoc + `{"interaction":["my.Game"]}`, Want: interactWant(1)},
		{Title: "two of one name, one of them made of its class", Target: "verl@0.7", Launch: interactAt + interactDoc + `{"interaction":[{"name":"game","class_name":"my.Game","config":{}},{"class_name":"my.GameInteraction","config":{}}]}`, Want: interactWant(1)},
		{Title: "a class that verl 0.5 does not have", Target: "verl@0.5", Launch: interactAt + rollout + "name=sglang\n" + interactDoc + `{"interaction":[{"class_name":"verl.interactions.weather_interaction.WeatherInteraction","config":{}}]}`, Want: interactWant(1)},
		{Title: "0.5 with vLLM does not read it", Target: "verl@0.5", Launch: interactAt + rollout + "name=vllm\n" + interactDoc + `{"interaction":[{"name":"game"}]}`},
		{Title: "as verl's own example", Target: "verl@0.7", Launch: interactAt + interactDoc + `{"interaction":[{"name":"gsm8k","class_name":"verl.interactions.gsm8k_interaction.Gsm8kInteraction","config":{}}]}`},
	},
})

// Parts of the examples of rules over the file of interactions.
const (
	interactAt  = keyInteract + "=i.yaml\n"
	interactDoc = "@" + keyInteract + "="
)

func interactWant(n int) []string {
	return slices.Repeat([]string{"launch 1 " + keyInteract}, n)
}

// interactionModules are the modules that verl ships, up to 0.7.
var interactionModules = []dated[string]{{"", []string{"base", "gsm8k_interaction"}}, {">=0.6", []string{"weather_interaction"}}}

// interactionEntry returns the name under which verl keeps an entry of the list ("": it has none that is known), and what initialize_interactions_from_config
// raises over it.
func interactionEntry(e schema.Value, t rule.Target) (name string, faults []string) {
	if e.Kind() != schema.Struct {
		return "", []string{"class_name is missing: the entry is " + e.Excerpt(40)}
	}
	class := e.Field("class_name")
	module, simple, dot := cutLast(class.Text())
	switch {
	case class.IsMissing():
		faults = append(faults, "class_name is missing")
	case !dot:
		faults = append(faults, "class_name "+class.Excerpt(40)+" is not module.Class")
	default:
		if own, ok := strings.CutPrefix(module, "verl.interactions."); ok && !slices.Contains(itemsFor(t, interactionModules), own) {
			faults = append(faults, "class_name "+class.Excerpt(80)+": verl "+t.Version+" has no module "+module)
		}
	}
	switch config := e.Field("config"); {
	case config.IsMissing():
		faults = append(faults, "config is missing: write config: {}")
	case config.Kind() != schema.Struct:
		faults = append(faults, "config "+config.Excerpt(40)+" is not a mapping")
	}
	switch given := e.Field("name"); {
	case given.Kind() == schema.Text:
		return given.Text(), faults
	case given.IsMissing() || given.IsNull():
		return strings.ToLower(strings.TrimSuffix(simple, "Interaction")), faults
	}
	return "", faults
}

// cutLast cuts s at its last dot.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

// Interactions returns the names that interaction_config_path registers; known is false where the file cannot be read here, or does not load.
func (l *Launch) Interactions() (names []string, known bool) {
	list := l.Document(keyInteract).Field("interaction")
	if list.Kind() != schema.List {
		return nil, false
	}
	for i := range list.Len() {
		name, faults := interactionEntry(list.Elem(i), l.Target)
		if len(faults) > 0 {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}
