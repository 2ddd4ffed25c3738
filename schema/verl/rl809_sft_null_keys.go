package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL809", Name: "sft-null-keys", Rows: rule.SFT,
	Title: "tool schemas or arguments have keys that are null",
	Doc: `
An Arrow struct has the same fields in every row. If one tool has the parameter city, every other tool gets "city": null. Chat templates
write tools and the arguments of tool_calls with tojson, nulls included. The model then learns to call tools with arguments that they do not
have (executed with verl's reader; verl issue 4112, rllm 759).

Write arguments as a JSON string, which templates also accept. Or use only one set of tools, or one schema of parameters, in each dataset.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "chat templates write the nulls out, and the model learns them"}},
	Reads:   func(p *rule.Pass) []schema.Path { return unionLeaves(p.Schema) },
	New:     func(p *rule.Pass) rule.Checker { return &nullKeys{Pass: p, leaves: unionLeaves(p.Schema)} },
	Unfixed: "the data does not show whether the nulls are intentional",
	Examples: []rule.Example{
		{Title: "two tools with different parameters", Files: []string{`{"tools":[{"function":{"name":"add","parameters":{"properties":{"a":{"type":"number"}}}}},{"function":{"name":"find","parameters":{"properties":{"q":{"type":"string"}}}}}]}`},
			Want: []string{"0 0 tools[].function.parameters.properties.a", "0 0 tools[].function.parameters.properties.q"}},
		{Title: "arguments as a struct", Files: []string{`{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1}}}]}]}
{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"find","arguments":{"q":"x"}}}]}]}`},
			Want: []string{"0 0 messages[].tool_calls[].function.arguments.q", "0 1 messages[].tool_calls[].function.arguments.a"}},
		{Title: "arguments as JSON", Files: []string{`{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":"{\"a\": 1}"}}]}]}
{"messages":[{"role":"user","content":"Hi","tool_calls":null}]}`}},
		{Title: "one tool", Files: []string{`{"tools":[{"function":{"name":"add","parameters":{"properties":{"a":{"type":"number"}}}}}]}
{"tools":[]}`}},
	},
})

// unionLeaves are the leaves of tool schemas and of the arguments of tool calls that are structs of their own.
func unionLeaves(s *schema.Schema) []schema.Path {
	if s == nil {
		return nil
	}
	var out []schema.Path
	for _, l := range s.Leaves() {
		if l.Path.Under("tools[].function.parameters.properties") && depth(l.Path) > 5 || l.Path.Under("messages[].tool_calls[].function.arguments") && depth(l.Path) > 6 {
			out = append(out, l.Path)
		}
	}
	return out
}

type nullKeys struct {
	*rule.Pass
	leaves []schema.Path
}

// Prejudge implements rule.Checker.
func (c *nullKeys) Prejudge(k *rule.RowGroupFacts) bool {
	for i := range c.leaves {
		if k.At(i).Nulls != 0 {
			return false
		}
	}
	return true
}

// Row implements rule.Checker: one finding a row for each key that is null beside others that are not.
func (c *nullKeys) Row(r schema.Row) {
	var last schema.Path
	for i, leaf := range c.leaves {
		if d := nullAt(r.At(i), keyDepth(leaf)); d > 0 {
			if path := schema.MakePath(leaf.Steps()[:d+1]...); path != last {
				last = path
				c.Reportf(r.Pos().At(path), schema.Value{}, "null: %s", c.Consequence)
			}
		}
	}
}

// keyDepth is how many steps of leaf are not null where the key of a parameter or argument alone is.
func keyDepth(leaf schema.Path) int {
	if leaf.Under("tools") {
		return 5 // tools[].function.parameters.properties
	}
	return 6 // messages[].tool_calls[].function.arguments
}

// nullAt returns how many steps are not null at the first null in v that is at least that deep; 0 for none.
func nullAt(v schema.Value, deep int) int {
	if v.IsNull() && v.Depth() >= deep {
		return v.Depth()
	}
	if v.Kind() == schema.List {
		for i := range v.Len() {
			if d := nullAt(v.Elem(i), deep); d > 0 {
				return d
			}
		}
	}
	return 0
}
