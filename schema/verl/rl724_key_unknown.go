package verl

import (
	"maps"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL724", Name: "key-unknown", Rows: rule.RL,
	Title: "Hydra refuses a key that this version of verl has not",
	Doc: `
Hydra composes verl's configuration in struct mode: key=value for a key that is not there ends the launch at once ("Could not override"), and so does +key=value for one that is ("Could not append to config"). With '+' a key that nobody reads is taken without a word. Known here are the keys that were removed between 0.5 and 0.9 (reward_model.use_reward_loop, data.sampler, actor.megatron.grad_offload and others;
composed from the releases with hydra 1.3.8) and those that rules read.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "Hydra ends the launch"}},
	New: onLaunch(func(c *launchCheck) {
		if module, _ := c.Module(); module != "" && module != "verl.trainer.main_ppo" {
			return // a configuration of its own
		}
		for _, key := range slices.Sorted(maps.Keys(goneKeys)) {
			if c.Target.Within(">="+goneKeys[key]) && c.Operator(key) == "=" {
				c.at(key, "verl %s has no such key: %s with \"Could not override\"", c.version(), c.Consequence)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(defaultKeys)) {
			op := c.Operator(key)
			_, have := c.defaults[key]
			switch {
			case key == keyInteract || key == rollout+"name" || strings.HasPrefix(key, "reward.custom"):
			case op == "=" && !have && goneKeys[key] == "" && c.Target.Within(lacksNewestKeys):
				c.at(key, "verl %s has no such key: %s with \"Could not override\"; '+' in front adds it", c.version(), c.Consequence)
			case op == "+" && have:
				c.at(key, "verl %s has this key: %s with \"Could not append to config\"; leave out the '+'", c.version(), c.Consequence)
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "removed in 0.7.1", Launch: "reward_model.use_reward_loop=false\n+reward_model.use_reward_loop==", Want: []string{"launch 1 reward_model.use_reward_loop"}},
		{Title: "added in 0.9", Launch: "data.gen_batch_size=8\n+data.gen_batch_size=+", Want: []string{"launch 1 data.gen_batch_size"}},
		{Title: "not there before", Launch: "data.gen_batch_size=8\n+data.gen_batch_size==", Target: "verl@0.7", Want: []string{"launch 1 data.gen_batch_size"}},
		{Title: "with '++' either is taken", Launch: "data.gen_batch_size=8\n+data.gen_batch_size=++"},
		{Title: "a program with a configuration of its own", Launch: "%module=recipe.dapo.main_dapo\ndata.gen_batch_size=8\n+data.gen_batch_size==", Target: "verl@0.7"},
		{Title: "0.6 with '+'", Launch: "data.gen_batch_size=8\n+data.gen_batch_size=+", Target: "verl@0.6"},
	},
})

// goneKeys are keys that a release no longer has, by the version that removed them: the differences of what hydra 1.3.8
// composes of ppo_trainer.yaml and ppo_megatron_trainer.yaml in 0.5.0, 0.6.1, 0.7.1, 0.8.0 and 0.9.1, profilers left out.
var goneKeys = map[string]string{
	"actor_rollout_ref.rollout.engine_kwargs.sglang.attention_backend":           "0.6",
	"actor_rollout_ref.rollout.engine_kwargs.vllm.disable_mm_preprocessor_cache": "0.6",
	"actor_rollout_ref.rollout.engine_kwargs.vllm.swap_space":                    "0.6",
	"actor_rollout_ref.rollout.multi_turn.completion_callback":                   "0.6",
	"ray_init.num_cpus":                                                    "0.6",
	"ray_init.timeline_json_file":                                          "0.6",
	"actor_rollout_ref.ref.model":                                          "0.7",
	"actor_rollout_ref.rollout.update_weights_bucket_megabytes":            "0.7",
	"algorithm.rollout_correction.rollout_rs_threshold_lower":              "0.7",
	"algorithm.rollout_correction.rollout_token_veto_threshold":            "0.7",
	"algorithm.rollout_correction.use_policy_gradient":                     "0.7",
	"reward_model.forward_max_token_len_per_gpu":                           "0.7",
	"reward_model.launch_reward_fn_async":                                  "0.7",
	"reward_model.load_weight":                                             "0.7",
	"reward_model.max_length":                                              "0.7",
	"reward_model.megatron.context_parallel_size":                          "0.7",
	"reward_model.megatron.dist_checkpointing_path":                        "0.7",
	"reward_model.megatron.dtype":                                          "0.7",
	"reward_model.megatron.expert_model_parallel_size":                     "0.7",
	"reward_model.megatron.expert_tensor_parallel_size":                    "0.7",
	"reward_model.megatron.override_transformer_config":                    "0.7",
	"reward_model.megatron.param_offload":                                  "0.7",
	"reward_model.megatron.pipeline_model_parallel_size":                   "0.7",
	"reward_model.megatron.seed":                                           "0.7",
	"reward_model.megatron.sequence_parallel":                              "0.7",
	"reward_model.megatron.tensor_model_parallel_size":                     "0.7",
	"reward_model.megatron.use_dist_checkpointing":                         "0.7",
	"reward_model.megatron.use_distributed_optimizer":                      "0.7",
	"reward_model.megatron.use_mbridge":                                    "0.7",
	"reward_model.megatron.virtual_pipeline_model_parallel_size":           "0.7",
	"reward_model.micro_batch_size":                                        "0.7",
	"reward_model.micro_batch_size_per_gpu":                                "0.7",
	"reward_model.model.fsdp_config.forward_prefetch":                      "0.7",
	"reward_model.model.fsdp_config.fsdp_size":                             "0.7",
	"reward_model.model.fsdp_config.param_offload":                         "0.7",
	"reward_model.model.fsdp_config.reshard_after_forward":                 "0.7",
	"reward_model.model.fsdp_config.wrap_policy.min_num_params":            "0.7",
	"reward_model.model.input_tokenizer":                                   "0.7",
	"reward_model.model.use_fused_kernels":                                 "0.7",
	"reward_model.model.use_remove_padding":                                "0.7",
	"reward_model.model.use_shm":                                           "0.7",
	"reward_model.nccl_timeout":                                            "0.7",
	"reward_model.sandbox_fusion.max_concurrent":                           "0.7",
	"reward_model.sandbox_fusion.memory_limit_mb":                          "0.7",
	"reward_model.sandbox_fusion.url":                                      "0.7",
	"reward_model.strategy":                                                "0.7",
	"reward_model.ulysses_sequence_parallel_size":                          "0.7",
	"reward_model.use_dynamic_bsz":                                         "0.7",
	"reward_model.use_reward_loop":                                         "0.7",
	"actor_rollout_ref.actor.sum_pi_squared_checkpointing":                 "0.8",
	"actor_rollout_ref.model.override_config.model_config":                 "0.8",
	"actor_rollout_ref.model.override_config.moe_config.freeze_moe_router": "0.8",
	"actor_rollout_ref.rollout.layer_name_map.gate_proj_layer_name":        "0.8",
	"actor_rollout_ref.rollout.layer_name_map.qkv_layer_name":              "0.8",
	"actor_rollout_ref.rollout.skip_dump_dir":                              "0.8",
	"actor_rollout_ref.rollout.skip_rollout":                               "0.8",
	"critic.model.fsdp_config.dtype":                                       "0.8",
	"critic.model.fsdp_config.entropy_checkpointing":                       "0.8",
	"critic.model.fsdp_config.entropy_from_logits_with_chunking":           "0.8",
	"critic.model.fsdp_config.forward_only":                                "0.8",
	"critic.model.fsdp_config.forward_prefetch":                            "0.8",
	"critic.model.fsdp_config.fsdp_size":                                   "0.8",
	"critic.model.fsdp_config.full_determinism":                            "0.8",
	"critic.model.fsdp_config.model_dtype":                                 "0.8",
	"critic.model.fsdp_config.offload_policy":                              "0.8",
	"critic.model.fsdp_config.optimizer_offload":                           "0.8",
	"critic.model.fsdp_config.param_offload":                               "0.8",
	"critic.model.fsdp_config.reshard_after_forward":                       "0.8",
	"critic.model.fsdp_config.seed":                                        "0.8",
	"critic.model.fsdp_config.strategy":                                    "0.8",
	"critic.model.fsdp_config.ulysses_sequence_parallel_size":              "0.8",
	"critic.model.fsdp_config.use_orig_params":                             "0.8",
	"critic.model.fsdp_config.use_torch_compile":                           "0.8",
	"critic.model.fsdp_config.wrap_policy.min_num_params":                  "0.8",
	"critic.model.override_config.model_config":                            "0.8",
	"critic.model.override_config.moe_config.freeze_moe_router":            "0.8",
	"data.datagen.name":                                                    "0.8",
	"data.datagen.path":                                                    "0.8",
	"data.sampler.class_name":                                              "0.8",
	"data.sampler.class_path":                                              "0.8",
	"trainer.use_legacy_worker_impl":                                       "0.8",
	"actor_rollout_ref.actor.load_weight":                                  "0.9",
	"actor_rollout_ref.actor.megatron.grad_offload":                        "0.9",
	"actor_rollout_ref.actor.router_replay.mode":                           "0.9",
	"actor_rollout_ref.actor.router_replay.record_file":                    "0.9",
	"actor_rollout_ref.actor.router_replay.replay_file":                    "0.9",
	"actor_rollout_ref.ref.load_weight":                                    "0.9",
	"actor_rollout_ref.ref.megatron.grad_offload":                          "0.9",
	"actor_rollout_ref.ref.router_replay.mode":                             "0.9",
	"actor_rollout_ref.ref.router_replay.record_file":                      "0.9",
	"actor_rollout_ref.ref.router_replay.replay_file":                      "0.9",
	"actor_rollout_ref.rollout.skip.action":                                "0.9",
	"actor_rollout_ref.rollout.skip.dump_dir":                              "0.9",
	"actor_rollout_ref.rollout.skip.enable":                                "0.9",
	"actor_rollout_ref.rollout.skip.max_dump_step":                         "0.9",
	"critic.load_weight":                                                   "0.9",
	"critic.megatron.grad_offload":                                         "0.9",
}
