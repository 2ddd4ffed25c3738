package transform_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// TestArguments: a fault in the arguments is found when the verb is made, before any file is opened.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ verb, args, err string }{
		{"set", `{"path":"a"}`, `step set: argument value is missing`},
		{"set", `{"path":"a","value":"x","afer":"b"}`, `step set: no argument "afer" (arguments: path, value, after, if); did you mean "after"?`},
		{"set", `{"path":"a..b","value":"x"}`, `step set: argument path: path "a..b": empty name`},
		{"set", `{"path":3,"value":"x"}`, `step set: argument path is the number 3, expected a string`},
		{"set", `{"path":"a","value":null}`, `step set: argument value: null has no type: write null:string, or another type`},
		{"set", `{"path":"a","value":"x","if":"overwrite"}`, `step set: unknown value "overwrite" of argument if (refuse, same, replace, fill)`},
		{"drop", `{"path":["a",3]}`, `step drop: argument path holds the number 3, expected a path`},
		{"drop", `{}`, `step drop: argument path is missing`},
		{"index", `{"start":"3"}`, `step index: argument start: "3": expected an integer`},
		{"index", `{"start":1.5}`, `step index: argument start: 1.5: expected an integer`},
		{"prompt", `{}`, `step prompt: argument user, messages or from is missing`},
		{"prompt", `{"user":"a","suffix":"b"}`, `step prompt: argument suffix applies to existing messages: use it with from`},
		{"prompt", `{"user":"a","from":"messages"}`, `step prompt: from excludes user and messages`},
		{"prompt", `{"messages":"messages"}`, `step prompt: argument messages is a list of {role, template}; a column of messages is taken by 'from: messages'`},
		{"prompt", `{"from":"m","through":"me"}`, `step prompt: unknown value "me" of argument through (end, user)`},
		{"prompt", `{"from":"m","suffix":"{{a"}`, `step prompt: template "{{a": no }} after {{a`},
		{"prompt", `{"user":"a","messages":[]}`, `step prompt: messages and system or user exclude each other`},
		{"prompt", `{"messages":[]}`, `step prompt: argument messages is a list, expected a list of {role, template}`},
		{"prompt", `{"messages":[{"role":"user","content":"x"}]}`, `step prompt: argument messages: message 0: expected role and template, both text, perhaps loss_mask, and nothing else`},
		{"prompt", `{"user":"{{q"}`, `step prompt: template "{{q": no }} after {{q`},
		{"format", `{"path":"a","template":"{{}}"}`, `step format: template "{{}}": path "": empty name`},
		{"turn", `{"path":"p","role":"user","template":"x","at":"middle"}`, `step turn: unknown value "middle" of argument at (first, last)`},
		{"extract", `{"from":"a","to":"b","method":"after","marker":"x","which":"second"}`, `step extract: unknown value "second" of argument which (first, last)`},
		{"extract", `{"from":"a","to":"b","method":"magic"}`, `step extract: unknown method "magic" (gsm8k, regexp, after, before, between, boxed, unbox)`},
		{"extract", `{"from":"a","to":"b","method":"regexp"}`, `step extract: argument pattern is missing`},
		{"extract", `{"from":"a","to":"b","method":"regexp","pattern":"("}`, "step extract: argument pattern: error parsing regexp: missing closing ): `(`"},
		{"extract", `{"from":"a","to":"b","method":"regexp","pattern":"a","group":1}`, `step extract: argument group: 1, but the pattern has 0`},
		{"extract", `{"from":"a","to":"b","method":"gsm8k","pattern":"a"}`, `step extract: argument pattern is for method regexp, not for gsm8k`},
		{"extract", `{"from":"a","to":"b","method":"after"}`, `step extract: argument marker is missing`},
		{"extract", `{"from":"a","to":"b","method":"gsm8k","remove":"€"}`, `step extract: argument remove: '€' is not ASCII`},
	} {
		_, err := transform.Find(c.verb).New(args(t, c.args))
		if err == nil || err.Error() != c.err {
			t.Errorf("%s %s:\n got %v\nwant %s", c.verb, c.args, err, c.err)
		}
	}
}

// TestPlanErrors: what a schema cannot give is said before any row is read.
func TestPlanErrors(t *testing.T) {
	in := &schema.Schema{Fields: []schema.Field{
		schema.NewField("question", schema.StringType),
		schema.NewField("n", schema.Int64Type),
		schema.NewField("prompt", transform.MessagesType),
		schema.NewField("extra_info", schema.StructOf(schema.NewField("index", schema.Int64Type))),
	}}
	for _, c := range []struct {
		step transform.RowStep
		err  string
	}{
		{transform.Set{}, `no path to write`},
		{transform.Set{Path: "prompt[].role"}, `path "prompt[].role" lies inside a list: a step writes whole columns and fields of structs`},
		{transform.Set{Path: "question.a"}, `column "question" is string, expected struct: "question.a" cannot be written below it`},
		{transform.Copy{From: "questoin", To: "q"}, `no column "questoin" (columns: question, n, prompt, extra_info); did you mean "question"?`},
		{transform.Copy{From: "extra_info.indx", To: "q"}, `no column "extra_info.indx" (fields of extra_info: index); did you mean "extra_info.index"?`},
		{transform.Copy{From: "question.a", To: "q"}, `no column "question.a": question is string`},
		{transform.Copy{From: "prompt[].role", To: "q"}, `path "prompt[].role" lies inside a list: a step copies whole columns and fields of structs`},
		{transform.Copy{From: "extra_info", To: "extra_info.all"}, `column "extra_info" cannot be copied into itself ("extra_info.all")`},
		{transform.Drop{Paths: []schema.Path{"question", "n", "prompt", "extra_info"}}, `no column is left`},
		{transform.Drop{Paths: []schema.Path{"prompt[].role", "prompt[].content"}}, `nothing is left of "prompt[]": drop it as a whole`},
		{transform.Drop{Paths: []schema.Path{"prompt[]"}}, `path "prompt[]" is the elements of a list: drop the list`},
		{transform.Rename{From: "n", To: "n"}, `column "n" has this name already`},
		{transform.Rename{From: "extra_info.index", To: "index"}, `nothing is left of "extra_info": drop it as a whole`},
		{transform.Rename{From: "extra_info.index", To: "extra_info"}, `column "extra_info.index" cannot take the place of "extra_info", which it is a part of`},
		{transform.Index{Path: "n.index"}, `column "n" is int64, expected struct: "n.index" cannot be written below it`},
		{transform.Prompt{Path: "p"}, `no message to make the prompt of`},
		{transform.Extract{From: "n", To: "gt", Find: transform.GSM8K}, `column "n" is int64, expected string`},
		{transform.Extract{From: "prompt[].content", To: "gt", Find: transform.GSM8K}, `column "prompt[].content" is many values a row (string in a list), expected one string`},
	} {
		_, err := c.step.Plan(in)
		if err == nil || err.Error() != c.err {
			t.Errorf("%T:\n got %v\nwant %s", c.step, err, c.err)
		}
	}
}

// TestPlans: what needs no row asks for none.
func TestPlans(t *testing.T) {
	in := &schema.Schema{Fields: []schema.Field{
		schema.NewField("question", schema.StringType),
		schema.NewField("extra_info", schema.StructOf(schema.NewField("idx", schema.Int64Type))),
	}}
	hi := schema.TextValue("hi")
	for _, c := range []struct {
		step transform.RowStep
		want transform.Plan
	}{
		{transform.Rename{From: "extra_info.idx", To: "extra_info.index"}, transform.Plan{
			Puts:  []transform.Put{{Path: "extra_info.index", After: "extra_info.idx", Type: schema.Int64Type, Copy: "extra_info.idx"}},
			Drops: []schema.Path{"extra_info.idx"}}},
		{transform.Rename{From: "extra_info.idx", To: "extra_info.meta.index"}, transform.Plan{
			Puts:  []transform.Put{{Path: "extra_info.meta.index", Type: schema.Int64Type, Copy: "extra_info.idx"}},
			Drops: []schema.Path{"extra_info.idx"}}},
		{transform.Rename{From: "question", To: "problem"}, transform.Plan{
			Puts:  []transform.Put{{Path: "problem", After: "question", Type: schema.StringType, Copy: "question"}},
			Drops: []schema.Path{"question"}}},
		{transform.Index{Start: 5}, transform.Plan{
			Puts: []transform.Put{{Path: "extra_info.index", Type: schema.Int64Type, Seq: &transform.Seq{Start: 5}}}}},
		{transform.Format{Path: "x", Template: "hi"}, transform.Plan{
			Puts: []transform.Put{{Path: "x", Type: schema.StringType, Const: &hi}}}},
	} {
		got, err := c.step.Plan(in)
		if err != nil {
			t.Errorf("%T: %v", c.step, err)
			continue
		}
		for i := range min(len(got.Puts), len(c.want.Puts)) { // equal values may lie at different places
			if a, b := got.Puts[i].Const, c.want.Puts[i].Const; a != nil && b != nil && a.Equal(*b) {
				got.Puts[i].Const = b
			}
		}
		if got.Bind != nil || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%T:\n got %+v drops %v\nwant %+v drops %v", c.step, got.Puts, got.Drops, c.want.Puts, c.want.Drops)
		}
	}
	plan, err := transform.Prompt{Messages: []transform.Message{{Role: "user", Template: "hi"}}}.Plan(in)
	if err != nil || plan.Bind != nil || len(plan.Reads) > 0 || string(plan.Puts[0].Const.AppendJSON(nil)) != `[{"role":"user","content":"hi"}]` {
		t.Errorf("a prompt without columns is no constant: %+v, %v", plan, err)
	}
	plan, err = transform.Prompt{Messages: []transform.Message{{Role: "user", Template: "{{question}} {{question}}"}, {Role: "assistant", Template: "{{extra_info.idx}}{{question}}"}}}.Plan(in)
	if err != nil || len(plan.Reads) != 2 || strings.Join([]string{string(plan.Reads[0]), string(plan.Reads[1])}, " ") != "question extra_info.idx" {
		t.Errorf("reads %v, %v: each column is read once", plan.Reads, err)
	}
}
