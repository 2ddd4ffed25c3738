package verl

import "github.com/rlprep/rlprep/schema/rule"

// whenTraced returns the New of a rule over extra_info.index: where a launch configures no trace backend, nothing reads the index of the
// rows, and a fault in it is a warning.
func whenTraced(make func(*rule.Pass) rule.Checker) func(*rule.Pass) rule.Checker {
	return func(p *rule.Pass) rule.Checker {
		if l := launchOf(p); l != nil && l.Text(keyBackend) == "" && p.Level == rule.Error {
			p.Level = rule.Warning
		}
		return make(p)
	}
}

// traced are the holdings of a fault in extra_info.index: the V1 trainer never traces a rollout (agent_loop_tq.py,
// trace_this_sample = False), so only a tracing agent loop of one's own minds; the older trainer does.
func traced(consequence string) []rule.Severity {
	return []rule.Severity{
		{Trainer: trainerV1, Level: rule.Warning, Consequence: "with trainer.use_v1=False, " + consequence},
		{Level: rule.Error, Consequence: consequence},
	}
}
