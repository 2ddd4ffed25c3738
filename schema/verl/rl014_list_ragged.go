package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL014", Name: "list-ragged", Cites: []string{"verl@b178a3cd5 agent_loop.py:719"}, Rows: rule.RL,
	Title: "a column holds lists of lists of different lengths",
	Doc: `
For the reward every top-level value is put into np.array([v]) (agent_loop.py, _compute_score): lists of lists of different lengths
fail there with ValueError 'setting an array element with a sequence'. Such a row gets no reward: V1 trains without the sample, and
the step of the older trainer fails (executed on verl 0.9.1). Lists in a struct are safe.

Move the column into extra_info, or write it as JSON.
`,
	Applies: since(">=0.6", byTrainer("ValueError: setting an array element with a sequence")),
	Reads:   raggedPaths,
	New:     func(p *rule.Pass) rule.Checker { return &ragged{Pass: p, paths: raggedPaths(p)} },
	Unfixed: "the data does not show whether to drop the column or to move it",
	Examples: []rule.Example{
		{Title: "tokens of each step", Files: []string{`{"steps":[["a"],["b"]]}
{"steps":[["a"],["b","c"]]}`}, Want: []string{"0 1 steps"}},
		{Title: "numbers", Files: []string{`{"spans":[[0,1,2],[3]]}`}, Want: []string{"0 0 spans"}},
		{Title: "a list beside an empty one", Files: []string{`{"steps":[["a"],[]]}`}, Want: []string{"0 0 steps"}},
		{Title: "of one length", Files: []string{`{"spans":[[0,1],[2,3]]}`}},
		{Title: "a plain list", Files: []string{`{"tags":["a","b"]}
{"tags":["c"]}`}},
		{Title: "in a struct", Files: []string{`{"extra_info":{"steps":[["a"],["b","c"]]}}`}},
	},
})

// raggedPaths are the top-level columns that are lists of lists, but for the media, which never reach the reward.
func raggedPaths(p *rule.Pass) []schema.Path {
	if p.Schema == nil {
		return nil
	}
	var out []schema.Path
	for _, c := range p.Schema.Fields {
		switch c.Name {
		case "images", "videos", "audios":
			continue
		}
		if c.Type.Kind == schema.List && c.Type.Fields[0].Type.Kind == schema.List {
			out = append(out, schema.Path("").Field(c.Name))
		}
	}
	return out
}

type ragged struct {
	*rule.Pass
	paths []schema.Path
}

// Prejudge implements rule.Checker.
func (c *ragged) Prejudge(*rule.RowGroupFacts) bool { return len(c.paths) == 0 }

// Row implements rule.Checker.
func (c *ragged) Row(r schema.Row) {
	for i, path := range c.paths {
		if v := r.At(i); !regular(v) {
			c.Reportf(r.Pos().At(path), v, "lists of different lengths in a list: %s", c.Consequence)
		}
	}
}

// regular reports whether np.array takes v: lists on one level are of one length and hold lists or values, not both.
func regular(v schema.Value) bool {
	if v.Kind() != schema.List {
		return true
	}
	for i := range v.Len() {
		e, first := v.Elem(i), v.Elem(0)
		if (e.Kind() == schema.List) != (first.Kind() == schema.List) || e.Kind() == schema.List && !sameShape(e, first) {
			return false
		}
	}
	return true
}

func sameShape(a, b schema.Value) bool {
	if a.Kind() != schema.List || b.Kind() != schema.List {
		return a.Kind() != schema.List && b.Kind() != schema.List
	}
	if a.Len() != b.Len() || !regular(a) || !regular(b) {
		return false
	}
	return a.Len() == 0 || sameShape(a.Elem(0), b.Elem(0))
}
