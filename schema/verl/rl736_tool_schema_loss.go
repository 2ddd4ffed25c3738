package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL736", Name: "tool-schema-loss", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 tools/schemas.py:21-56", "verl@0.7.1 tools/schemas.py:21-52"},
	Title: "verl drops a part of a tool's schema",
	Doc: `
verl keeps only type, description and enum of each property, and type, properties and required of parameters (tools/schemas.py:21-56).
pydantic silently drops everything else when it reads the schema: items, minimum, default, anyOf, nested properties. The model never sees
these parts, and gets an array without the type of its elements (verl issue 7505; executed: model_validate and model_dump of 0.9.1 as the
agent loop calls them).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "the model never sees it"}},
	New: onLaunch(func(c *launchCheck) {
		list := c.Document(keyTools).Field("tools")
		for i := range list.Len() {
			f := list.Elem(i).Field("tool_schema").Field("function")
			parameters := f.Field("parameters")
			var lost []string
			for _, name := range fieldNames(parameters) {
				if !slices.Contains([]string{"type", "properties", "required"}, name) {
					lost = append(lost, name)
				}
			}
			properties := parameters.Field("properties")
			for _, p := range fieldNames(properties) {
				for _, name := range fieldNames(properties.Field(p)) {
					if !slices.Contains([]string{"type", "description", "enum"}, name) {
						lost = append(lost, p+"."+name)
					}
				}
			}
			if len(lost) > 0 {
				c.at(keyTools, "of the schema of %s verl drops %s: %s", f.Field("name").Text(), strings.Join(lost, ", "), c.Consequence)
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "an array and a bound", Launch: toolsAt + toolsDoc + `{"tools":[{"class_name":"my.Tool","config":{"type":"native"},"tool_schema":{"type":"function","function":{"name":"calc","description":"d","parameters":{"type":"object","properties":{"x":{"type":"array","items":{"type":"string"}},"y":{"type":"integer","minimum":1}},"required":[]}}}}]}`, Want: toolsWant(1)},
		{Title: "only parts that verl keeps", Launch: toolsAt + toolsDoc + `{"tools":[` + oneTool + `]}`},
	},
})
