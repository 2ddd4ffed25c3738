package verl

import (
	"math"
	"slices"
	"strconv"

	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL733", Name: "batch-sizes", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 utils/config.py:87-217", "verl@0.9.1 workers/config/actor.py:195-260", "verl@0.9.1 workers/config/actor.py:331-341", "verl@0.9.1 workers/config/critic.py:105-160", "verl@0.6.1 utils/config.py:74-200", "verl@0.5.0 trainer/ppo/ray_trainer.py:391-530"},
	Title: "verl's validate_config refuses the batch sizes",
	Doc: `
main_ppo checks the sizes before it loads anything (0.9.1 utils/config.py:87-217, validate_config, and workers/config/actor.py:195-260 and
critic.py:105-160, the same since 0.6; 0.5.0 trainer/ppo/ray_trainer.py:391, RayPPOTrainer._validate_config):

- train_batch_size × rollout.n must be a multiple of the number of GPUs, n_gpus_per_node × nnodes. With Megatron it must be a multiple of ppo_micro_batch_size_per_gpu × GPUs / (tensor × pipeline × context parallel size), and the number of GPUs must be a multiple of tensor × pipeline × context parallel size.
- train_batch_size must be at least actor.ppo_mini_batch_size, and at least critic.ppo_mini_batch_size if there is a critic.
- Exactly one of ppo_micro_batch_size and ppo_micro_batch_size_per_gpu must be set. The same holds for log_prob_micro_batch_size of rollout, and for that of ref if a KL term is used.
- ppo_mini_batch_size must be a multiple of ppo_micro_batch_size. ppo_micro_batch_size × ulysses_sequence_parallel_size must be at least the number of GPUs.
- ulysses_sequence_parallel_size above 1 needs model.use_remove_padding. val_kwargs.do_sample needs a temperature above 0.

With actor.use_dynamic_bsz verl skips most of these checks (0.5 still makes the first). Executed on 0.9.1: of 30 configurations, composed by
Hydra, validate_config refuses those that this rule reports, and no other. The sizes of the critic were only read, since its configuration
needs a model.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "verl ends before it loads anything"}},
	New: onLaunch(func(c *launchCheck) {
		if c.Program() != ppoProgram {
			return
		}
		b := &batchSizes{launchCheck: c, dynamic: c.Bool(actor + "use_dynamic_bsz")}
		nodes, _ := c.Number("trainer.nnodes")
		each, _ := c.Number("trainer.n_gpus_per_node")
		b.gpus = nodes * each
		b.total()
		b.worker("actor_rollout_ref.actor", "ppo_", b.dynamic)
		b.logProbs()
		if c.critic() {
			b.worker("critic", "ppo_", c.Bool("critic.use_dynamic_bsz"))
		}
		b.rest()
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a mini batch above the batch", Launch: sized + "data.train_batch_size=32", Want: []string{"launch 5 actor_rollout_ref.actor.ppo_mini_batch_size"}},
		{Title: "a batch that 8 GPUs do not divide", Launch: sized + "data.train_batch_size=1025", Want: []string{"launch 6 data.train_batch_size"}},
		{Title: "a batch that is not a whole number", Launch: sized + "data.train_batch_size=256.5", Want: []string{"launch 6 data.train_batch_size"}},
		{Title: "no micro batch size, and both", Launch: "algorithm.adv_estimator=grpo\nactor_rollout_ref.rollout.log_prob_micro_batch_size=8\nactor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1", Want: []string{"launch 0 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "launch 3 actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu"}},
		{Title: "Megatron: 8 GPUs, tensor × pipeline 3", Launch: sized + "actor_rollout_ref.actor.strategy=megatron\nactor_rollout_ref.actor.megatron.tensor_model_parallel_size=3\nactor_rollout_ref.actor.megatron.pipeline_model_parallel_size=1\nactor_rollout_ref.actor.megatron.context_parallel_size=1", Want: []string{"launch 7 actor_rollout_ref.actor.megatron.tensor_model_parallel_size"}},
		{Title: "sequence parallelism with padding", Launch: sized + "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2\nactor_rollout_ref.model.use_remove_padding=false", Want: []string{"launch 7 actor_rollout_ref.model.use_remove_padding"}},
		{Title: "dynamic batches", Launch: "algorithm.adv_estimator=grpo\nactor_rollout_ref.actor.use_dynamic_bsz=true\ndata.train_batch_size=33"},
		{Title: "sizes that divide", Launch: sized + "data.train_batch_size=512"},
		{Title: "a recipe has checks of its own", Launch: "%module=recipe.dapo.main_dapo\ndata.train_batch_size=3"},
	},
})

// sized is the beginning of a launch whose sizes verl takes.
const sized = "algorithm.adv_estimator=grpo\nactor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1\nactor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1\nactor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=1\nactor_rollout_ref.actor.ppo_mini_batch_size=64\n"

type batchSizes struct {
	*launchCheck
	gpus    float64
	dynamic bool
}

// critic reports whether a critic is trained (trainer/ppo/utils.py, need_critic; in 0.5 the estimator alone decides).
func (l *Launch) critic() bool {
	if v, _, _ := l.Value("critic.enable"); v.Kind() != 0 && !v.IsNull() && !v.IsMissing() {
		return v.Bool()
	}
	return l.Text("algorithm.adv_estimator") == "gae"
}

// decided reports whether keys have the values that the training will see: a configuration is read without the command that adds to it.
func (b *batchSizes) decided(keys ...string) bool {
	return b.Whole() || !slices.ContainsFunc(keys, func(key string) bool { return !b.Set(key) })
}

// show writes a number as Python does where it is whole.
func show(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// total checks the whole batch against the GPUs.
func (b *batchSizes) total() {
	batch, ok := b.Number(keyBatch)
	n, okN := b.Number(keyN)
	if !ok || !okN || b.gpus <= 0 || !b.decided(keyBatch) || b.dynamic && b.Target.Within(">=0.6") {
		return
	}
	least := b.gpus
	what := show(b.gpus) + " GPUs"
	if b.Text(actor+"strategy") == "megatron" {
		size := 1.0
		for _, name := range []string{"tensor", "pipeline", "context"} {
			key := actor + "megatron." + name + "_model_parallel_size"
			if name == "context" {
				key = actor + "megatron.context_parallel_size"
			}
			if f, ok := b.Number(key); ok {
				size *= f
			}
		}
		if size > 0 && math.Mod(b.gpus, size) != 0 {
			b.at(actor+"megatron.tensor_model_parallel_size", "%s GPUs are no multiple of tensor × pipeline × context parallel size %s: %s", show(b.gpus), show(size), b.Consequence)
			return
		}
		micro, ok := b.Number(actor + "ppo_micro_batch_size_per_gpu")
		if !ok || micro <= 0 || size <= 0 {
			return
		}
		least = b.gpus / size * micro
		what = show(b.gpus/size) + " data-parallel ranks × " + show(micro) + " of a micro batch"
	}
	if batch > 0 && math.Mod(batch*n, least) != 0 || batch != math.Trunc(batch) {
		b.at(keyBatch, "train_batch_size %s × rollout.n %s is no multiple of %s: %s", show(batch), show(n), what, b.Consequence)
	}
}

// worker checks the sizes of actor or critic.
func (b *batchSizes) worker(at, prefix string, dynamic bool) {
	if dynamic {
		return
	}
	batch, ok := b.Number(keyBatch)
	mini, okMini := b.Number(at + "." + prefix + "mini_batch_size")
	if ok && okMini && batch < mini && b.decided(keyBatch, at+"."+prefix+"mini_batch_size") {
		key := at + "." + prefix + "mini_batch_size"
		if !b.Set(key) {
			key = keyBatch
		}
		b.at(key, "train_batch_size %s is below %s.%smini_batch_size %s: %s", show(batch), at, prefix, show(mini), b.Consequence)
	}
	b.one(at, prefix+"micro_batch_size")
	micro, ok := b.Number(at + "." + prefix + "micro_batch_size")
	if !ok || micro <= 0 {
		return
	}
	key := at + "." + prefix + "micro_batch_size"
	parallel := 1.0
	if f, ok := b.Number(at + ".ulysses_sequence_parallel_size"); ok {
		parallel = f
	}
	switch {
	case okMini && math.Mod(mini, micro) != 0:
		b.at(key, "%smini_batch_size %s is no multiple of %smicro_batch_size %s: %s", prefix, show(mini), prefix, show(micro), b.Consequence)
	case micro*parallel < b.gpus:
		b.at(key, "%smicro_batch_size %s × ulysses_sequence_parallel_size %s is below the %s GPUs: %s", prefix, show(micro), show(parallel), show(b.gpus), b.Consequence)
	}
}

// one checks that a size is set in one of its two forms.
func (b *batchSizes) one(at, name string) {
	all, each := at+"."+name, at+"."+name+"_per_gpu"
	switch {
	case b.Null(all) && b.Null(each) && b.Whole():
		b.at(each, "neither %s nor %s is set: %s", name, name+"_per_gpu", b.Consequence)
	case !b.Null(all) && !b.Null(each):
		b.at(each, "%s and %s are both set: %s", name, name+"_per_gpu", b.Consequence)
	}
}

// logProbs checks the sizes of rollout and reference.
func (b *batchSizes) logProbs() {
	if b.dynamic {
		return
	}
	if b.Bool(actor+"use_kl_loss") || b.Bool("algorithm.use_kl_in_reward") {
		b.one("actor_rollout_ref.ref", "log_prob_micro_batch_size")
	}
	b.one("actor_rollout_ref.rollout", "log_prob_micro_batch_size")
}

// rest checks what is no size of a batch.
func (b *batchSizes) rest() {
	parallel, _ := b.Number(actor + "ulysses_sequence_parallel_size")
	if s := b.Text(actor + "strategy"); parallel > 1 && (s == "fsdp" || s == "fsdp2") && !b.Bool("actor_rollout_ref.model.use_remove_padding") {
		b.at("actor_rollout_ref.model.use_remove_padding", "ulysses_sequence_parallel_size %s wants use_remove_padding: %s", show(parallel), b.Consequence)
	}
	if f, ok := b.Number(rollout + "temperature"); ok && f <= 0 && b.Bool(rollout+"val_kwargs.do_sample") {
		b.at(rollout+"temperature", "val_kwargs.do_sample wants a temperature above 0: %s", b.Consequence)
	}
}
