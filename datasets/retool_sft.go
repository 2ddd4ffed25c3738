package datasets

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

var _ = Add(Recipe{
	Name:  "retool_sft",
	Title: "ReTool-SFT as conversations with tool calls to imitate",
	Doc: `
The rows of verl's recipe/retool/retool_sft_preprocess.py (verl-recipe, January 2026), value for value: the text of one answer, with <code>,
<interpreter> and <answer> in it, becomes messages with calls of the tool code_interpreter and its results, and each row gets the tool's schema in tools.
Reads JoeYing/ReTool-SFT (messages: the question, and the answer).

What the script cuts stays cut: the text between </code> and <interpreter>, and of several fences in one <code> all but the first. A row
whose text is not of that form is rejected, where the script dies: no "*user question:*" (no-question), text that is neither code nor answer
(no-code-or-answer), also a newline after the answer, code without a result (no-interpreter), and a mark that is not closed, or closed before it opens
(unclosed-mark). The types are declared, so it does not matter how late the first tool call comes; the script dies where it is not among the first 1,000 rows.

Mind: the script's messages have tool_calls of null where there are none, and the arguments of calls as a mapping.
`,
	Script: "recipe/retool/retool_sft_preprocess.py", Rows: rule.SFT, Index: NoIndex, Splits: []string{"train"},
	Sources: []Source{{Hub: "hf://datasets/JoeYing/ReTool-SFT", Splits: []string{"train"}, Inputs: func(string) []Input {
		message := schema.StructOf(texts("content", "role")...)
		return Inputs([]schema.Field{schema.NewField("messages", schema.ListOf(message))}, "data/train-*.parquet", "train-*.parquet", "train.parquet", "train.jsonl", "train.jsonl.gz")
	}}},
	NoUse: map[string]string{"data-source": "SFT rows are not scored", "index-start": "SFT rows are not traced", "index-scope": "SFT rows are not traced",
		"instruction": "the question comes from the source, without one", "system": "the script writes none", "fixed": "its rows have no known fault"},
	Steps: func(o Options) []Step {
		steps := []Step{step("map", "schema", transform.Object{{Name: "messages", Value: retoolMessages}, {Name: "tools", Value: retoolTools}}, "code", retoolCode)}
		if o.Agent != "" {
			steps = append(steps, set("agent_name", o.Agent))
		}
		return steps
	},
	Examples: []Example{{Split: "train",
		In: `{"messages":[{"content":"You may write code. *user question:* <answer>Compute 6*7.</answer>","role":"user"},{"content":"Let me see. <code>print(6*7)</code> <interpreter>42</interpreter> So: <answer>42</answer>","role":"assistant"}]}`,
		Out: `{"messages":[{"role":"user","content":"Compute 6*7.","tool_calls":null},{"role":"assistant","content":"Let me see.","tool_calls":[{"type":"function","function":{"name":"code_interpreter","arguments":{"code":"print(6*7)"}}}]},{"role":"tool","content":"42","tool_calls":null},{"role":"assistant","content":"So: 42","tool_calls":null}],` +
			`"tools":[{"type":"function","function":{"name":"code_interpreter","description":"A tool for executing code.","parameters":{"type":"object","properties":{"code":{"type":"string","description":"The code to execute."}},"required":["code"]}}}]}`,
	}},
	Sample: raw("retool_sft"),
})

const (
	retoolCall     = "struct<type: string, function: struct<name: string, arguments: struct<code: string>>>"
	retoolMessages = "list<element: struct<role: string, content: string, tool_calls: list<element: " + retoolCall + ">>>"
	retoolTools    = "list<element: struct<type: string, function: struct<name: string, description: string, parameters: struct<type: string, " +
		"properties: struct<code: struct<type: string, description: string>>, required: list<element: string>>>>>"
)

// retoolCode is the script's process: a loop over the marks of a text, which no verb is.
const retoolCode = `TOOLS = [{
    "type": "function",
    "function": {
        "name": "code_interpreter",
        "description": "A tool for executing code.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The code to execute."}},
            "required": ["code"],
        },
    },
}]

def cut(content, name):
    # the text before a mark, in it and after it; None where there is no such mark
    start, stop = "<" + name + ">", "</" + name + ">"
    i = content.find(start)
    if i == -1:
        return None
    j = content.find(stop)
    if j <= i:
        fail("unclosed-mark")
    return content[:i], content[i + len(start):j], content[j + len(stop):]

def call(before, code):
    i = code.find("` + "```python" + `")
    j = code.find("` + "```" + `", i + 9) if i != -1 else -1
    if j != -1:
        code = code[i + 9:j].strip()
    function = {"name": "code_interpreter", "arguments": {"code": code}}
    return {"role": "assistant", "content": before.strip(), "tool_calls": [{"type": "function", "function": function}]}

def process_fn(example):
    messages = example["messages"]
    if messages == None or len(messages) < 2 or messages[0] == None or messages[1] == None or messages[0]["content"] == None or messages[1]["content"] == None:
        fail("no-messages")
    content = messages[0]["content"]
    i = content.find("*user question:*")
    if i == -1:
        fail("no-question")
    question = content[i + len("*user question:*"):].replace("<answer>", "").replace("</answer>", "").strip()
    out = [{"role": "user", "content": question, "tool_calls": None}]
    content = messages[1]["content"]
    called = False
    for _ in range(len(content)):
        if len(content) == 0:
            break
        if called:
            part = cut(content, "interpreter")
            if part == None:
                fail("no-interpreter")
            out.append({"role": "tool", "content": part[1].strip(), "tool_calls": None})
            called = False
        else:
            part = cut(content, "code")
            called = part != None
            if called:
                out.append(call(part[0], part[1]))
            else:
                part = cut(content, "answer")
                if part == None:
                    fail("no-code-or-answer")
                out.append({"role": "assistant", "content": (part[0] + part[1]).strip(), "tool_calls": None})
        content = part[2]
    return {"messages": out, "tools": TOOLS}
`
