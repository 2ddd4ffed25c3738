package transform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "extract",
	Title: "take the ground truth out of a text",
	Doc: `
Finds the final answer in a text and writes it, as text. How it is found:

  gsm8k    as verl's gsm8k scripts do: the first match of '#### (\-?[0-9\.\,]+)', what follows '#### ', without commas
           (verl@b178a3cd5 gsm8k.py:28, re.search and split("#### ")[1]). "#### $5" does not match, "##### 5" does
  regexp   the first match of 'pattern' (Go's RE2 syntax): its group 'group', by default the first, or all where it has none
  after    what follows the last 'marker' (or the first: 'which'), to the end of the text
  before   the text before the first 'marker' (or the last)
  between  the text between the first 'marker' (or the last) and the next 'end'
  unbox    as verl's remove_boxed does, where the whole text is \boxed{…}, or \boxed and a blank in front of it; else the text itself
  boxed    as verl's math_dataset.py does: the content of the last \boxed{…}, or the text after \boxed and a blank up to a $ sign

Of what after, before and between find, the blanks at both ends are left out, unless 'blanks' is keep.

A row is rejected where nothing is found: no-answer-marker (gsm8k, after, before, between), no-end-marker (between), no-match,
no-boxed, unclosed-boxed; null-COLUMN where the text is null. verl's own scripts die there.

Of these, regexp alone allocates for each row.
`,
	Args: []Arg{
		{Name: "from", Type: "path", Doc: "the text: answer", Required: true},
		{Name: "to", Type: "path", Doc: "where to: reward_model.ground_truth", Required: true},
		{Name: "method", Type: "string", Values: []string{"gsm8k", "regexp", "after", "before", "between", "boxed", "unbox"}, Doc: "gsm8k, regexp, after, before, between, boxed or unbox", Required: true},
		{Name: "pattern", Type: "regexp", Doc: "of regexp"},
		{Name: "group", Type: "int", Doc: "of regexp: which group of the pattern"},
		{Name: "marker", Type: "string", Doc: "of after, before and between: 'Answer:'"},
		{Name: "end", Type: "string", Doc: "of between: '</answer>'"},
		{Name: "which", Type: "string", Values: []string{"first", "last"}, Doc: "of after, before and between: the first or the last marker"},
		{Name: "blanks", Type: "string", Values: []string{"trim", "keep"}, Doc: "of after, before and between: trim when not given"},
		{Name: "remove", Type: "string", Doc: "characters to remove from the match, such as ',' in 1,200"},
		afterArg, ifArg,
	},
	New: newExtract,
	Examples: []Example{
		{
			Title: "GSM8K",
			Args:  `{"from":"answer","to":"reward_model.ground_truth","method":"gsm8k"}`,
			In:    `{"answer":"He sells 3*400 = <<3*400=1200>>1,200 eggs.\n#### 1,200"}` + "\n" + `{"answer":"He is 5 short.\n#### -5"}`,
			Out:   `{"answer":"He sells 3*400 = <<3*400=1200>>1,200 eggs.\n#### 1,200","reward_model":{"ground_truth":"1200"}}` + "\n" + `{"answer":"He is 5 short.\n#### -5","reward_model":{"ground_truth":"-5"}}`,
		},
		{
			Title: "an answer without the marker",
			Args:  `{"from":"answer","to":"gt","method":"gsm8k"}`,
			In:    `{"answer":"The answer is 5."}`,
			Error: `no-answer-marker: answer has no "#### " with a number after it`,
		},
		{
			Title: "a null answer",
			Args:  `{"from":"answer","to":"gt","method":"gsm8k"}`,
			In:    `{"answer":"#### 2"}` + "\n" + `{"answer":null}`,
			Error: `null-answer: answer is null: gt cannot be made of it`,
		},
		{
			Title: "an expression of one's own",
			Args:  `{"from":"a","to":"gt","method":"regexp","pattern":"answer is \\$?([0-9,]+)","remove":","}`,
			In:    `{"a":"So the answer is $1,200."}`,
			Out:   `{"a":"So the answer is $1,200.","gt":"1200"}`,
		},
		{
			Title: "a marker",
			Args:  `{"from":"a","to":"gt","method":"after","marker":"Answer:"}`,
			In:    `{"a":"Answer: 3? No.\nAnswer: 4\n"}`,
			Out:   `{"a":"Answer: 3? No.\nAnswer: 4\n","gt":"4"}`,
		},
		{
			Title: "between two tags",
			Args:  `{"from":"a","to":"gt","method":"between","marker":"<answer>","end":"</answer>"}`,
			In:    `{"a":"<think>2+2</think><answer> 4 </answer>"}`,
			Out:   `{"a":"<think>2+2</think><answer> 4 </answer>","gt":"4"}`,
		},
		{
			Title: "a tag that is not closed",
			Args:  `{"from":"a","to":"gt","method":"between","marker":"<answer>","end":"</answer>"}`,
			In:    `{"a":"<answer>4"}`,
			Error: `no-end-marker: a has no "</answer>" after its "<answer>"`,
		},
		{
			Title: "the question of a conversation",
			Args:  `{"from":"chosen","to":"prompt","method":"before","marker":"\n\nAssistant:","which":"last","blanks":"keep"}`,
			In:    `{"chosen":"\n\nHuman: Why?\n\nAssistant: So."}`,
			Out:   `{"chosen":"\n\nHuman: Why?\n\nAssistant: So.","prompt":"\n\nHuman: Why?"}`,
		},
		{
			Title: "a box",
			Args:  `{"from":"a","to":"gt","method":"boxed"}`,
			In:    `{"a":"So $\\boxed{\\frac{1}{2}}$."}`,
			Out:   `{"a":"So $\\boxed{\\frac{1}{2}}$.","gt":"\\frac{1}{2}"}`,
		},
		{
			Title: "a solution that may be a box",
			Args:  `{"from":"a","to":"gt","method":"unbox"}`,
			In:    `{"a":"\\boxed{12}"}` + "\n" + `{"a":"12"}` + "\n" + `{"a":"So \\boxed{12}"}`,
			Out:   `{"a":"\\boxed{12}","gt":"12"}` + "\n" + `{"a":"12","gt":"12"}` + "\n" + `{"a":"So \\boxed{12}","gt":"So \\boxed{12}"}`,
		},
		{
			Title: "an answer that is a number already",
			Args:  `{"from":"answer","to":"gt","method":"gsm8k"}`,
			In:    `{"answer":5}`,
			Error: `column "answer" is int64, expected string`,
		},
	},
})

// Extract writes the final answer that it finds in a text.
type Extract struct {
	From, To schema.Path
	Find     Finder
	Remove   string // characters left out of what was found; ASCII
	After    schema.Path
	If       ConflictPolicy
}

// A Finder returns the answer in a text as a part of it, or "" and the reason of its absence with a message that goes on
// from the column's name. It is called from many goroutines.
type Finder func(text string) (answer, reason, message string)

// GSM8K finds what verl's gsm8k scripts find, commas still in it: re.search("#### (\-?[0-9\.\,]+)") and what follows "#### "
// (verl@b178a3cd5 examples/data_preprocess/gsm8k.py:28-33).
func GSM8K(text string) (answer, reason, message string) {
	const marker = "#### "
	for rest := text; ; {
		i := strings.Index(rest, marker)
		if i < 0 {
			return "", "no-answer-marker", `has no "#### " with a number after it`
		}
		rest = rest[i+len(marker):]
		start, end := 0, 0
		if strings.HasPrefix(rest, "-") {
			start, end = 1, 1
		}
		for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '.' || rest[end] == ',') {
			end++
		}
		if end > start {
			return rest[:end], "", ""
		}
	}
}

// FindRegexp finds group of the first match of re; it allocates.
func FindRegexp(re *regexp.Regexp, group int) Finder {
	return func(text string) (string, string, string) {
		m := re.FindStringSubmatchIndex(text)
		if m == nil || m[2*group] < 0 {
			return "", "no-match", fmt.Sprintf("does not match %s", re)
		}
		return text[m[2*group]:m[2*group+1]], "", ""
	}
}

// A Marker is a text that stands beside an answer.
type Marker struct {
	Text       string // not empty
	First      bool   // the first one in a text; else the last
	KeepBlanks bool   // at both ends of the answer
}

// around returns the text before and after the marker.
func (m Marker) around(text string) (before, after string, found bool) {
	i := strings.LastIndex(text, m.Text)
	if m.First {
		i = strings.Index(text, m.Text)
	}
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+len(m.Text):], true
}

func (m Marker) missing() (answer, reason, message string) {
	return "", "no-answer-marker", fmt.Sprintf("has no %q", m.Text)
}

func (m Marker) trim(answer string) string {
	if m.KeepBlanks {
		return answer
	}
	return strings.TrimSpace(answer)
}

// FindAfter finds what follows the marker.
func FindAfter(m Marker) Finder {
	return func(text string) (string, string, string) {
		_, after, found := m.around(text)
		if !found {
			return m.missing()
		}
		return m.trim(after), "", ""
	}
}

// FindBefore finds the text before the marker.
func FindBefore(m Marker) Finder {
	return func(text string) (string, string, string) {
		before, _, found := m.around(text)
		if !found {
			return m.missing()
		}
		return m.trim(before), "", ""
	}
}

// FindBetween finds the text between the marker and the next end.
func FindBetween(m Marker, end string) Finder {
	return func(text string) (string, string, string) {
		_, after, found := m.around(text)
		if !found {
			return m.missing()
		}
		answer, _, found := strings.Cut(after, end)
		if !found {
			return "", "no-end-marker", fmt.Sprintf("has no %q after its %q", end, m.Text)
		}
		return m.trim(answer), "", ""
	}
}

// Boxed finds what verl's math_dataset.py finds: last_boxed_only_string and remove_boxed of verl@b178a3cd5
// verl/utils/reward_score/math_reward.py. A "\boxed " anywhere wins over braces.
func Boxed(text string) (answer, reason, message string) {
	const box = `\boxed`
	if i := strings.LastIndex(text, box+" "); i >= 0 {
		answer, _, _ = strings.Cut(text[i+len(box)+1:], "$")
		return answer, "", ""
	}
	i := strings.LastIndex(text, box)
	if i < 0 {
		return "", "no-boxed", `has no \boxed{…}`
	}
	open := i + len(box)
	if !strings.HasPrefix(text[open:], "{") {
		return "", "no-boxed", `has a \boxed without braces`
	}
	depth := 0
	for j := open; j < len(text); j++ {
		switch text[j] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[open+1 : j], "", ""
			}
		}
	}
	return "", "unclosed-boxed", `has a \boxed{ that is not closed`
}

// Unbox takes a box off that is all of the text, as verl's scripts do that call remove_boxed and take the text itself where that fails
// (verl@b178a3cd5 verl/utils/reward_score/math_reward.py).
func Unbox(text string) (answer, reason, message string) {
	const blank, brace = `\boxed `, `\boxed{`
	switch {
	case strings.Contains(text, blank):
		return strings.TrimPrefix(text, blank), "", ""
	case strings.HasPrefix(text, brace) && strings.HasSuffix(text, "}"):
		return text[len(brace) : len(text)-1], "", ""
	}
	return text, "", ""
}

// Plan returns one computed Put of text. It fails where From is missing or no text.
func (e Extract) Plan(in *schema.Schema) (*Plan, error) {
	if err := textColumn(in, e.From); err != nil {
		return nil, err
	}
	if err := checkPut(in, e.To); err != nil {
		return nil, err
	}
	return &Plan{
		Reads: []schema.Path{e.From},
		Puts:  []Put{{Path: e.To, After: e.After, Type: schema.StringType, OnExisting: e.If}},
		Bind:  e.bind,
		Bulk:  func() Bulk { return e.bulk },
	}, nil
}

// bulk finds the answers of rows; where one has none they are taken one by one.
func (e Extract) bulk(reads []schema.Texts, rows int, out []*schema.TextColumn) bool {
	for row := range rows {
		answer, reason, _ := e.Find(reads[0].At(row))
		if reason != "" {
			return false
		}
		if e.Remove != "" && strings.ContainsAny(answer, e.Remove) {
			out[0].Bytes = appendWithout(out[0].Bytes, answer, e.Remove)
		} else {
			out[0].Bytes = append(out[0].Bytes, answer...)
		}
		out[0].End()
	}
	return true
}

func (e Extract) bind() Func {
	var buf []byte
	return func(in schema.Row, out *Emitter) error {
		v := in.At(0)
		if v.Kind() != schema.Text {
			return nullColumn(e.From, e.To)
		}
		answer, reason, message := e.Find(v.Text())
		if reason != "" {
			return Rejectf(reason, e.From, v, "%s %s", e.From, message)
		}
		if e.Remove != "" && strings.ContainsAny(answer, e.Remove) {
			buf = appendWithout(buf[:0], answer, e.Remove)
			answer = view(buf)
		}
		out.Set(0, schema.TextValue(answer))
		out.Emit()
		return nil
	}
}

// appendWithout appends s to b without the bytes of chars, which are ASCII.
func appendWithout(b []byte, s, chars string) []byte {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(chars, s[i]) < 0 {
			b = append(b, s[i])
		}
	}
	return b
}

func newExtract(args Args) (RowStep, error) {
	r := newArgs("extract", args)
	e := Extract{From: r.path("from", ""), To: r.path("to", ""), After: r.path("after", ""), If: r.present(Refuse), Remove: r.text("remove", "")}
	for _, c := range e.Remove {
		if c >= 0x80 {
			r.failAt("remove", "argument remove: %q is not ASCII", c)
		}
	}
	method := r.text("method", "")
	marked := []string{"after", "before", "between"}
	r.onlyFor(method, []string{"regexp"}, "pattern", "group")
	r.onlyFor(method, marked, "marker", "which", "blanks")
	r.onlyFor(method, []string{"between"}, "end")
	switch {
	case method == "gsm8k":
		e.Find = GSM8K
		e.Remove += ","
	case method == "boxed":
		e.Find = Boxed
	case method == "unbox":
		e.Find = Unbox
	case method == "regexp":
		e.Find = r.pattern()
	case slices.Contains(marked, method):
		e.Find = r.marker(method)
	default:
		r.failAt("method", "unknown method %q (gsm8k, regexp, after, before, between, boxed, unbox)", method)
	}
	return r.done(e)
}

// onlyFor fails where one of names is given and the method is none of those that take it.
func (r *argReader) onlyFor(method string, takes []string, names ...string) {
	for _, n := range names {
		if _, given := r.args[n]; given && !slices.Contains(takes, method) {
			r.fail("argument %s is for method %s, not for %s", n, strings.Join(takes, ", "), method)
		}
	}
}

// marker makes the finder of the methods after, before and between.
func (r *argReader) marker(method string) Finder {
	m := Marker{Text: r.text("marker", ""), First: method != "after"}
	if m.Text == "" {
		r.failAt("marker", "argument marker is missing")
	}
	if which := r.word("which", ""); which != "" {
		m.First = which == "first"
	}
	m.KeepBlanks = r.word("blanks", "trim") == "keep"
	end := r.text("end", "")
	switch {
	case method == "after":
		return FindAfter(m)
	case method == "before":
		return FindBefore(m)
	case end == "":
		r.failAt("end", "argument end is missing")
	}
	return FindBetween(m, end)
}

// pattern makes the finder of the arguments pattern and group.
func (r *argReader) pattern() Finder {
	re, err := regexp.Compile(r.text("pattern", ""))
	switch {
	case err != nil:
		r.failAt("pattern", "argument pattern: %w", err)
		return nil
	case re.String() == "":
		r.failAt("pattern", "argument pattern is missing")
		return nil
	}
	group := r.int("group", int64(min(1, re.NumSubexp())))
	if group < 0 || group > int64(re.NumSubexp()) {
		r.failAt("group", "argument group: %d, but the pattern has %d", group, re.NumSubexp())
		return nil
	}
	return FindRegexp(re, int(group))
}
