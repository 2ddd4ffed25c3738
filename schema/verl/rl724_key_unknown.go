package verl

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL724", Name: "key-unknown", Rows: rule.Any,
	Title: "Hydra refuses a key that this version of verl does not have",
	Doc: `
Hydra composes verl's configuration in struct mode. It ends the launch at key=value if the key does not exist ("Could not override"), at +key=value if the key has a value ("Could not append to config"), and at ~key if the key does not exist ("Could not delete from config"). The same holds for a choice of a
group, such as model_engine=megatron, and for a group's option that does not exist. '+' adds a key, also below a dictionary such as override_config; '++' adds or replaces one.

Every key of main_ppo, of the Megatron, SFT, generation and evaluation programs and of the experimental trainers is known, in the releases 0.5.0, 0.6.1, 0.7.1, 0.8.0 and 0.9.1. 'make conformance' compares the verdicts with hydra-core 1.3. A configuration of yours that the launch names is read as Hydra reads it; if it
is not on this machine, no key is judged.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "Hydra ends the launch"}},
	New:     func(p *rule.Pass) rule.Checker { return &refused{p, rule.UnknownKey} },
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a key with a typing error", Launch: `!=[{"message":"Could not override 'data.train_bach_size': verl 0.9 has no key data.train_bach_size; did you mean data.train_batch_size?","key":"data.train_bach_size","kind":1}]`, Want: []string{"launch 1 data.train_bach_size"}},
		{Title: "an argument that is not an override: RL730 reports it", Launch: `!=[{"message":"override \"data.seed\": ends too early"}]`},
	},
})

// A refused reports the arguments of a launch that something is wrong with.
type refused struct {
	*rule.Pass
	kind rule.RefusalKind
}

// Files implements rule.Checker.
func (c *refused) Files([]*rule.File) {
	if c.Env.Launch == nil {
		return
	}
	for _, r := range c.Env.Launch.Refused() {
		if r.Kind == c.kind && r.Key != keyInteract { // that one is RL714's
			c.Report(rule.Finding{Pos: r.Pos.At(schema.Path(r.Key)), Message: r.Message + ": " + c.Consequence})
		}
	}
}
