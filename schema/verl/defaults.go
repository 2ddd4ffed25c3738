package verl

import (
	"encoding/json"

	"github.com/rlprep/rlprep/schema/rule"
)

// defaultKeys are the keys of verl's configuration that rules and 'rlprep launch' read, with their values in the target
// versions as JSON: one for each of framework.Versions, in their order, or one for all of them; "" where a version has no such key. They are
// what hydra 1.3.8 composes of trainer/config/ppo_trainer.yaml and its groups in the releases 0.5.0, 0.6.1, 0.7.1, 0.8.0 and
// 0.9.1; make conformance-verl holds the last of them to verl itself.
var defaultKeys = map[string][]string{
	"actor_rollout_ref.actor.ppo_mini_batch_size":                     {`256`},
	"actor_rollout_ref.rollout.agent.agent_loop_config_path":          {`null`},
	"actor_rollout_ref.rollout.agent.default_agent_loop":              {``, `"single_turn_agent"`, `"single_turn_agent"`, `"single_turn_agent"`, `"single_turn_agent"`},
	"actor_rollout_ref.rollout.agent.num_workers":                     {`8`},
	"actor_rollout_ref.rollout.calculate_log_probs":                   {`false`, `false`, `false`, `false`, `true`},
	"actor_rollout_ref.rollout.mode":                                  {`"sync"`, `"sync"`, `"async"`, `"async"`, `"async"`},
	"actor_rollout_ref.rollout.multi_turn.enable":                     {`false`},
	"actor_rollout_ref.rollout.multi_turn.format":                     {`"hermes"`},
	"actor_rollout_ref.rollout.multi_turn.function_tool_path":         {``, ``, ``, `null`, `null`},
	"actor_rollout_ref.rollout.multi_turn.interaction_config_path":    {`null`, `null`, `null`, ``, ``},
	"actor_rollout_ref.rollout.multi_turn.max_assistant_turns":        {`null`},
	"actor_rollout_ref.rollout.multi_turn.max_tool_response_length":   {`256`},
	"actor_rollout_ref.rollout.multi_turn.max_user_turns":             {`null`},
	"actor_rollout_ref.rollout.multi_turn.tool_config_path":           {`null`},
	"actor_rollout_ref.rollout.n":                                     {`1`},
	"actor_rollout_ref.rollout.name":                                  {`"vllm"`, ``, ``, ``, ``},
	"actor_rollout_ref.rollout.trace.backend":                         {`null`},
	"actor_rollout_ref.rollout.trace.experiment_name":                 {``, ``, `"${trainer.experiment_name}"`, `"${trainer.experiment_name}"`, `"${trainer.experiment_name}"`},
	"actor_rollout_ref.rollout.trace.max_samples_per_step_per_worker": {``, ``, `null`, `null`, `null`},
	"actor_rollout_ref.rollout.trace.project_name":                    {``, ``, `"${trainer.project_name}"`, `"${trainer.project_name}"`, `"${trainer.project_name}"`},
	"actor_rollout_ref.rollout.trace.token2text":                      {`false`},
	"actor_rollout_ref.rollout.val_kwargs.n":                          {`1`},
	"algorithm.adv_estimator":                                         {`"gae"`},
	"algorithm.filter_groups.enable":                                  {``, ``, ``, ``, `false`},
	"algorithm.filter_groups.metric":                                  {``, ``, ``, ``, `"reward"`},
	"custom_reward_function.name":                                     {`"compute_score"`, `"compute_score"`, `null`, `null`, `null`},
	"custom_reward_function.path":                                     {`null`},
	"data.custom_cls.name":                                            {`null`},
	"data.custom_cls.path":                                            {`null`},
	"data.filter_overlong_prompts":                                    {`false`},
	"data.gen_batch_size":                                             {``, ``, ``, ``, `null`},
	"data.image_key":                                                  {`"images"`},
	"data.max_prompt_length":                                          {`512`},
	"data.max_response_length":                                        {`512`},
	"data.prompt_key":                                                 {`"prompt"`},
	"data.return_raw_chat":                                            {`false`, `false`, `true`, `true`, `true`},
	"data.reward_fn_key":                                              {`"data_source"`},
	"data.sampler.class_path":                                         {`null`, `null`, `null`, ``, ``},
	"data.shuffle":                                                    {`true`},
	"data.tool_config_path":                                           {``, `"${actor_rollout_ref.rollout.multi_turn.tool_config_path}"`, `"${actor_rollout_ref.rollout.multi_turn.tool_config_path}"`, `"${actor_rollout_ref.rollout.multi_turn.tool_config_path}"`, `"${actor_rollout_ref.rollout.multi_turn.tool_config_path}"`},
	"data.train_batch_size":                                           {`1024`},
	"data.train_files":                                                {`"~/data/rlhf/gsm8k/train.parquet"`},
	"data.train_max_samples":                                          {``, `-1`, `-1`, `-1`, `-1`},
	"data.truncation":                                                 {`"error"`},
	"data.val_batch_size":                                             {`null`},
	"data.val_files":                                                  {`"~/data/rlhf/gsm8k/test.parquet"`},
	"data.val_max_samples":                                            {``, `-1`, `-1`, `-1`, `-1`},
	"data.video_key":                                                  {`"videos"`},
	"reward.custom_reward_function.name":                              {``, ``, `"compute_score"`, `"compute_score"`, `"compute_score"`},
	"reward.custom_reward_function.path":                              {``, ``, `null`, `null`, `null`},
	"reward.num_workers":                                              {``, ``, `8`, `8`, `8`},
	"reward.reward_manager.name":                                      {``, ``, `"naive"`, `"naive"`, `"naive"`},
	"reward.reward_manager.source":                                    {``, ``, `"register"`, `"register"`, `"register"`},
	"reward.reward_model.enable":                                      {``, ``, `false`, `false`, `false`},
	"reward.sandbox_fusion.url":                                       {``, ``, `null`, `null`, `null`},
	"reward_model.enable":                                             {`false`, `false`, `null`, `null`, `null`},
	"reward_model.reward_manager":                                     {`"naive"`, `"naive"`, `null`, `null`, `null`},
	"reward_model.sandbox_fusion.url":                                 {`null`, `null`, ``, ``, ``},
	"trainer.experiment_name":                                         {`"gsm8k"`},
	"trainer.logger":                                                  {`["console","wandb"]`},
	"trainer.n_gpus_per_node":                                         {`8`},
	"trainer.nnodes":                                                  {`1`},
	"trainer.project_name":                                            {`"verl_examples"`},
	"trainer.rollout_data_dir":                                        {`null`},
	"trainer.test_freq":                                               {`-1`},
	"trainer.total_epochs":                                            {`30`},
	"trainer.total_training_steps":                                    {`null`},
	"trainer.use_v1":                                                  {``, ``, ``, ``, `true`},
	"trainer.v1.sampler.sync_refill_failed_groups":                    {``, ``, ``, ``, `false`},
	"trainer.v1.trainer_mode":                                         {``, ``, ``, ``, `"sync"`},
	"trainer.val_before_train":                                        {`true`},
	"trainer.validation_data_dir":                                     {`null`},
}

// Defaults returns verl's own configuration in the target version, for the keys that rules read: nil, bool, int64, float64,
// string or []any by key. A text "${other.key}" stands for the value of that key.
func Defaults(t rule.Target) map[string]any {
	out := map[string]any{}
	for key, values := range defaultKeys {
		text := values[min(t.Index(), len(values)-1)]
		if text == "" {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			panic("verl: default of " + key + ": " + err.Error())
		}
		if f, ok := v.(float64); ok && f == float64(int64(f)) {
			v = int64(f)
		}
		out[key] = v
	}
	return out
}
