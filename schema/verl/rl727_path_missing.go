package verl

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL727", Name: "path-missing",
	Title: "a file that the launch names is not here",
	Doc: `
The launch may run on another machine that has the file, so this is a note. With --check-paths it is an error. It is also an error if the
file's folder exists here and has a file of nearly the same name: the launch names tools.yaml, and the folder has tool.yaml. The rule checks
train_files, val_files, and the configurations of tools, agent loops and reward function. A relative path starts at --cwd, and '~' is HOME.
Paths on hdfs://, s3:// and the like are not checked.
`,
	Applies: []rule.Severity{{Level: rule.Info, Consequence: "rules over it could not look"}},
	New:     func(p *rule.Pass) rule.Checker { return &pathMissing{p} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a file of another machine", Rows: rule.RL, Launch: "data.train_files=/data/train.parquet\n" + `?data.train_files=["/data/train.parquet"]`, Want: []string{"launch 1 data.train_files"}},
		{Title: "a name with a typing error", Rows: rule.RL, Launch: "custom_reward_function.path=rewrd.py\n" + `?custom_reward_function.path=["rewrd.py"]` + "\n~rewrd.py=reward.py", Want: []string{"launch 1 custom_reward_function.path"}},
		{Title: "all columns exist", Rows: rule.RL, Launch: "data.train_files=train.parquet\n?data.train_files=[]"},
	},
})

type pathMissing struct{ *rule.Pass }

// Files implements rule.Checker.
func (c *pathMissing) Files([]*rule.File) {
	l := launchOf(c.Pass)
	if l == nil {
		return
	}
	level := rule.Info
	if c.Env.CheckPaths {
		level = rule.Error
	}
	for _, key := range []string{"data.train_files", "data.val_files", keyTools, keyAgents, keyFunctions, "custom_reward_function.path", "reward.custom_reward_function.path", keyCustomCls} {
		names := l.MissingFiles(key)
		if len(names) == 0 {
			continue
		}
		_, pos, _ := l.Value(key)
		if key != "data.train_files" && key != "data.val_files" && c.misspelt(l, key, names) {
			continue
		}
		c.Report(rule.Finding{Level: level, Pos: pos, Value: schema.TextValue(names[0]).Excerpt(80), Message: "not here: " + strings.Join(names, ", ") + ": " + c.Consequence})
	}
}

// misspelt reports a missing file beside which lies one with a name like it.
func (c *pathMissing) misspelt(l *Launch, key string, names []string) bool {
	for _, name := range names {
		near := l.NearFile(name)
		if near == "" {
			continue
		}
		_, pos, _ := l.Value(key)
		c.Report(rule.Finding{Level: rule.Error, Pos: pos, Value: schema.TextValue(name).Excerpt(80), Message: "not here: " + name + "; did you mean " + near + "?"})
		return true
	}
	return false
}
