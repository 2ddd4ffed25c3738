package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL717", Name: "tool-format-unknown", Rows: rule.RL,
	Title: "multi_turn.format names no tool parser of this version",
	Doc: `
tool_agent looks up the parser by this name when verl creates the agent: ValueError 'Unknown tool parser' (tool_parser.py, get_tool_parser).
Parsers: hermes; gpt-oss since 0.6; qwen3_coder since 0.7.1; gemma4 since 0.8; glm, seed, minimax, kimi, deepseek_v4 since 0.9 (read in the
releases). verl's own search_multiturn_grpo.yaml has 'qwen', which no version knows. If every sample runs as single_turn_agent, the name
does no harm.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "tool_agent fails with ValueError: Unknown tool parser"}},
	New: onLaunch(func(c *launchCheck) {
		v, pos, set := c.Value(keyFormat)
		known := itemsFor(c.Target, toolParsers)
		if !set || v.Kind() == schema.Text && slices.Contains(known, v.Text()) {
			return
		}
		_, tools, _ := c.Tools()
		has, _ := c.agentColumn()
		level := rule.Error
		if !tools && !has && c.Text(keyAgent) != "tool_agent" {
			level = rule.Warning
		}
		c.Report(rule.Finding{Level: level, Pos: pos, Value: v.Excerpt(40), Message: v.Excerpt(40) + ": verl " + c.version() + " has " + strings.Join(known, ", ") + ": " + c.Consequence})
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "verl's search_multiturn_grpo.yaml", Launch: "actor_rollout_ref.rollout.multi_turn.format=qwen\nactor_rollout_ref.rollout.multi_turn.tool_config_path=search.yaml", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.format"}},
		{Title: "a parser of a later version", Launch: "actor_rollout_ref.rollout.multi_turn.format=gemma4", Target: "verl@0.7", Want: []string{"launch 1 actor_rollout_ref.rollout.multi_turn.format"}},
		{Title: "hermes", Launch: "actor_rollout_ref.rollout.multi_turn.format=hermes"},
		{Title: "qwen3_coder", Launch: "actor_rollout_ref.rollout.multi_turn.format=qwen3_coder", Target: "verl@0.7"},
	},
})
