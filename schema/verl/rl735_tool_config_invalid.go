package verl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL735", Name: "tool-config-invalid", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 tools/tool_registry.py:55-101", "verl@0.9.1 tools/schemas.py:21-56", "verl@0.8.0 tools/tool_registry.py:55-83", "verl@0.7.1 tools/utils/tool_registry.py:82", "verl@0.7.1 tools/schemas.py:21-52", "verl@0.9.1 experimental/agent_loop/agent_loop.py:525-531"},
	Title: "verl cannot load the tool configuration",
	Doc: `
verl reads the YAML of multi_turn.tool_config_path when the agent-loop workers start (tools/tool_registry.py:55-101, load_all_tools and
initialize_tools_from_config; up to 0.7 tools/utils/tool_registry.py:82).

The file has a list 'tools'. Each entry has:

- class_name (module.Class);
- config.type (native; mcp up to 0.7);
- tool_schema, unless the class makes its own.

A schema must have these fields (tools/schemas.py:21-56, pydantic):

- the schema: type and function;
- the function: name and description;
- parameters: type and properties (up to 0.7 also required); required is a list of names;
- each property: type, a text (or a list of texts since 0.8); description, a text; enum, a list (of texts up to 0.7).

If something is missing, the workers fail with ParserError, ConfigAttributeError, ValueError or ValidationError (executed: load_all_tools of
0.9.1 over 36 files). If two tools have one name, one replaces the other.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the agent-loop workers fail when they start"}},
	New: onLaunch(func(c *launchCheck) {
		if c.Text(keyTools) == "" {
			return
		}
		if bad := c.DocumentError(keyTools); bad != "" {
			c.at(keyTools, "%s: %s", bad, c.Consequence)
			return
		}
		doc := c.Document(keyTools)
		if doc.IsMissing() {
			return
		}
		list := doc.Field("tools")
		if list.Kind() != schema.List {
			c.at(keyTools, "the file has no list 'tools': %s", c.Consequence)
			return
		}
		seen := map[string]bool{}
		for i := range list.Len() {
			e := list.Elem(i)
			for _, bad := range c.toolFaults(e) {
				c.at(keyTools, "tools[%d].%s: %s", i, bad, c.Consequence)
			}
			name := e.Field("tool_schema").Field("function").Field("name").Text()
			if name != "" && seen[name] {
				c.at(keyTools, "tools[%d]: a second tool of the name %s takes the place of the first", i, name)
			}
			seen[name] = true
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "not YAML", Launch: toolsAt + `@!actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml:3:4: did not find expected '-' indicator`, Want: toolsWant(1)},
		{Title: "no list", Launch: toolsAt + toolsDoc + `{"tool":[]}`, Want: toolsWant(1)},
		{Title: "no class, no type, no schema type, no description", Launch: toolsAt + toolsDoc + `{"tools":[{"config":{},"tool_schema":{"function":{"name":"calc"}}}]}`, Want: toolsWant(4)},
		{Title: "a property whose type is not a text", Launch: toolsAt + toolsDoc + `{"tools":[{"class_name":"my.Tool","config":{"type":"native"},"tool_schema":{"type":"function","function":{"name":"calc","description":"d","parameters":{"type":"object","properties":{"x":{"type":{"a":1}}}}}}}]}`, Want: toolsWant(1)},
		{Title: "required as a text, enum as a text, a description that is not a text, strict", Launch: toolsAt + toolsDoc + `{"tools":[{"class_name":"my.Tool","config":{"type":"native"},"tool_schema":{"type":"function","function":{"name":"calc","description":"d","strict":"maybe","parameters":{"type":"object","properties":{"x":{"type":"string","enum":"a","description":5}},"required":"x"}}}}]}`, Want: toolsWant(4)},
		{Title: "a type that is a list, 0.8", Target: "verl@0.8", Launch: toolsAt + toolsDoc + typeList},
		{Title: "a type that is a list, 0.7", Target: "verl@0.7", Launch: toolsAt + toolsDoc + typeList, Want: toolsWant(1)},
		{Title: "two of a name", Launch: toolsAt + toolsDoc + `{"tools":[` + oneTool + `,` + oneTool + `]}`, Want: toolsWant(1)},
		{Title: "a tool whose class makes its schema", Launch: toolsAt + toolsDoc + `{"tools":[{"class_name":"my.Tool","config":{"type":"native"}},` + oneTool + `]}`},
	},
})

// Parts of the examples of rules over the file of tools.
const (
	toolsAt  = keyTools + "=t.yaml\n"
	toolsDoc = "@" + keyTools + "="
	oneTool  = `{"class_name":"my.Tool","config":{"type":"native"},"tool_schema":{"type":"function","function":{"name":"calc","description":"d","parameters":{"type":"object","properties":{"x":{"type":"string"}},"required":[]}}}}`
)

const typeList = `{"tools":[{"class_name":"my.Tool","config":{"type":"native"},"tool_schema":{"type":"function","function":{"name":"calc","description":"d","parameters":{"type":"object","properties":{"x":{"type":["string","null"]}},"required":[]}}}}]}`

func toolsWant(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "launch 1 " + keyTools
	}
	return out
}

// toolFaults says what load_all_tools raises over one entry.
func (l *Launch) toolFaults(e schema.Value) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch class := e.Field("class_name"); {
	case class.IsMissing():
		add("class_name is missing")
	case !strings.Contains(class.Text(), "."):
		add("class_name %s is no module.Class", class.Excerpt(40))
	}
	switch kind := e.Field("config").Field("type"); {
	case kind.IsMissing():
		add("config.type is missing")
	case kind.Text() != "native" && kind.Text() != "mcp":
		add("config.type %s is none of verl's (native)", kind.Excerpt(40))
	}
	if s := e.Field("tool_schema"); !s.IsMissing() && !s.IsNull() {
		for _, bad := range l.schemaFaults(s) {
			add("tool_schema.%s", bad)
		}
	}
	return out
}

// A schemaCheck collects what OpenAIFunctionToolSchema.model_validate raises over the schema of a tool (tools/schemas.py:21-56).
type schemaCheck struct {
	*Launch
	faults []string
}

func (l *Launch) schemaFaults(s schema.Value) []string {
	c := &schemaCheck{Launch: l}
	c.text(s, "", "type")
	f := s.Field("function")
	if f.Kind() != schema.Struct {
		return append(c.faults, "function is missing (name, description and parameters stand below it)")
	}
	c.text(f, "function.", "name")
	c.text(f, "function.", "description")
	if strict := f.Field("strict"); !strict.IsMissing() && !pydanticBool(strict) {
		c.add("function.strict %s is no truth value", strict)
	}
	if p := f.Field("parameters"); !p.IsMissing() {
		c.parameters(p)
	} else if l.Target.Within("<0.6") {
		c.faults = append(c.faults, "function.parameters is missing")
	}
	return c.faults
}

func (c *schemaCheck) add(format string, v schema.Value) {
	c.faults = append(c.faults, fmt.Sprintf(format, v.Excerpt(40)))
}

// text wants a text.
func (c *schemaCheck) text(in schema.Value, at, name string) {
	switch v := in.Field(name); {
	case v.IsMissing():
		c.faults = append(c.faults, at+name+" is missing")
	case v.Kind() != schema.Text:
		c.add(at+name+" is no text: %s", v)
	}
}

func (c *schemaCheck) parameters(p schema.Value) {
	const at = "function.parameters."
	c.text(p, at, "type")
	properties, required := p.Field("properties"), p.Field("required")
	if properties.Kind() != schema.Struct {
		c.faults = append(c.faults, at+"properties is missing")
	}
	switch {
	case required.IsMissing() && c.Target.Within("<0.8"):
		c.faults = append(c.faults, at+"required is missing")
	case !required.IsMissing() && !listOf(required, schema.Text):
		c.add(at+"required %s is no list of names", required)
	}
	for _, name := range fieldNames(properties) {
		c.property(at+"properties."+name+".", properties.Field(name))
	}
}

// property checks one property. Since 0.8 its type may be a list, and enum holds any values (0.8.0 tools/schemas.py:25-29).
func (c *schemaCheck) property(at string, p schema.Value) {
	if c.Target.Within("<0.8") || p.Field("type").Kind() != schema.List {
		c.text(p, at, "type")
	}
	if d := p.Field("description"); !d.IsMissing() && !d.IsNull() && d.Kind() != schema.Text {
		c.add(at+"description is no text: %s", d)
	}
	switch enum := p.Field("enum"); {
	case enum.IsMissing() || enum.IsNull():
	case enum.Kind() != schema.List:
		c.add(at+"enum %s is no list", enum)
	case c.Target.Within("<0.8") && !listOf(enum, schema.Text):
		c.add(at+"enum %s is no list of texts", enum)
	}
}

// listOf reports whether v is a list of values of a kind.
func listOf(v schema.Value, kind schema.Kind) bool {
	if v.Kind() != schema.List {
		return false
	}
	for i := range v.Len() {
		if v.Elem(i).Kind() != kind {
			return false
		}
	}
	return true
}

// pydanticBool reports whether pydantic reads v as a truth value.
func pydanticBool(v schema.Value) bool {
	switch v.Kind() {
	case schema.Bool:
		return true
	case schema.Int:
		return v.Int() == 0 || v.Int() == 1
	}
	return slices.Contains([]string{"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"}, strings.ToLower(v.Text()))
}
