package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL312", Name: "tool-name-mismatch", Rows: rule.RL,
	Title: "a key of tools_kwargs is probably not the tool's name",
	Doc: `
The tool agent finds a tool's arguments by the name in the tool's schema (tool_schema.function.name; tool_agent_loop.py, _call_tool). It
never finds arguments under another key: the tool is created without arguments and rewards 0, and there is no error (executed on verl
0.9.1). Names of the tools that verl's examples configure: calc_gsm8k_reward, calc_geo3k_reward, code_interpreter, search,
image_zoom_in_tool.

The rule reports a key that is nearly one of these names. It also reports a prompt that names another tool than tools_kwargs has ("the
'calc_gsm8k_reward' tool", in backquotes).
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "under another name a tool never finds its arguments"}},
	Reads: func(p *rule.Pass) []schema.Path {
		if names := toolKeys(p.Schema); len(names) == 0 || nearKnown(names) {
			return nil
		}
		return []schema.Path{promptContent}
	},
	New:     func(p *rule.Pass) rule.Checker { return &toolName{Pass: p, names: toolKeys(p.Schema)} },
	Unfixed: "the tool may be one of your own",
	Examples: []rule.Example{
		{Title: "nearly the name", Files: []string{`{"extra_info":{"tools_kwargs":{"gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Want: []string{"0 -1 extra_info.tools_kwargs.gsm8k_reward"}},
		{Title: "another case", Files: []string{`{"extra_info":{"tools_kwargs":{"Calc_GSM8K_reward":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Want: []string{"0 -1 extra_info.tools_kwargs.Calc_GSM8K_reward"}},
		{Title: "the prompt mentions another tool", Files: []string{`{"prompt":[{"role":"system","content":"Use the \u0060check_answer\u0060 tool."}],"extra_info":{"tools_kwargs":{"verify":{"create_kwargs":{"ground_truth":"72"}}}}}`}, Want: []string{"0 0 extra_info.tools_kwargs"}},
		{Title: "verl's names", Files: []string{`{"prompt":[{"role":"system","content":"Use the \u0060calc_gsm8k_reward\u0060 tool."}],"extra_info":{"tools_kwargs":{"calc_gsm8k_reward":{"create_kwargs":{"ground_truth":"72"}},"search":{"create_kwargs":{"q":"a"}}}}}`}},
		{Title: "a custom name", Files: []string{`{"prompt":[{"role":"system","content":"Use the \u0060verify\u0060 tool, then \u0060####\u0060."}],"extra_info":{"tools_kwargs":{"verify":{"create_kwargs":{"ground_truth":"72"}}}}}`}},
	},
})

// toolNames are the names under which verl's examples configure its tools.
var toolNames = []string{"calc_gsm8k_reward", "calc_geo3k_reward", "code_interpreter", "search", "image_zoom_in_tool"}

func toolKeys(s *schema.Schema) []string {
	if s == nil {
		return nil
	}
	field, _ := s.Lookup(toolsKwargs)
	var names []string
	for _, t := range field.Type.Fields {
		if field.Type.Kind == schema.Struct {
			names = append(names, t.Name)
		}
	}
	return names
}

// near returns the known name that name is probably meant to be; "" where it is one or is near none.
func near(name string) string {
	if slices.Contains(toolNames, name) {
		return ""
	}
	lower := strings.ToLower(name)
	for _, known := range toolNames {
		if long := len(known) >= 10 && len(lower) >= 5; long && (strings.Contains(known, lower) || strings.Contains(lower, known)) {
			return known
		}
	}
	if at := schema.Nearest(name, toolNames); len(at) >= 10 || strings.EqualFold(at, name) {
		return at
	}
	return ""
}

func nearKnown(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return near(n) != "" })
}

type toolName struct {
	*rule.Pass
	names []string
}

// Files implements rule.Checker.
func (c *toolName) Files(files []*rule.File) {
	for _, f := range files {
		for _, name := range toolKeys(f.Schema) {
			if known := near(name); known != "" {
				c.Reportf(schema.FilePos(f.Name).At(toolsKwargs.Field(name)), schema.Value{}, "verl's tool is called %s: %s", known, c.Consequence)
			}
		}
	}
}

// Prejudge implements rule.Checker.
func (c *toolName) Prejudge(k *rule.RowGroupFacts) bool {
	return len(c.names) == 0 || nearKnown(c.names) || k.At(0).Missing
}

// Row implements rule.Checker.
func (c *toolName) Row(r schema.Row) {
	if len(c.names) == 0 || nearKnown(c.names) {
		return
	}
	v := r.At(0)
	for i := range v.Len() {
		if name := namedTool(v.Elem(i).Text()); name != "" && !slices.Contains(c.names, name) {
			c.Reportf(r.Pos().At(toolsKwargs), schema.Value{}, "the prompt mentions a tool %s, which is not among %s: %s", name, strings.Join(c.names, ", "), c.Consequence)
			return
		}
	}
}

// namedTool finds a name in backquotes that is called a tool; "" where there is none.
func namedTool(s string) string {
	for {
		at := strings.IndexByte(s, '`')
		if at < 0 {
			return ""
		}
		s = s[at+1:]
		end := strings.IndexByte(s, '`')
		if end < 0 {
			return ""
		}
		name, rest := s[:end], s[end+1:]
		if strings.HasPrefix(rest, " tool") && identifier(name) {
			return name
		}
		s = rest
	}
}

func identifier(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}
