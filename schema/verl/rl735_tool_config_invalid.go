package verl

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL735", Name: "tool-config-invalid", Rows: rule.RL,
	Title: "verl does not load the file of tools",
	Doc: `
tool_registry.py (load_all_tools, initialize_tools_from_config) reads the YAML of multi_turn.tool_config_path when the agent-loop workers start: a list 'tools', each entry with class_name (module.Class), config.type (native; mcp up to 0.7) and, unless the class makes its own, tool_schema. tools/schemas.py (pydantic) wants of a schema: type and function; of the function: name and description; of
parameters: type and properties (up to 0.7 also required); of each property: type, a text (or a list of texts since 0.9). What is missing ends the workers with ParserError, ConfigAttributeError, ValueError or ValidationError (executed on 0.9.1). Two tools of one name take each other's place.
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
		{Title: "no YAML", Launch: toolsAt + `@!actor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml:3:4: did not find expected '-' indicator`, Want: toolsWant(1)},
		{Title: "no list", Launch: toolsAt + toolsDoc + `{"tool":[]}`, Want: toolsWant(1)},
		{Title: "no class, no type, no schema type, no description", Launch: toolsAt + toolsDoc + `{"tools":[{"config":{},"tool_schema":{"function":{"name":"calc"}}}]}`, Want: toolsWant(4)},
		{Title: "a property whose type is no text", Launch: toolsAt + toolsDoc + `{"tools":[{"class_name":"my.Tool","config":{"type":"native"},"tool_schema":{"type":"function","function":{"name":"calc","description":"d","parameters":{"type":"object","properties":{"x":{"type":{"a":1}}}}}}}]}`, Want: toolsWant(1)},
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

// schemaFaults says what OpenAIFunctionToolSchema.model_validate raises.
func (l *Launch) schemaFaults(s schema.Value) (out []string) {
	text := func(v schema.Value, at string) {
		switch {
		case v.IsMissing():
			out = append(out, at+" is missing")
		case v.Kind() != schema.Text:
			out = append(out, at+" is no text: "+v.Excerpt(40))
		}
	}
	text(s.Field("type"), "type")
	f := s.Field("function")
	if f.Kind() != schema.Struct {
		return append(out, "function is missing (name, description and parameters stand below it)")
	}
	text(f.Field("name"), "function.name")
	text(f.Field("description"), "function.description")
	p := f.Field("parameters")
	if p.IsMissing() {
		return out
	}
	text(p.Field("type"), "function.parameters.type")
	properties := p.Field("properties")
	if properties.Kind() != schema.Struct {
		out = append(out, "function.parameters.properties is missing")
	}
	if p.Field("required").IsMissing() && l.Target.Within("<0.8") {
		out = append(out, "function.parameters.required is missing")
	}
	for _, name := range fieldNames(properties) {
		v := properties.Field(name).Field("type")
		if v.Kind() != schema.List || !l.Target.Within(">=0.9") {
			text(v, "function.parameters.properties."+name+".type")
		}
	}
	return out
}
