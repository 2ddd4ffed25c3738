package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL714", Name: "interaction-config", Rows: rule.RL,
	Title: "the configured interaction never starts",
	Doc: `
verl 0.8 removed interactions (63dc08501, 2026-04-20). Hydra refuses multi_turn.interaction_config_path ('Could not override'), and with '+'
MultiTurnConfig does not accept it ('unexpected keyword'; both executed on 0.9.1). Up to 0.7 only tool_agent starts an interaction, and only
for rows whose extra_info.interaction_kwargs has a name. Without the name the step fails (tool_agent_loop.py:149-160).
`,
	Applies: []rule.Severity{
		{Versions: ">=0.8", Level: rule.Error, Consequence: "verl 0.8 and later have no interactions: the launch fails when the configuration is composed"},
		{Level: rule.Warning, Consequence: "the interaction never begins"},
	},
	New: onLaunch(func(c *launchCheck) {
		if v, _, set := c.Value(keyInteract); !set || v.IsNull() {
			return
		}
		if !c.Target.Within(hasInteractions) {
			c.at(keyInteract, "%s", c.Consequence)
			return
		}
		has, known := c.agentColumn()
		switch chosen := c.Text(keyAgent) == "tool_agent" || c.runtimeColumns(); {
		case chosen:
		case known && !has:
			c.at(keyInteract, "no row selects tool_agent: %s", c.Consequence)
		case !known:
			c.at(keyInteract, "only rows whose agent_name is tool_agent have it; verl's gsm8k_multiturn_w_interaction.py writes none: without the column %s", c.Consequence)
		}
		for _, f := range c.train() {
			if given(f.Schema, interaction) && kindOf(f.Schema, interaction.Field("name")) == schema.Missing && (has || c.Text(keyAgent) == "tool_agent") {
				c.atLevel(rule.Error, keyInteract, f.Name+" has interaction_kwargs without name: ValueError \"'name' key is required in interaction_kwargs\"")
				return
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "0.9", Launch: "actor_rollout_ref.rollout.multi_turn.interaction_config_path=i.yaml", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.interaction_config_path"}},
		{Title: "0.7, rows without agent_name", Files: []string{`{"extra_info":{"interaction_kwargs":{"name":"gsm8k"}}}`}, Launch: "actor_rollout_ref.rollout.multi_turn.interaction_config_path=i.yaml", Target: "verl@0.7", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.interaction_config_path"}},
		{Title: "0.7, data that is not here", Launch: "actor_rollout_ref.rollout.multi_turn.interaction_config_path=i.yaml", Target: "verl@0.7", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.interaction_config_path"}},
		{Title: "0.7, no name", Files: []string{`{"agent_name":"tool_agent","extra_info":{"interaction_kwargs":{"query":"q"}}}`}, Launch: "actor_rollout_ref.rollout.multi_turn.interaction_config_path=i.yaml", Target: "verl@0.7", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.interaction_config_path"}},
		{Title: "0.7, as it should be", Files: []string{`{"agent_name":"tool_agent","extra_info":{"interaction_kwargs":{"name":"gsm8k"}}}`}, Launch: "actor_rollout_ref.rollout.multi_turn.interaction_config_path=i.yaml", Target: "verl@0.7"},
		{Title: "none", Launch: "data.train_batch_size=8"},
	},
})
