package verl

import (
	"maps"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = rule.Add(rule.Rule{
	ID: "RL724", Name: "key-unknown", Facts: []string{"C030", "C031"}, Rows: rule.RL,
	Title: "Hydra refuses a key that this version of verl has not",
	Doc: `
Hydra composes verl's configuration in struct mode: key=value for a key that is not there ends the launch at once ("Could not override"), and so does +key=value for one that is ("Could not append to config"). With '+' a key that nobody reads is taken without a word. Known here are the keys that were removed between 0.5 and 0.9 (reward_model.use_reward_loop, data.sampler, data.datagen and others;
composed from the releases with hydra 1.3.8) and those that rules read.
`,
	Holds: []rule.Holding{{Level: rule.Error, Consequence: "Hydra ends the launch"}},
	New: onLaunch(func(c *launchCheck) {
		for _, key := range slices.Sorted(maps.Keys(goneKeys)) {
			op, _ := c.Lookup("+" + key)
			if c.Target.Minor >= goneKeys[key] && op.Text() == "=" {
				c.at(key, "verl %s has no such key: %s with \"Could not override\"", c.version(), c.Consequence)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(defaultKeys)) {
			op, _ := c.Lookup("+" + key)
			_, have := c.defaults[key]
			switch {
			case key == keyInteract || key == rollout+"name" || strings.HasPrefix(key, "reward.custom"):
			case op.Text() == "=" && !have && goneKeys[key] == 0 && c.Target.Minor < 9:
				c.at(key, "verl %s has no such key: %s with \"Could not override\"; '+' in front adds it", c.version(), c.Consequence)
			case op.Text() == "+" && have:
				c.at(key, "verl %s has this key: %s with \"Could not append to config\"; leave out the '+'", c.version(), c.Consequence)
			}
		}
	}),
	Examples: []rule.Example{
		{Title: "removed in 0.7.1", Launch: "reward_model.use_reward_loop=false\n+reward_model.use_reward_loop==", Want: []string{"launch 1 reward_model.use_reward_loop"}},
		{Title: "added in 0.9", Launch: "data.gen_batch_size=8\n+data.gen_batch_size=+", Want: []string{"launch 1 data.gen_batch_size"}},
		{Title: "not there before", Launch: "data.gen_batch_size=8\n+data.gen_batch_size==", Target: "verl@0.7", Want: []string{"launch 1 data.gen_batch_size"}},
		{Title: "with '++' either is taken", Launch: "data.gen_batch_size=8\n+data.gen_batch_size=++"},
		{Title: "0.6 with '+'", Launch: "data.gen_batch_size=8\n+data.gen_batch_size=+", Target: "verl@0.6"},
	},
})

// goneKeys are keys that a release no longer has, by the minor version that removed them: what hydra 1.3.8 composes of
// ppo_trainer.yaml in 0.5.0, 0.6.1, 0.7.0, 0.7.1, 0.8.0 and 0.9.1.
var goneKeys = map[string]int{
	"actor_rollout_ref.rollout.multi_turn.completion_callback":  6,
	"reward_model.use_reward_loop":                              7,
	"reward_model.launch_reward_fn_async":                       7,
	"reward_model.strategy":                                     7,
	"reward_model.max_length":                                   7,
	"reward_model.micro_batch_size":                             7,
	"reward_model.micro_batch_size_per_gpu":                     7,
	"reward_model.use_dynamic_bsz":                              7,
	"reward_model.forward_max_token_len_per_gpu":                7,
	"reward_model.ulysses_sequence_parallel_size":               7,
	"reward_model.sandbox_fusion.url":                           7,
	"reward_model.sandbox_fusion.max_concurrent":                7,
	"reward_model.sandbox_fusion.memory_limit_mb":               7,
	"reward_model.model.use_remove_padding":                     7,
	"reward_model.model.use_fused_kernels":                      7,
	"reward_model.model.use_shm":                                7,
	"reward_model.model.fsdp_config.param_offload":              7,
	"reward_model.model.fsdp_config.fsdp_size":                  7,
	"actor_rollout_ref.rollout.update_weights_bucket_megabytes": 7,
	"actor_rollout_ref.rollout.skip_rollout":                    8,
	"actor_rollout_ref.rollout.skip_dump_dir":                   8,
	"data.datagen.path":                                         8,
	"data.datagen.name":                                         8,
	"data.sampler.class_path":                                   8,
	"data.sampler.class_name":                                   8,
	"trainer.use_legacy_worker_impl":                            8,
}
