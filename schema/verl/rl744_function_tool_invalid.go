package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL744", Name: "function-tool-invalid", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 tools/function_tool.py:65-137", "verl@0.9.1 tools/function_tool.py:150-193", "verl@0.9.1 tools/tool_registry.py:83-101"},
	Title: "verl does not register the functions of function_tool_path",
	Doc: `
Since verl 0.8 multi_turn.function_tool_path names a Python file. Its functions are tools if they have the decorator @function_tool
(verl.tools.function_tool). The file runs when the agent-loop workers start (0.9.1 tools/function_tool.py:150-193). verl makes a schema from
each function. The function needs a docstring, a type hint for every argument, and a line for every argument below "Args:" ("x: …", not "x
(int): …"). verl refuses *args and **kwargs (function_tool.py:196-221, and get_json_schema of transformers). A function with schema=… needs
none of this.

Two functions of one name end in ValueError (function_tool.py:124-130). So does a function with the name of a tool in tool_config_path
(tool_registry.py:91-100). If no function has the decorator, verl logs a warning and offers no tool. Executed with verl 0.9.1 and
transformers 5.10 over 29 files.

rlprep reads the file and does not run it. It does not see tools that the file imports or makes in a loop.
`,
	Applies: []rule.Severity{{Versions: hasFunctionTools, Level: rule.Error, Consequence: "the agent-loop workers fail when they start"}},
	New: onLaunch(func(c *launchCheck) {
		text, here := c.Python(keyFunctions)
		if !here {
			return
		}
		tools, sure := functionTools(text)
		if len(tools) == 0 && sure && !strings.Contains(text, "function_tool(") {
			c.atLevel(rule.Warning, keyFunctions, "no function of "+c.Text(keyFunctions)+" has the decorator @function_tool: no tool is offered, unless a module that it imports has one")
		}
		native, _, _ := c.Tools()
		var seen []string
		for _, t := range tools {
			switch {
			case t.fault != "":
				c.at(keyFunctions, "function tool %s: %s: %s", t.name, t.fault, c.Consequence)
			case slices.Contains(seen, t.name):
				c.at(keyFunctions, "two functions are the tool %s: ValueError 'is already registered': %s", t.name, c.Consequence)
			case slices.ContainsFunc(native, func(n Tool) bool { return n.Name == t.name }):
				c.at(keyFunctions, "the tool %s is in %s, too: ValueError 'collide with tools already declared': %s", t.name, c.Text(keyTools), c.Consequence)
			}
			seen = append(seen, t.name)
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "no docstring, no type, no description, variadic", Launch: functionsAt + "@function_tool|def a(x: int):|    return x||@function_tool|def b(x):|    \"\"\"B.||    Args:|        x: a number|    \"\"\"||@function_tool|def c(x: int):|    \"\"\"C.\"\"\"||@function_tool|def d(**kw):|    \"\"\"D.\"\"\"", Want: functionsWant(4)},
		{Title: "two of one name", Launch: functionsAt + "@function_tool|def a():|    \"\"\"A.\"\"\"||@function_tool(\"a\")|def b():|    \"\"\"B.\"\"\"", Want: functionsWant(1)},
		{Title: "a name that the YAML has, too", Launch: keyFunctions + "=t.py\n" + keyTools + "=t.yaml\n" + toolsDoc + `{"tools":[` + oneTool + "]}\n&" + keyFunctions + "=@function_tool(name='calc')|def a():|    '''A.'''", Want: functionsWant(1)},
		{Title: "no decorator: a warning", Launch: functionsAt + "def a(x: int):|    return x", Want: functionsWant(1)},
		{Title: "as verl wants it", Launch: functionsAt + "from verl.tools.function_tool import function_tool||@function_tool|async def a(x: int, unit: str = \"m\", *, deep: bool = False) -> str:|    \"\"\"Measures.||    Args:|        x: a number|        unit: its unit|        deep: more||    Returns:|        text|    \"\"\"|    return x"},
		{Title: "a schema of its own", Launch: functionsAt + "@function_tool('find', schema=SCHEMA)|def a(x, **kw):|    return x"},
		{Title: "0.7 has no such key", Launch: functionsAt + "def a(): pass", Target: "verl@0.7"},
	},
})

const functionsAt = keyFunctions + "=t.py\n&" + keyFunctions + "="

func functionsWant(n int) []string { return slices.Repeat([]string{"launch 1 " + keyFunctions}, n) }
