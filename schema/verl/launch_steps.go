package verl

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Keys that decide how many steps a training takes, and what it keeps of them.
const (
	keyTrain      = "data.train_files"
	keyMaxSamples = "data.train_max_samples"
	keyEpochs     = "trainer.total_epochs"
	keyTotalSteps = "trainer.total_training_steps"
	keySaveFreq   = "trainer.save_freq"
	keyLocalDir   = "trainer.default_local_dir"
	keyMini       = actor + "ppo_mini_batch_size"
	keyPPOEpochs  = actor + "ppo_epochs"
)

// OptimizerSteps returns how often the actor is updated for each batch: ppo_epochs times over the mini batches, the last of which may be smaller
// (0.5 to 0.7 workers/actor/dp_actor.py, update_policy; 0.9.1 trainer/ppo/ray_trainer.py:1352 and trainer/ppo/v1/trainer_base.py:1829). An SFT
// training updates once. 0: the sizes are not known.
func (l *Launch) OptimizerSteps() int64 {
	if !l.RL() {
		return 1
	}
	batch, mini := l.Int(keyBatch), l.Int(keyMini)
	if batch <= 0 || mini <= 0 {
		return 0
	}
	return (batch + mini - 1) / mini * max(l.Int(keyPPOEpochs), 1)
}

// LoaderBatch returns the rows that one step takes, and the key that says so: gen_batch_size where it is set and the trainer is not V1, whose steps are
// counted by train_batch_size (0.9.1 trainer/ppo/v1/trainer_base.py:765, trainer/ppo/ray_trainer.py:406).
func (l *Launch) LoaderBatch() (rows int64, key string) {
	if g := l.Int(keyGenBatch); g > 0 && l.RL() && !l.V1() {
		return g, keyGenBatch
	}
	return l.Int(keyBatch), keyBatch
}

// TrainRows returns the rows of the training files that verl loads, at most train_max_samples. Where they are not known, why says what is needed.
func (l *Launch) TrainRows(train []*rule.File) (rows int64, why string) {
	if missing := l.MissingFiles(keyTrain); len(missing) > 0 {
		return 0, "needs the rows of " + strings.Join(missing, ", ") + ", not here"
	}
	if len(train) == 0 {
		return 0, "needs the rows of " + keyTrain + ", not here"
	}
	for _, f := range train {
		if f.Rows < 0 || f.Schema == nil {
			return 0, "needs the rows of " + f.Name + ", which cannot be counted here"
		}
		rows += f.Rows
	}
	if n := l.Int(keyMaxSamples); n > 0 {
		rows = min(rows, n)
	}
	return rows, ""
}

// stepFacts says how many steps an epoch and the whole training have. The last, incomplete batch of an epoch is dropped (drop_last=True: 0.9.1
// trainer/ppo/ray_trainer.py:409, trainer/ppo/v1/trainer_base.py:747, trainer/sft_trainer.py:251).
func (l *Launch) stepFacts(add addFact, train []*rule.File) {
	each := l.OptimizerSteps()
	if l.RL() && each > 0 {
		note := "batch / mini_batch"
		if l.Int(keyPPOEpochs) > 1 {
			note += " × ppo_epochs"
		}
		add("optimizer_steps_per_batch", schema.IntValue(each), note, keyMini, keyBatch)
	}
	batch, key := l.LoaderBatch()
	rows, why := l.TrainRows(train)
	if why != "" || batch <= 0 {
		if why == "" {
			why = "needs " + key
		}
		add("steps_per_epoch", schema.NullValue, why, keyTrain)
		return
	}
	note := number(rows) + " rows / " + key + " " + number(batch)
	if l.Bool("data.filter_overlong_prompts") {
		note += ", at most: overlong prompts are dropped before"
	}
	perEpoch := rows / batch
	add("steps_per_epoch", schema.IntValue(perEpoch), note, key)
	steps, from := perEpoch*l.Int(keyEpochs), keyEpochs
	if n := l.Int(keyTotalSteps); n > 0 && n < steps {
		steps, from = n, keyTotalSteps
	}
	add("steps", schema.IntValue(steps), "", from, key)
	if each > 0 {
		add("optimizer_steps_per_epoch", schema.IntValue(perEpoch*each), "", keyMini, key)
		add("optimizer_steps", schema.IntValue(steps*each), "", from, keyMini, key)
	}
}

// checkpointFact names the folder of the checkpoints. An RL training writes none unless save_freq is above 0 (0.9.1 trainer/ppo/ray_trainer.py:1704,
// trainer/ppo/v1/trainer_base.py:481); an SFT training always writes the last one (trainer/sft_trainer.py:441).
func (l *Launch) checkpointFact(add addFact) {
	v, _, _ := l.Value(keyLocalDir)
	if v.IsMissing() {
		return
	}
	note := ""
	if n, ok := l.Number(keySaveFreq); l.RL() && (!ok || n <= 0) {
		note = "nothing is saved: save_freq is not above 0"
	}
	add("checkpoints", v, note, keyLocalDir)
}
