package verl

import (
	"path/filepath"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL728", Name: "data-path-shared", Rows: rule.RL,
	Title: "tools are trained from a path that several of verl's scripts write, and the file is not here",
	Doc: `
Several scripts of verl write the same files. gsm8k.py, gsm8k_multiturn_w_tool.py, gsm8k_tool_agent_loop.py and
gsm8k_multiturn_w_interaction.py all write ~/data/gsm8k/train.parquet; geo3k.py and geo3k_multiturn_w_tool.py both write into ~/data/geo3k.
The launches read the same path. The script that ran last decides whether tools are offered, since only gsm8k_tool_agent_loop.py writes
agent_name. Nothing shows this at launch.

Write each form into its own folder. Lint the file together with the launch on the machine that has both.
`,
	Applies: []rule.Severity{{Level: rule.Warning, Consequence: "only the file's content decides which agent loop runs"}},
	New: onLaunch(func(c *launchCheck) {
		_, tools, _ := c.Tools()
		v, _, _ := c.Value(keyInteract)
		if len(c.train()) > 0 || !c.Set("data.train_files") || !tools && v.Kind() != schema.Text || c.Text(keyAgent) == "tool_agent" {
			return
		}
		for _, name := range c.names("data.train_files") {
			dir := filepath.Base(filepath.Dir(name))
			if filepath.Base(name) == "train.parquet" && (dir == "gsm8k" || dir == "geo3k") {
				c.at("data.train_files", "%s is where %s: %s", name, writers[dir], c.Consequence)
				return
			}
		}
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "verl's multi-turn launches", Launch: "data.train_files=/root/data/gsm8k/train.parquet\nactor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml", Want: []string{"launch 1 data.train_files"}},
		{Title: "a folder of its own", Launch: "data.train_files=/root/data/gsm8k_tool_agent/train.parquet\nactor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml"},
		{Title: "the file is here", Files: []string{`{"agent_name":"tool_agent"}`}, Launch: "data.train_files=/root/data/gsm8k/train.parquet\nactor_rollout_ref.rollout.multi_turn.tool_config_path=t.yaml"},
		{Title: "no tools", Launch: "data.train_files=/root/data/gsm8k/train.parquet"},
	},
})

// writers says which scripts of verl write to the folder of that name.
var writers = map[string]string{"gsm8k": "four scripts of verl write", "geo3k": "two scripts of verl write"}

// names lists the files that a key names: a text, or a list of texts.
func (l *Launch) names(key string) []string {
	v, _, _ := l.Value(key)
	if v.Kind() == schema.Text {
		return []string{strings.TrimSpace(v.Text())}
	}
	var out []string
	for i := range v.Len() {
		out = append(out, v.Elem(i).Text())
	}
	return out
}
