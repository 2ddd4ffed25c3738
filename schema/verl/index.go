package verl

import "github.com/rlprep/rlprep/schema/rule"

// traced are the holdings of a fault in extra_info.index: the V1 trainer never traces a rollout (agent_loop_tq.py,
// trace_this_sample = False), so only a tracing agent loop of one's own minds; the older trainer does.
func traced(consequence string) []rule.Severity {
	return []rule.Severity{
		{Trainer: trainerV1, Level: rule.Warning, Consequence: "with trainer.use_v1=False, " + consequence},
		{Level: rule.Error, Consequence: consequence},
	}
}
