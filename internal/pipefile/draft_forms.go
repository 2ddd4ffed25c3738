package pipefile

import (
	"fmt"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// The steps of forms that many datasets for SFT and preferences have.
const (
	shareGPTSteps = `steps:
  # ShareGPT: conversations of {from, value} become messages of {role, content}
  - map:
      code: |
        ROLES = {"human": "user", "gpt": "assistant", "system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}

        def process_fn(example):
            turns = example.pop("conversations")
            if not turns:
                fail("empty conversation")
            for turn in turns:
                if turn["from"] not in ROLES:
                    fail("unknown role")
            return {"messages": [{"role": ROLES[turn["from"]], "content": turn["value"]} for turn in turns]}
  - select: [messages]
`
	alpacaSteps = `steps:
  # Alpaca: instruction, input and output become a question and an answer
  - map:
      code: |
        def process_fn(example):
            question = example["instruction"]
            if %s:
                question += "\n\n" + example["input"]
            return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": example["output"]}]}
  - select: [messages]
`
)

// knownForm returns the steps, the contract and the output of a pipeline for rows of SFT or of preferences, in a form that is known by its columns;
// "" where they are none.
func knownForm(s *schema.Schema, row schema.Value) string {
	is := func(name string, kind schema.Kind) bool {
		f, i := s.Column(name)
		return i >= 0 && f.Type.Kind == kind
	}
	has := func(name string) bool { _, i := s.Column(name); return i >= 0 }
	if has("data_source") || has("reward_model") {
		return "" // rows of RL, whatever else they have
	}
	switch {
	case has("chosen") && has("rejected"):
		columns := "chosen, rejected"
		if has("prompt") {
			columns = "prompt, " + columns
		}
		return fmt.Sprintf("steps:\n  # pairs of answers, of which one is preferred\n  - select: [%s]\n", columns) + ending(rule.Preference)
	case turns(s, "conversations", "from", "value"):
		return shareGPTSteps + ending(rule.SFT)
	case is("instruction", schema.Text) && is("output", schema.Text):
		input := "False"
		if is("input", schema.Text) {
			input = `example["input"]`
		}
		return fmt.Sprintf(alpacaSteps, input) + ending(rule.SFT)
	case turns(s, "messages", "role", "content") && answered(row.Field("messages")) && !has("answer") && !has("solution"):
		columns := "messages"
		if has("tools") {
			columns += ", tools"
		}
		return fmt.Sprintf("steps:\n  # messages that end with an answer: rows for SFT\n  - select: [%s]\n", columns) + ending(rule.SFT)
	}
	return ""
}

func ending(kind rule.Kind) string {
	return fmt.Sprintf("contract:\n  rows: %s\n  target: %s\noutput:\n  shards: 1\n  compression: zstd\n", kind, rule.DefaultTarget())
}

// turns reports whether a column is a list of structs with these two fields.
func turns(s *schema.Schema, name, who, what string) bool {
	f, i := s.Column(name)
	if i < 0 || f.Type.Kind != schema.List || f.Type.Fields[0].Type.Kind != schema.Struct {
		return false
	}
	_, a := f.Type.Fields[0].Type.Field(who)
	_, b := f.Type.Fields[0].Type.Field(what)
	return a >= 0 && b >= 0
}

// answered reports whether the last of messages is an answer.
func answered(messages schema.Value) bool {
	return messages.Kind() == schema.List && messages.Len() > 0 && messages.Elem(messages.Len()-1).Field("role").Text() == "assistant"
}
