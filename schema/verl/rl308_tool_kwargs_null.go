package verl

import (
	"iter"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL308", Name: "tool-kwargs-null", Cites: []string{"verl@b178a3cd5 tool_agent_loop.py:421-439"}, Rows: rule.RL,
	Title: "the entry of a tool is null in some rows",
	Doc: `
An Arrow struct has the same fields in every row. If rows have different tools, each row has null for the tools of the others:
{"calc_gsm8k_reward": null, "search": {…}}. A default of dict.get does not apply to an existing null. The call fails with 'NoneType' object
has no attribute 'get', verl catches it, and the model reads it as the tool's answer; the reward is 0 (tool_agent_loop.py, _call_tool;
executed on verl 0.9.1). A null create_kwargs has the same effect.

verl offers every configured tool in every row. If most rows have a tool, rlprep takes it as configured, and rows without it are warnings.
If most rows lack a tool, one note says so. Give every row an entry for every tool, with arguments or with nulls in them.
`,
	Applies:         []rule.Severity{{Level: rule.Warning, Consequence: "a call fails with 'NoneType' object has no attribute 'get', which the model reads as the tool's answer"}},
	Reads:           func(p *rule.Pass) []schema.Path { return toolLeaves(p.Schema) },
	JudgeSingletons: true,
	New:             newToolNull,
	Unfixed:         "the arguments of the tool are not in the data",
	Examples: []rule.Example{
		{Title: "rows of another tool", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"7"}}}}}
{"extra_info":{"tools_kwargs":{"search":{"create_kwargs":{"question":"Who?"}}}}}`},
			Want: []string{"0 2 extra_info.tools_kwargs.calc_gsm8k_reward", "0 0 extra_info.tools_kwargs.search"}},
		{Title: "create_kwargs is null", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"7"}}}}}
{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":null}}}}`}, Want: []string{"0 2 extra_info.tools_kwargs.calc_gsm8k_reward.create_kwargs"}},
		{Title: "every row has its tool", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
		{Title: "rows without any tools: RL306 reports them", Files: []string{`{"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}
{"extra_info":{"tools_kwargs":null}}`}},
		{Title: "a null argument", Files: []string{`{"extra_info":{"tools_kwargs":{"search":{"create_kwargs":{"question":"Who?","answer":null}}}}}
{"extra_info":{"tools_kwargs":{"search":{"create_kwargs":{"question":null,"answer":"Ann"}}}}}`}},
	},
})

// toolLeaves returns one leaf for each tool in tools_kwargs, below create_kwargs where it has them.
func toolLeaves(s *schema.Schema) []schema.Path {
	if s == nil {
		return nil
	}
	field, _ := s.Lookup(toolsKwargs)
	if field.Type.Kind != schema.Struct {
		return nil
	}
	var out []schema.Path
	for _, tool := range field.Type.Fields {
		path := toolsKwargs.Field(tool.Name)
		leaf := firstLeaf(s, path.Field("create_kwargs"))
		if leaf == "" {
			leaf = firstLeaf(s, path)
		}
		if leaf != "" {
			out = append(out, leaf)
		}
	}
	return out
}

type toolNull struct {
	*rule.Pass
	leaves []schema.Path
	keys   []rule.Key // of the tools
	create []bool     // the leaf is below create_kwargs
	clean  []bool     // no null in this row group
	rows   int64      // of it
}

func newToolNull(p *rule.Pass) rule.Checker {
	c := &toolNull{Pass: p, leaves: toolLeaves(p.Schema)}
	for _, leaf := range c.leaves {
		tool := toolOf(leaf)
		c.keys = append(c.keys, rule.NewKey(string(tool)))
		c.create = append(c.create, leaf.Under(tool.Field("create_kwargs")))
	}
	return c
}

// toolsDepth is how many steps tools_kwargs has.
var toolsDepth = depth(toolsKwargs)

// What is emitted, by tool: whether its entry, or its create_kwargs, is null in the row, and for how many rows the hit stands.
const (
	toolThere = iota
	toolIsNull
	createIsNull
	weightBit = 2
)

// Prejudge implements rule.Checker.
func (c *toolNull) Prejudge(k *rule.RowGroupFacts) bool {
	switch {
	case len(c.leaves) == 0:
		return true
	case k.Slice:
		return false // a hit stands for a row group
	}
	c.clean, c.rows = make([]bool, len(c.leaves)), k.Rows
	all := true
	for i := range c.leaves {
		c.clean[i] = k.At(i).Nulls == 0
		all = all && c.clean[i]
	}
	return all && len(c.leaves) == 1 // nothing to count against
}

// Row implements rule.Checker. Only files with some nulls emit; of a row group without nulls one hit stands for all rows.
func (c *toolNull) Row(r schema.Row) {
	for i := range c.leaves {
		if c.clean != nil && c.clean[i] {
			if c.rows > 0 {
				c.emit(r, i, toolThere, c.rows)
			}
			continue
		}
		state := toolThere
		if v := r.At(i); v.IsNull() {
			switch d := v.Depth(); {
			case d < toolsDepth:
				continue // RL306
			case d == toolsDepth:
				state = toolIsNull
			case d == toolsDepth+1 && c.create[i]:
				state = createIsNull
			}
		}
		c.emit(r, i, state, 1)
	}
	c.rows = 0
}

func (c *toolNull) emit(r schema.Row, i, state int, rows int64) {
	c.Emit(c.keys[i], r, uint64(state)|uint64(rows)<<weightBit)
}

// toolOf returns the path of the tool's entry, of which leaf is a part.
func toolOf(leaf schema.Path) schema.Path {
	return schema.MakePath(leaf.Steps()[:toolsDepth+1]...)
}

// Group implements rule.Checker.
func (c *toolNull) Group(key rule.Key, hits iter.Seq[rule.Hit]) {
	var there, gone uint64
	var tool schema.Path
	for h := range hits {
		if h.Value&(1<<weightBit-1) == toolThere {
			there += h.Value >> weightBit
		} else {
			gone++
		}
		if tool == "" {
			tool = toolNamed(h.File.Schema, key)
		}
	}
	if gone == 0 {
		return
	}
	for h := range hits {
		path := tool
		switch h.Value & (1<<weightBit - 1) {
		case toolThere:
			continue
		case createIsNull:
			path = tool.Field("create_kwargs")
		}
		if gone > there {
			c.Report(rule.Finding{Level: rule.Info, Pos: h.Pos().At(path), Message: "null here and in most rows: where the launch configures this tool, " + c.Consequence})
			return
		}
		c.Reportf(h.Pos().At(path), schema.Value{}, "null: %s", c.Consequence)
	}
}

// toolNamed returns the tool whose key it is.
func toolNamed(s *schema.Schema, key rule.Key) schema.Path {
	for _, leaf := range toolLeaves(s) {
		if tool := toolOf(leaf); rule.NewKey(string(tool)) == key {
			return tool
		}
	}
	return toolsKwargs
}
