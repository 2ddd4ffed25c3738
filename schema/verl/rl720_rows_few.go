package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL720", Name: "rows-few", Cites: []string{"verl@b178a3cd5 ray_trainer.py:370"}, Rows: rule.RL,
	Title: "the training files have fewer rows than a batch",
	Doc: `
The data loader drops the last, incomplete batch. With fewer rows than data.train_batch_size (or gen_batch_size, if that is set) there is no
batch. The older trainer then raises an AssertionError, 'Train dataloader is empty!' (ray_trainer.py:370). V1 counts by train_batch_size
alone and fails with ZeroDivisionError (trainer_base.py:450; executed on 0.9.1), after it has loaded the model and finished the first
validation. Rows that the filter of long prompts drops do not count. data.train_max_samples cuts the rows before that.
`,
	Applies: []rule.Severity{
		{Trainer: trainerV1, Level: rule.Error, Consequence: "V1 fails with ZeroDivisionError after the first validation"},
		{Level: rule.Error, Consequence: "verl fails with AssertionError: Train dataloader is empty!"},
	},
	New: onLaunch(func(c *launchCheck) {
		rows := int64(0)
		files := c.train()
		for _, f := range files {
			rows += f.Rows
		}
		if n := c.Int(keyMaxSamples); n > 0 {
			rows = min(rows, n)
		}
		batch, key := c.LoaderBatch()
		if len(files) == 0 || batch <= 0 || rows >= batch {
			return
		}
		c.Report(rule.Finding{Pos: schema.FilePos(files[0].Name), Related: []schema.Pos{c.Launch.at(key)},
			Message: number(rows) + " rows for training, and " + key + " is " + number(batch) + ": " + c.Consequence})
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "verl's default batch", Files: []string{"{\"prompt\":[]}\n{\"prompt\":[]}"}, Launch: "trainer.total_epochs=1", Want: []string{"0 -1"}},
		{Title: "max_samples below the batch", Files: []string{"{\"prompt\":[]}\n{\"prompt\":[]}"}, Launch: "data.train_batch_size=2\ndata.train_max_samples=1", Want: []string{"0 -1"}},
		{Title: "V1 counts by train_batch_size", Files: []string{"{\"prompt\":[]}\n{\"prompt\":[]}"}, Launch: "data.gen_batch_size=1", Want: []string{"0 -1"}},
		{Title: "the older trainer by gen_batch_size", Files: []string{"{\"prompt\":[]}\n{\"prompt\":[]}"}, Launch: "data.gen_batch_size=1", Target: "verl@0.8"},
		{Title: "enough", Files: []string{"{\"prompt\":[]}\n{\"prompt\":[]}"}, Launch: "data.train_batch_size=2"},
	},
})

// at is where a key is set, or where the command stands.
func (l *Launch) at(key string) schema.Pos {
	_, pos, _ := l.Value(key)
	return pos
}
