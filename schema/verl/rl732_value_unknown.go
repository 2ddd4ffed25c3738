package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL732", Name: "value-unknown", Rows: rule.Any,
	Cites: []string{"verl@0.9.1 trainer/ppo/core_algos.py:149", "verl@0.9.1 trainer/ppo/core_algos.py:2246-2251", "verl@0.9.1 workers/rollout/replica.py:326", "verl@0.9.1 utils/tracking.py:71", "verl@0.9.1 workers/config/actor.py:220", "verl@0.9.1 workers/engine/base.py:401", "verl@0.5.0 workers/fsdp_workers.py:558"},
	Title: "a key has a value that verl refuses",
	Doc: `
Hydra accepts any value. verl checks some values when it starts, and others at their first use. These are the sets of this rule, with the
place that raises the error in verl 0.9.1 (read in 0.5.0, 0.6.1, 0.7.1 and 0.8.0, too):

- algorithm.adv_estimator: trainer/ppo/core_algos.py:149, ValueError 'Unknown advantage estimator';
- actor_rollout_ref.rollout.name: workers/rollout/replica.py:326, ValueError 'Unknown rollout mode'; 0.5 workers/fsdp_workers.py:558, NotImplementedError;
- trainer.logger: utils/tracking.py:71, AssertionError '… is not supported';
- actor.loss_agg_mode: workers/config/actor.py:220, ValueError 'Invalid loss_agg_mode'; 0.5 trainer/ppo/ray_trainer.py:515;
- actor.policy_loss.loss_mode: trainer/ppo/core_algos.py:83, ValueError 'Unsupported loss mode';
- actor.kl_loss_type with use_kl_loss, algorithm.kl_penalty with use_kl_in_reward: trainer/ppo/core_algos.py:2246-2251, NotImplementedError; the list there has 'full', which raises the same error;
- algorithm.kl_ctrl.type with use_kl_in_reward: trainer/ppo/core_algos.py:212, NotImplementedError;
- actor.strategy: workers/engine/base.py:401, AssertionError 'Unknown backend', when the workers start; up to 0.7 trainer/main_ppo.py, NotImplementedError (0.7.1 main_ppo.py:174);
- router_replay.mode of the actor and of its engine: workers/config/actor.py:73, engine.py:73, ValueError 'Invalid router_replay mode' (since 0.7).

Executed on 0.9.1: verl accepts every name of each set, and another name raises the error; the names of actor.strategy were not executed. If
verl's own value is a number, a text ends in a TypeError. A text such as 'False' in quotes, or a misspelt Flase, is true in Python. Both
follow from Python, not from verl, and were not executed in a training.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "verl refuses it"}},
	New:     func(p *rule.Pass) rule.Checker { return &valueUnknown{p} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "an estimator with a typing error", Rows: rule.RL, Launch: "algorithm.adv_estimator=grppo", Want: []string{"launch 1 algorithm.adv_estimator"}},
		{Title: "a logger of many", Rows: rule.RL, Launch: `trainer.logger=["console","wandbb"]`, Want: []string{"launch 1 trainer.logger"}},
		{Title: "a rollout that is gone", Rows: rule.RL, Launch: "actor_rollout_ref.rollout.name=hf", Want: []string{"launch 1 actor_rollout_ref.rollout.name"}},
		{Title: "a rollout of 0.5", Rows: rule.RL, Launch: "actor_rollout_ref.rollout.name=hf", Target: "verl@0.5"},
		{Title: "a text for a number and for a truth value", Rows: rule.RL, Launch: "trainer.total_epochs=ten\nactor_rollout_ref.actor.use_kl_loss=Flase", Want: []string{"launch 1 trainer.total_epochs", "launch 2 actor_rollout_ref.actor.use_kl_loss"}},
		{Title: "a router replay with an unknown mode", Rows: rule.RL, Launch: "actor_rollout_ref.actor.megatron.router_replay.mode=r2", Want: []string{"launch 1 actor_rollout_ref.actor.megatron.router_replay.mode"}},
		{Title: "a KL that verl lists but does not implement", Rows: rule.RL, Launch: "actor_rollout_ref.actor.use_kl_loss=true\nactor_rollout_ref.actor.kl_loss_type=full", Want: []string{"launch 2 actor_rollout_ref.actor.kl_loss_type"}},
		{Title: "a strategy of 0.9", Rows: rule.RL, Launch: "actor_rollout_ref.actor.strategy=fsdp_turbo"},
		{Title: "the same in 0.8", Rows: rule.RL, Launch: "actor_rollout_ref.actor.strategy=fsdp_turbo", Target: "verl@0.8", Want: []string{"launch 1 actor_rollout_ref.actor.strategy"}},
		{Title: "a KL that is not used", Rows: rule.RL, Launch: "actor_rollout_ref.actor.kl_loss_type=mine"},
		{Title: "values that verl knows", Rows: rule.RL, Launch: "algorithm.adv_estimator=grpo\ntrainer.logger=console\nactor_rollout_ref.actor.loss_agg_mode=token-mean\nactor_rollout_ref.actor.use_kl_loss=true\nactor_rollout_ref.actor.kl_loss_type=low_var_kl+"},
	},
})

// A closedSet is a key whose values verl checks.
type closedSet struct {
	key    string
	values []dated[string]
	when   string // a key that must be true; "": always
	plus   bool   // a '+' may follow the value
}

// closedSets are those of the RL programs, read in the releases 0.5.0, 0.6.1, 0.7.1, 0.8.0 and 0.9.1.
var closedSets = []closedSet{
	{key: "algorithm.adv_estimator", values: []dated[string]{
		{"", []string{"gae", "grpo", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "remax", "rloo", "opo", "grpo_passk", "gpg"}},
		{">=0.6", []string{"rloo_vectorized", "grpo_vectorized"}},
		{">=0.7", []string{"optimal_token_baseline", "tir_optimal_token_baseline", "gdpo"}},
	}},
	{key: rollout + "name", values: []dated[string]{{"", []string{"vllm", "sglang"}}, {"<0.7", []string{"hf"}}, {">=0.7", []string{"trtllm"}}}},
	{key: "trainer.logger", values: []dated[string]{
		{"", []string{"wandb", "mlflow", "swanlab", "vemlp_wandb", "tensorboard", "console", "clearml", "tracking"}},
		{">=0.6", []string{"trackio", "file"}}, {">=0.9", []string{"rl_insight"}},
	}},
	{key: actor + "loss_agg_mode", values: []dated[string]{
		{"", []string{"token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"}}, {">=0.9", []string{"token-sum"}},
	}},
	{key: actor + "policy_loss.loss_mode", values: []dated[string]{
		{"", []string{"vanilla", "gpg", "clip_cov", "kl_cov"}}, {">=0.6", []string{"gspo", "geo_mean"}}, {"0.6", []string{"rollout_correction"}},
		{">=0.7", []string{"dppo_tv", "dppo_kl", "sapo", "cispo", "bypass_mode"}}, {">=0.9", []string{"dro"}},
	}},
	{key: actor + "kl_loss_type", values: klTypes, when: actor + "use_kl_loss", plus: true},
	{key: "algorithm.kl_penalty", values: klTypes, when: "algorithm.use_kl_in_reward", plus: true},
	{key: "algorithm.kl_ctrl.type", values: []dated[string]{{"", []string{"fixed", "adaptive"}}}, when: "algorithm.use_kl_in_reward"},
	{key: actor + "strategy", values: []dated[string]{{"", []string{"fsdp", "fsdp2", "megatron"}}, {">=0.7", []string{"veomni", "torchtitan"}}, {">=0.8", []string{"automodel", "mindspeed_megatron"}}, {">=0.9", []string{"fsdp_turbo"}}}},
	{key: actor + "router_replay.mode", values: routerModes},
	{key: actor + "megatron.router_replay.mode", values: routerModes},
	{key: actor + "veomni.router_replay.mode", values: routerModes},
}

var klTypes = []dated[string]{{"", []string{"kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"}}}

var routerModes = []dated[string]{{">=0.7", []string{"disabled", "R2", "R3"}}}

type valueUnknown struct{ *rule.Pass }

// Files implements rule.Checker.
func (c *valueUnknown) Files([]*rule.File) {
	l := launchOf(c.Pass)
	if l == nil {
		return
	}
	if l.Program() == ppoProgram && l.Text("actor_rollout_ref.model.external_lib") == "" { // which may register others
		for _, s := range closedSets {
			c.set(l, s)
		}
	}
	if l.Program() == ppoProgram || l.Program() == sftProgram {
		c.types(l)
	}
}

// set judges a value, or each of a list.
func (c *valueUnknown) set(l *Launch, s closedSet) {
	v, pos, set := l.Value(s.key)
	if !set || s.when != "" && !l.Bool(s.when) {
		return
	}
	known := itemsFor(l.Target, s.values)
	if len(known) == 0 { // this version has no such key
		return
	}
	list := []schema.Value{v}
	if v.Kind() == schema.List {
		list = list[:0]
		for i := range v.Len() {
			list = append(list, v.Elem(i))
		}
	}
	for _, v := range list {
		if v.Kind() != schema.Text {
			continue
		}
		name := v.Text()
		if s.plus {
			name = strings.TrimSuffix(name, "+")
		}
		if name == "" || name == "???" || strings.Contains(name, "$") || slices.Contains(known, name) {
			continue
		}
		near := ""
		if n := schema.Nearest(name, known); n != "" {
			near = "; did you mean " + n + "?"
		}
		c.Reportf(pos, v, "%s: verl %s has %s%s: %s", v.Text(), l.version(), strings.Join(known, ", "), near, c.Consequence)
	}
}

// types judges texts where verl's own value is a number or a truth value.
func (c *valueUnknown) types(l *Launch) {
	for _, key := range l.Keys() {
		v, pos, _ := l.Value(key)
		if v.Kind() != schema.Text || v.Text() == "" || strings.ContainsAny(v.Text(), "$*?") {
			continue
		}
		own, _ := defaultOf(l.Target, l.module, key)
		switch own.(type) {
		case int64, float64:
			c.Reportf(pos, v, "%s is text, and verl's own value is the number %v: it ends in a TypeError", v.Excerpt(40), own)
		case bool:
			if !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(v.Text())) {
				c.Reportf(pos, v, "%s is text, which Python takes for true: write True or False, without quotes in the quotes", v.Excerpt(40))
			}
		}
	}
}
