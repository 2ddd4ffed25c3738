// Package verl holds what verl minds in its data: one file is one rule. Beside them are its versions, the kinds of its rows, how its
// launches are read (verl.go) and the scorers' side of a ground truth. Cites are of verl 0.9.1 where no version is named.
package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// The trainers of verl. A version that has both lists its default first.
const (
	trainerV0 = "v0"
	trainerV1 = "v1"
)

var framework = rule.Register(rule.Framework{
	Name: "verl", Python: "verl", Default: true,
	Versions: []rule.Version{
		{Name: "0.5", Trainers: []string{trainerV0}},
		{Name: "0.6", Trainers: []string{trainerV0}},
		{Name: "0.7", Trainers: []string{trainerV0}},
		{Name: "0.8", Trainers: []string{trainerV0}},
		{Name: "0.9", Trainers: []string{trainerV1, trainerV0}}, // trainer.use_v1 chooses (bc6fb966c, 2026-06-24)
	},
	Kinds: []rule.Rows{
		{Kind: rule.RL}, // RLHFDataset: prompt, data_source, reward_model …
		{Kind: rule.SFT, Is: isSFT},
		{Kind: rule.Preference, Is: isPreference},
	},
	Unread: func(t rule.Target, path schema.Path) bool { return path == "reward_model.style" && t.Within(">=0.8") },
	Launch: &rule.Profile{
		Command:    []string{"python3", "-m", "verl.trainer.main_ppo"},
		Modules:    []string{"verl.trainer."},
		Keys:       []string{"data.", "actor_rollout_ref.", "trainer.", "algorithm."},
		Configs:    Configs,
		Target:     chosenTrainer,
		TrainFiles: "data.train_files",
		ValFiles:   "data.val_files",
		Kind: func(t rule.Target, l rule.Launch) rule.Kind {
			switch NewLaunch(t, l).Program() {
			case ppoProgram:
				return rule.RL
			case sftProgram:
				return rule.SFT
			}
			return rule.Any // a recipe's, or one that trains nothing: the columns show it
		},
		Facts: func(t rule.Target, l rule.Launch, train []*rule.File) []rule.Fact {
			return NewLaunch(t, l).Facts(train)
		},
	},
})

// What holds for some versions of verl only, each with the versions for which it holds. Rules and launches ask Target.Within, so what
// a new version changes is written here; lists that grow or shrink from version to version are below.
const (
	hasV1            = ">=0.9" // the V1 trainer, and trainer.use_v1 that chooses it (bc6fb966c, 2026-06-24)
	hasFunctionTools = ">=0.8" // multi_turn.function_tool_path (0.8.0 tools/function_tool.py)
	hasInteractions  = "<0.8"  // extra_info.interaction_kwargs and multi_turn.interaction_config_path (63dc08501, 2026-04-20)
	hasRewardLoop    = ">=0.7" // reward.*, and data_source whatever data.reward_fn_key says (67dc84b96)
	hasTraceCap      = ">=0.7" // trace.max_samples_per_step_per_worker (53d975379)
	hasSyncRollout   = "<0.7"  // rollout.mode=sync, which runs no agent loop
	tracesAllText    = ">=0.8" // token2text adds text to the trace of every agent loop, not of tool_agent alone
	cutsLeft         = ">=0.8" // long prompts are cut on the left, so truncation=left has its effect
	readsJSONLines   = ">=0.7" // RLHFDataset reads by the end of the name (0.7.1); before, everything is Parquet
	readsMediaPaths  = ">=0.9" // an image or a video may be a path in a text
	hasPartialLoops  = "<0.9"  // the agent loops of fully_async
)

// A dated list is part of a list for some versions only.
type dated[T any] struct {
	versions string
	items    []T
}

// itemsFor joins what a list has for the target.
func itemsFor[T any](t rule.Target, list []dated[T]) (out []T) {
	for _, d := range list {
		if t.Within(d.versions) {
			out = append(out, d.items...)
		}
	}
	return out
}

var (
	// traceBackends are those that rollout_trace.py knows; trackio since 5b2b55d48, 2026-05-24. Names are compared as they are.
	traceBackends = []dated[string]{{"", []string{"mlflow", "weave"}}, {">=0.8", []string{"trackio"}}}
	// rewardManagers are those that reward_model.reward_manager or reward.reward_manager.name may name.
	rewardManagers = []dated[string]{
		{"<0.7", []string{"batch", "dapo", "naive", "prime"}},
		{hasRewardLoop, []string{"dapo", "gdpo", "naive", "rate_limited", "remote"}},
	}
	// loopArguments are the names that verl itself passes to an agent loop.
	loopArguments = []dated[string]{
		{"", []string{"self", "sampling_params", "trajectory"}},
		{">=0.7", []string{"trace", "output"}},
		{">=0.8", []string{"validate"}},
	}
	// toolParsers are the formats of multi_turn.format.
	toolParsers = []dated[string]{
		{"", []string{"hermes"}}, {">=0.6", []string{"gpt-oss"}}, {">=0.7", []string{"qwen3_coder"}}, {">=0.8", []string{"gemma4"}},
		{">=0.9", []string{"glm", "seed", "minimax", "kimi", "deepseek_v4"}},
	}
	// partialLoops are the agent loops of fully_async.
	partialLoops = []dated[string]{{hasPartialLoops, []string{"partial_single_turn_agent", "async_partial_tool_agent", "partial_tool_agent"}}}
)

// isSFT takes rows of text with a prompt and a response for those of SFTDataset (fsdp_sft_trainer up to 0.7).
func isSFT(s *schema.Schema) bool {
	if prompt, i := s.Column("prompt"); i >= 0 {
		return prompt.Type.Kind == schema.Text && column(s, "response") && !column(s, "data_source") && !column(s, "reward_model")
	}
	return column(s, "messages") && !isPreference(s)
}

// isPreference takes rows with a data_source or a reward_model for RL rows, whatever else they keep.
func isPreference(s *schema.Schema) bool {
	return column(s, "chosen") && column(s, "rejected") && !column(s, "data_source") && !column(s, "reward_model")
}

func column(s *schema.Schema, name string) bool {
	_, i := s.Column(name)
	return i >= 0
}

// chosenTrainer returns the target with the trainer that trainer.use_v1 chooses.
func chosenTrainer(t rule.Target, l rule.Launch) rule.Target {
	v, _ := l.Value(keyV1)
	if !t.Within(hasV1) || v.IsMissing() && l.Operator(keyV1) != "~" {
		return t
	}
	t.Trainer = trainerV0
	if v.Bool() {
		t.Trainer = trainerV1
	}
	return t
}
