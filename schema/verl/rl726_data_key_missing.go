package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL726", Name: "data-key-missing", Rows: rule.RL,
	Title: "the launch names a column that the files do not have",
	Doc: `
data.prompt_key names the column of the messages. Without that column every row fails with KeyError (rl_dataset.py). With
filter_overlong_prompts=True every row is dropped, and verl fails with 'Train dataloader is empty!'. data.image_key and video_key name
columns that may be missing: the samples then have no media, and the tags in their prompts stay text.
`,
	Applies: always("every row fails with KeyError"),
	New: onLaunch(func(c *launchCheck) {
		for _, key := range []string{"data.prompt_key", "data.image_key", "data.video_key"} {
			name := c.Text(key)
			if !c.Set(key) || name == "" {
				continue
			}
			for _, f := range c.train() {
				if kindOf(f.Schema, schema.MakePath(name)) != schema.Missing {
					continue
				}
				if key == "data.prompt_key" {
					c.at(key, "%s has no column %q: %s", f.Name, name, c.Consequence)
				} else if key != "data.video_key" || name != "videos" {
					c.atLevel(rule.Info, key, f.Name+" has no column "+name+": its samples have no media")
				}
				break
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a column of another name", Files: []string{`{"messages":[]}`}, Launch: "data.prompt_key=prompts", Want: []string{"launch 1 data.prompt_key"}},
		{Title: "no images", Files: []string{`{"prompt":[]}`}, Launch: "data.image_key=pictures", Want: []string{"launch 1 data.image_key"}},
		{Title: "there", Files: []string{`{"messages":[],"images":[]}`}, Launch: "data.prompt_key=messages\ndata.image_key=images"},
	},
})
