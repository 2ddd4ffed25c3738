package verl

import (
	"regexp"
	"slices"
	"strings"
)

// A functionTool is a function of a Python file that verl's decorator function_tool registers (0.9.1 tools/function_tool.py:65-137).
type functionTool struct {
	name  string // under which the model sees it
	fault string // why the registration fails, with the exception; "" where it does not
}

// functionTools lists the tools that a Python file registers. Sure: it registers no others, as far as its text tells without running it.
func functionTools(text string) (tools []functionTool, sure bool) {
	sure = !regexp.MustCompile(`function_tool[ \t]+as\b|import[ \t]*\*|(?m)^[ \t]+@(?:\w+\.)*function_tool\b|function_tool\([^)]*\)\(`).MatchString(text)
	decorator := regexp.MustCompile(`(?m)^@(?:\w+\.)*function_tool\b[ \t]*`)
	function := regexp.MustCompile(`^(?:\s*(?:#[^\n]*)?\n|@[^\n]*\n)*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(`)
	for _, at := range decorator.FindAllStringIndex(text, -1) {
		rest := text[at[1]:]
		var given []string
		if strings.HasPrefix(rest, "(") {
			parts, after, ok := bracketed(rest[1:])
			if !ok {
				sure = false
				continue
			}
			given, rest = parts, after
		}
		def := function.FindStringSubmatchIndex(rest)
		if def == nil {
			sure = false
			continue
		}
		name, schema, ok := toolArguments(given, rest[def[2]:def[3]])
		if !ok {
			sure = false
			continue
		}
		t := functionTool{name: name}
		if !schema {
			t.fault = schemaFault(rest[def[1]:])
		}
		tools = append(tools, t)
	}
	return tools, sure
}

// toolArguments reads the arguments of the decorator: the tool's name, and whether they bring a schema. Not ok: they are made when the file runs.
func toolArguments(given []string, function string) (name string, schema, ok bool) {
	name = function
	for i, arg := range given {
		key, value, named := cutTop(arg, '=')
		switch {
		case named && strings.TrimSpace(key) == "schema":
			schema = strings.TrimSpace(value) != "None"
			continue
		case named && strings.TrimSpace(key) == "name":
		case !named && i == 0:
			value = arg
		default:
			return "", false, false
		}
		value = strings.TrimSpace(value)
		if value == "None" {
			continue
		}
		text, rest, ok := quoted(value)
		if !ok || rest != "" || strings.Contains(text, `\`) {
			return "", false, false
		}
		if text != "" {
			name = text
		}
	}
	return name, schema, true
}

// schemaFault says why verl and transformers make no schema of a function (0.9.1 tools/function_tool.py:196-221; get_json_schema of
// transformers/utils/chat_template_utils.py), in the order in which they look. Text begins behind the bracket of the function's arguments.
func schemaFault(text string) string {
	list, rest, ok := parametersOf(text)
	if !ok {
		return ""
	}
	var names []string
	for _, p := range list {
		if name := strings.TrimLeft(p.name, "*"); name != p.name && name != "" {
			return "it has the argument " + p.name + ": ValueError 'declares variadic parameter(s)'"
		}
		if p.name != "*" && p.name != "/" {
			names = append(names, p.name)
		}
	}
	doc, known := docstring(rest)
	switch {
	case !known:
		return ""
	case strings.TrimSpace(doc) == "":
		return "it has no docstring: DocstringParsingException"
	}
	receiver := ""
	if len(list) > 0 && !list[0].typed && slices.Contains([]string{"self", "cls"}, list[0].name) {
		receiver = list[0].name
	}
	for _, p := range list {
		if !p.typed && slices.Contains(names, p.name) && p.name != receiver {
			return "the argument " + p.name + " has no type hint: TypeHintParsingException"
		}
	}
	block := ""
	if m := regexp.MustCompile(`(?s)\n\s*Args:\n\s*(.*?)[\n\s]*(?:Returns:|Raises:|\z)`).FindStringSubmatch(strings.TrimSpace(doc)); m != nil {
		block = m[1]
	}
	for _, name := range names {
		if name != receiver && !regexp.MustCompile(`(?:^|\n)\s*`+name+`:`).MatchString(block) {
			return "the docstring describes no argument " + name + " (a line '" + name + ": …' below 'Args:'): DocstringParsingException"
		}
	}
	return ""
}

// docstring returns the docstring of a function; text begins behind the bracket of its arguments. Not known: the body stands on the line of the def, or the
// text does not tell.
func docstring(text string) (doc string, known bool) {
	_, body, ok := cutTop(text, ':')
	if !ok {
		return "", false
	}
	body = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*`).ReplaceAllString(body, "")
	doc, _, _ = quoted(body)
	return doc, true
}

// quoted reads the text in quotes that s begins with, as it is written.
func quoted(s string) (text, rest string, ok bool) {
	s = strings.TrimLeft(s, "rRuU")
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false
	}
	n, quote := tokenLen(s), 1
	if strings.HasPrefix(s, strings.Repeat(s[:1], 3)) {
		quote = 3
	}
	if n < 2*quote {
		return "", s, false
	}
	return s[quote : n-quote], s[n:], true
}

// FunctionTools returns the names of the tools that function_tool_path registers; known is false where the file cannot be read here, or does not tell.
func (l *Launch) FunctionTools() (names []string, known bool) {
	text, here := l.Python(keyFunctions)
	tools, sure := functionTools(text)
	for _, t := range tools {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return slices.Compact(names), here && sure
}
