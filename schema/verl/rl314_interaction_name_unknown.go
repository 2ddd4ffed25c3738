package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

const interactionName = interaction + ".name"

var _ = framework.Add(rule.Rule{
	ID: "RL314", Name: "interaction-name-unknown", Rows: rule.RL,
	Cites: []string{"verl@0.7.1 experimental/agent_loop/tool_agent_loop.py:139-150", "verl@0.6.1 experimental/agent_loop/tool_agent_loop.py:127-140"},
	Title: "a row names an interaction that the launch does not configure",
	Doc: `
If a launch sets multi_turn.interaction_config_path, tool_agent looks up extra_info.interaction_kwargs.name of every row among the
interactions of that file (verl 0.6 and 0.7; 0.7.1 tool_agent_loop.py:139-150). Any other name raises ValueError "Interaction 'x' not found
in interaction_map", and the step fails. An entry without name in the file gets the name of its class, in lower case and without
"Interaction" at its end.

The rule checks only rows of tool_agent, and only if it can read the file on this machine.
`,
	Applies: []rule.Severity{{Versions: ">=0.6 <0.8", Level: rule.Error, Consequence: "verl fails with ValueError \"Interaction … not found in interaction_map\", and the step fails"}},
	Reads:   reads(interactionName, agentName),
	New: func(p *rule.Pass) rule.Checker {
		l := launchOf(p)
		if l == nil || l.Text(keyInteract) == "" {
			return &interactionUnknown{Pass: p}
		}
		names, known := l.Interactions()
		return &interactionUnknown{p, names, known, l.Text(keyAgent)}
	},
	Unfixed: "the name may be wrong in the row or in the launch",
	Examples: []rule.Example{
		{Title: "another name", Target: "verl@0.7", Launch: interactAt + interactDoc + `{"interaction":[{"name":"gsm8k","class_name":"my.Game","config":{}}]}`,
			Files: []string{`{"agent_name":"tool_agent","extra_info":{"interaction_kwargs":{"name":"gsm8k"}}}
{"agent_name":"tool_agent","extra_info":{"interaction_kwargs":{"name":"gsm8"}}}`}, Want: []string{"0 1 extra_info.interaction_kwargs.name"}},
		{Title: "the name of the class, and a row of another agent", Target: "verl@0.6", Launch: interactAt + interactDoc + `{"interaction":[{"class_name":"my.GameInteraction","config":{}}]}`,
			Files: []string{`{"agent_name":"tool_agent","extra_info":{"interaction_kwargs":{"name":"game"}}}
{"agent_name":"single_turn_agent","extra_info":{"interaction_kwargs":{"name":"none"}}}`}},
		{Title: "a file that does not exist here", Target: "verl@0.7", Launch: interactAt, Files: []string{`{"agent_name":"tool_agent","extra_info":{"interaction_kwargs":{"name":"gsm8"}}}`}},
	},
})

type interactionUnknown struct {
	*rule.Pass
	names []string
	known bool
	agent string // of rows without agent_name
}

func (c *interactionUnknown) fits(v schema.Value) bool {
	return v.Kind() != schema.Text || slices.Contains(c.names, v.Text())
}

// Prejudge implements rule.Checker.
func (c *interactionUnknown) Prejudge(k *rule.RowGroupFacts) bool {
	at := k.At(0)
	return !c.known || at.Missing || at.Dict != nil && !slices.ContainsFunc(at.Dict, func(v schema.Value) bool { return !c.fits(v) })
}

// Row implements rule.Checker.
func (c *interactionUnknown) Row(r schema.Row) {
	v, agent := r.At(0), r.At(1)
	if !c.known || c.fits(v) || agent.Kind() == schema.Text && agent.Text() != "tool_agent" || agent.IsMissing() && c.agent != "tool_agent" {
		return
	}
	near := ""
	if n := schema.Nearest(v.Text(), c.names); n != "" {
		near = "; did you mean " + n + "?"
	}
	c.Reportf(r.Pos().At(interactionName), v, "%s: the launch configures %s%s: %s", v.Excerpt(40), strings.Join(c.names, ", "), near, c.Consequence)
}
