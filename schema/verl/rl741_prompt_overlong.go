package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL741", Name: "prompt-overlong", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 experimental/agent_loop/agent_loop.py:437-446", "verl@0.8.0 experimental/agent_loop/agent_loop.py:336-356", "verl@0.7.1 experimental/agent_loop/agent_loop.py:595-601", "verl@0.7.1 experimental/agent_loop/agent_loop.py:796", "verl@0.6.1 utils/dataset/rl_dataset.py:421-430"},
	Title: "a message has more words than data.max_prompt_length has tokens",
	Doc: `
The usual tokenizers make at least one token of each word between blanks, so such a prompt is too long. For prompts with fewer words the
rule cannot know, since only the tokenizer counts the tokens. With data.filter_overlong_prompts verl drops the row. Without it, the effect
depends on the version:

- 0.8 and later cut the prompt on its left, so the question may be lost, and only log it (0.8.0 experimental/agent_loop/agent_loop.py:336-356, 0.9.1 agent_loop.py:437-446; executed on 0.9.1);
- 0.7 cuts nothing: if another prompt of the batch is shorter, the step ends with RuntimeError "Sizes of tensors must match" (0.7.1 agent_loop.py:595-601 and 796; its padding and joining were executed alone);
- up to 0.6 data.truncation decides: with 'error' (the default) the dataset ends with RuntimeError "Prompt length … is longer than …", else it cuts the prompt (0.6.1 utils/dataset/rl_dataset.py:421-430, 0.5.0 rl_dataset.py:298-307; read).
`,
	Applies: []rule.Severity{
		{Versions: ">=0.8", Level: rule.Warning, Consequence: "verl drops the row (filter_overlong_prompts), or cuts the beginning of the prompt off"},
		{Versions: ">=0.7", Level: rule.Warning, Consequence: "verl drops the row (filter_overlong_prompts), or the step fails"},
		{Level: rule.Warning, Consequence: "verl drops the row (filter_overlong_prompts), or cuts the prompt, or fails (data.truncation)"},
	},
	Reads: func(p *rule.Pass) []schema.Path {
		if p.Env.Launch == nil {
			return nil
		}
		return []schema.Path{promptContent}
	},
	New: func(p *rule.Pass) rule.Checker {
		c := &overlong{Pass: p}
		if l := launchOf(p); l != nil && l.Program() == ppoProgram && !l.runtimeColumns() && l.Text("data.prompt_key") == string(prompt) {
			c.most = l.Int("data.max_prompt_length")
		}
		return c
	},
	Unfixed: "the data does not show which part of a prompt may be cut",
	Examples: []rule.Example{
		{Title: "seven words, six tokens", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12, in words?"}]}`}, Launch: "data.max_prompt_length=6", Want: []string{"0 0 prompt[].content"}},
		{Title: "as many words as tokens", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}, Launch: "data.max_prompt_length=5"},
		{Title: "verl's own length", Files: []string{`{"prompt":[{"role":"user","content":"What is 6 times 12?"}]}`}, Launch: "trainer.total_epochs=1"},
	},
})

type overlong struct {
	*rule.Pass
	most int64 // tokens of a prompt; 0: nothing is judged
}

// Prejudge implements rule.Checker.
func (c *overlong) Prejudge(k *rule.RowGroupFacts) bool { return c.most <= 0 || k.At(0).Missing }

// Scans implements rule.Scanner.
func (c *overlong) Scans(int) bool { return c.most > 0 }

// Scan implements rule.Scanner.
func (c *overlong) Scan(_ int, t schema.Texts, hits []int) []int {
	for i := range t.Len() {
		if words(t.At(i), c.most) > c.most {
			hits = append(hits, i)
		}
	}
	return hits
}

// words counts the words of s, as far as there are more than most. A text too short to have so many is not read.
func words(s string, most int64) (n int64) {
	if int64(len(s)) <= 2*most {
		return 0
	}
	in := false
	for i := range len(s) {
		blank := s[i] <= ' '
		if !blank && !in {
			if n++; n > most {
				return n
			}
		}
		in = !blank
	}
	return n
}

// Row implements rule.Checker.
func (c *overlong) Row(r schema.Row) {
	if c.most <= 0 {
		return
	}
	v := r.At(0)
	for i := range v.Len() {
		if e := v.Elem(i); e.Kind() == schema.Text && words(e.Text(), c.most) > c.most {
			c.Reportf(r.Pos().At(promptContent), schema.Value{}, "message %d has more than %s words, and max_prompt_length is %s tokens: %s", i, number(c.most), number(c.most), c.Consequence)
			return
		}
	}
}
