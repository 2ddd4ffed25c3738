package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL740", Name: "tools-unselected", Rows: rule.RL, JudgeSingletons: true,
	Cites: []string{"verl@0.9.1 experimental/agent_loop/agent_loop.py:610-612", "verl@0.5.0 experimental/agent_loop/agent_loop.py:271-275"},
	Title: "tools are configured, but every row names an agent loop without tools",
	Doc: `
agent_name of a row overrides rollout.agent.default_agent_loop: verl uses the default only if there is no such column (0.9.1
experimental/agent_loop/agent_loop.py:610-612). If every row of the training data has single_turn_agent, verl silently offers the tools of
the launch to no sample (executed on 0.9.1: 48 trajectories, none with tools in its prompt, default_agent_loop=tool_agent).
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the tools are never offered"}},
	Reads:   reads(agentName),
	New:     func(p *rule.Pass) rule.Checker { return &toolsUnselected{Pass: p} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "all single", Files: []string{`{"agent_name":"single_turn_agent"}
{"agent_name":"single_turn_agent"}`}, Launch: toolsAt, Want: []string{"launch 1 " + keyTools}},
		{Title: "one of two with tools", Files: []string{`{"agent_name":"single_turn_agent"}
{"agent_name":"tool_agent"}`}, Launch: toolsAt},
		{Title: "no tools", Files: []string{`{"agent_name":"single_turn_agent"}`}, Launch: "trainer.total_epochs=1"},
	},
})

type toolsUnselected struct {
	*rule.Pass
	launch *Launch
	asked  bool
	single bool // emitted in this task
	others bool
}

// configured reports whether the launch configures tools.
func (c *toolsUnselected) configured() bool {
	if !c.asked {
		c.asked = true
		if l := launchOf(c.Pass); l != nil && l.RL() && !l.runtimeColumns() {
			if _, configured, _ := l.Tools(); configured {
				c.launch = l
			}
		}
	}
	return c.launch != nil
}

// Prejudge implements rule.Checker.
func (c *toolsUnselected) Prejudge(k *rule.RowGroupFacts) bool {
	return !c.configured() || k.At(0).Missing
}

// Row implements rule.Checker: each of the two answers is emitted once a task.
func (c *toolsUnselected) Row(r schema.Row) {
	v := r.At(0)
	single := v.Kind() == schema.Text && v.Text() == "single_turn_agent"
	if !c.configured() || single && c.single || !single && c.others {
		return
	}
	answer := uint64(0)
	if single {
		c.single, answer = true, 1
	} else {
		c.others = true
	}
	c.Emit(rule.NewKey("tools-unselected"), r, answer)
}

// Group implements rule.Checker.
func (c *toolsUnselected) Group(_ rule.Key, hits iter.Seq[rule.Hit]) {
	var first *rule.Hit
	for h := range hits {
		if !trains(h.File) {
			continue
		}
		if h.Value == 0 {
			return
		}
		if first == nil {
			first = &h
		}
	}
	if first == nil || !c.configured() {
		return
	}
	key := keyTools
	if c.launch.Text(keyTools) == "" {
		key = keyFunctions
	}
	v, pos, _ := c.launch.Value(key)
	c.Report(rule.Finding{Pos: pos, Value: v.Excerpt(80), Related: []schema.Pos{first.Pos()}, Message: "every row of the training data names single_turn_agent: " + c.Consequence})
}
