package verl

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
	"github.com/rlprep/rlprep/transform"
)

// setAgent writes the agent that --agent names where agent_name is null or missing.
func setAgent(title string) rule.Fix {
	return rule.Fix{Title: title, Plan: func(_ context.Context, r rule.FixRequest) (string, error) {
		agent := r.Env().Agent
		if agent == "" {
			return "which agent loop is to run the rows is not in the data: say --agent NAME", nil
		}
		set := transform.Set{Path: agentName, Value: schema.TextValue(agent), Type: agentType(r), After: "data_source", If: transform.Replace}
		if f, ok := r.Facts(r.File()).Schema.Lookup(agentName); ok && f.Type.Kind != schema.Null {
			if f.Type.Kind != schema.Text {
				return "agent_name is " + f.Type.String(), nil
			}
			set.Type, set.If = f.Type, transform.Fill
		}
		r.Add(r.File(), agentName, set)
		return "", nil
	}}
}

// agentType is the type that agent_name has in some file of the dataset, as text; string where none has it.
func agentType(r rule.FixRequest) schema.Type {
	for _, i := range r.Dataset() {
		if f, ok := r.Facts(i).Schema.Lookup(agentName); ok && f.Type.Kind == schema.Text {
			return schema.Type{Kind: schema.Text, Layout: f.Type.Layout}
		}
	}
	return schema.StringType
}

// replaceAgent writes the agent that --agent names in place of those that verl does not know.
func replaceAgent(title string) rule.Fix {
	return rule.Fix{Title: title, Plan: planAgents, Check: checkAgent}
}

func planAgents(_ context.Context, r rule.FixRequest) (string, error) {
	agent := r.Env().Agent
	if agent == "" {
		return "which agent loop is meant is not in the data: say --agent NAME", nil
	}
	pass, _ := rule.NewPass(r.Rule(), r.Env())
	known := knownAgents(pass)
	return fixes.AddEachText(r, agentName, func(s string) string {
		if known(s) || !utf8.ValidString(s) {
			return s
		}
		return agent
	}), nil
}

// checkAgent refuses an agent that a rule would find.
func checkAgent(p *rule.Pass) error {
	if agent := p.Env.Agent; agent != "" && !knownAgents(p)(agent) {
		return fmt.Errorf("--agent %s is no agent loop of %s: --known-agents %s says that your launch registers it", agent, p.Env.Target, agent)
	}
	return nil
}

// adviseToolAgent advises the agent loop that offers tools.
func adviseToolAgent(*rule.Env, []string) rule.Advice { return rule.Advice{Agent: "tool_agent"} }

// adviseNearest advises the agent loop that all values are misspellings of, if there is one.
func adviseNearest(_ *rule.Env, values []string) rule.Advice {
	var agent string
	for i, v := range values {
		near := schema.Nearest(strings.TrimSpace(v), agents)
		if v == "" || near == "" || i > 0 && near != agent {
			return rule.Advice{Note: "where your launch registers it: --known-agents NAME, or --config LAUNCH"}
		}
		agent = near
	}
	if agent == "" {
		return rule.Advice{}
	}
	return rule.Advice{Agent: agent}
}
