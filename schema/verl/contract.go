package verl

import (
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// The paths that verl reads (rl_dataset.py, agent_loop.py, naive.py).
const (
	prompt        schema.Path = "prompt"
	promptRole    schema.Path = "prompt[].role"
	promptContent schema.Path = "prompt[].content"
	promptCalls   schema.Path = "prompt[].tool_calls"
	dataSource    schema.Path = "data_source"
	rewardModel   schema.Path = "reward_model"
	groundTruth   schema.Path = "reward_model.ground_truth"
	agentName     schema.Path = "agent_name"
	extraInfo     schema.Path = "extra_info"
	extraIndex    schema.Path = "extra_info.index"
	extraAnswer   schema.Path = "extra_info.answer"
	needTools     schema.Path = "extra_info.need_tools_kwargs"
	toolsKwargs   schema.Path = "extra_info.tools_kwargs"
	interaction   schema.Path = "extra_info.interaction_kwargs"
	messages      schema.Path = "messages"
)

// agents are the agent loops that verl registers itself (agent_loop.py, @register).
var agents = []string{"single_turn_agent", "tool_agent"}

// roles are those that chat templates know.
var roles = []string{"system", "user", "assistant", "tool"}

// always are the holdings of a rule that is an error in every version, with the same consequence.
func always(consequence string) []rule.Severity {
	return []rule.Severity{{Level: rule.Error, Consequence: consequence}}
}

// byTrainer are the holdings of a fault that the V1 trainer logs and trains on without the row, and that kills the step of
// the older trainer.
func byTrainer(exception string) []rule.Severity {
	return []rule.Severity{
		{Trainer: trainerV1, Level: rule.Error, Consequence: "verl fails with " + exception + ", and the sample silently drops out of its batch"},
		{Level: rule.Error, Consequence: "verl fails with " + exception + ", and the step dies"},
	}
}

// since returns the holdings for these versions only.
func since(versions string, holdings []rule.Severity) []rule.Severity {
	for i := range holdings {
		holdings[i].Versions = versions
	}
	return holdings
}

// columns checks the footers of all files.
type columns struct {
	*rule.Pass
	check func(p *rule.Pass, f *rule.File)
}

// Files implements rule.Checker.
func (c *columns) Files(files []*rule.File) {
	for _, f := range files {
		if f.Schema != nil {
			c.check(c.Pass, f)
		}
	}
}

// eachFile returns a Checker that calls check for each file.
func eachFile(check func(p *rule.Pass, f *rule.File)) func(*rule.Pass) rule.Checker {
	return func(p *rule.Pass) rule.Checker { return &columns{Pass: p, check: check} }
}

// missingColumn returns a Checker that reports files without the column; the message is what happens.
func missingColumn(name schema.Path) func(*rule.Pass) rule.Checker {
	return eachFile(func(p *rule.Pass, f *rule.File) {
		if _, ok := f.Schema.Lookup(name); !ok {
			p.Reportf(schema.FilePos(f.Name).At(name), schema.Value{}, "no such column: %s", p.Consequence)
		}
	})
}

// reads returns a Reads that is the same for every file.
func reads(paths ...schema.Path) func(*rule.Pass) []schema.Path {
	return func(*rule.Pass) []schema.Path { return paths }
}

// has reports whether the file whose rows are judged has path.
func has(p *rule.Pass, path schema.Path) bool {
	if p.Schema == nil {
		return false
	}
	_, ok := p.Schema.Lookup(path)
	return ok
}

// kindOf returns the kind of the field at path, Missing where there is none.
func kindOf(s *schema.Schema, path schema.Path) schema.Kind {
	if s == nil {
		return schema.Missing
	}
	f, ok := s.Lookup(path)
	if !ok {
		return schema.Missing
	}
	return f.Type.Kind
}

// firstLeaf returns a leaf at or below path that is cheap to read, "" where there is none: whether a struct or a list is null
// shows in each of its leaves. Bytes come last, roles and styles, which have few values, first.
func firstLeaf(s *schema.Schema, path schema.Path) schema.Path {
	if s == nil {
		return ""
	}
	var best schema.Path
	cost := 4
	for _, l := range s.Leaves() {
		if !l.Path.Under(path) {
			continue
		}
		c := 1
		switch base := l.Path.Base(); {
		case base == "role" || base == "style":
			c = 0
		case base == "content":
			c = 2
		case l.Type.Kind == schema.Binary:
			c = 3
		}
		if c < cost {
			best, cost = l.Path, c
		}
	}
	return best
}

// depth returns how many steps p has.
func depth(p schema.Path) int { return len(p.Steps()) }

// allIn reports whether every value of dict is a text of list or extra.
func allIn(dict []schema.Value, list, extra []string) bool {
	return !slices.ContainsFunc(dict, func(v schema.Value) bool {
		return v.Kind() != schema.Text || !rule.Known(v.Text(), list, extra)
	})
}
