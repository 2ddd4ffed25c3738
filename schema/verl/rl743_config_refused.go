package verl

import (
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL743", Name: "config-refused", Rows: rule.RL,
	Cites: []string{"verl@0.9.1 utils/config.py:74-85", "verl@0.9.1 utils/config.py:205-215", "verl@0.9.1 workers/rollout/vllm_rollout/utils.py:83-102", "verl@0.9.1 workers/config/actor.py:364-375",
		"verl@0.7.1 utils/config.py:190-200", "verl@0.6.1 utils/config.py:198-199", "verl@0.8.0 workers/config/actor.py:353-364"},
	Title: "verl refuses the LoRA rank or the router replay",
	Doc: `
validate_config ends main_ppo before it loads anything:

- vLLM accepts LoRA ranks up to 512. 0.6 checks actor_rollout_ref.model.lora_rank (0.6.1 utils/config.py:198). 0.7 and later check model.lora.rank if it is above 0 and model.lora.merge is not true (0.9.1 utils/config.py:205-215, vllm_rollout/utils.py:83-102; a newer vLLM may know more ranks than the 512 of this list).
- Since 0.9, router_replay.mode R2 of the actor's engine (actor.megatron, actor.veomni) cannot be combined with algorithm.rollout_correction.bypass_mode (0.9.1 utils/config.py:74-85).
- Since 0.8, a router replay of VeOmni needs actor.use_remove_padding (0.8.0 workers/config/actor.py:357, 0.9.1 actor.py:368).

Executed: get_vllm_max_lora_rank of 0.7.1, 0.8.0 and 0.9.1 (512 passes, 513 does not), and _validate_router_replay_config of 0.9.1 (only R2
in bypass mode fails). The rest was read in the sources.
`,
	Applies: []rule.Severity{{Versions: ">=0.6", Level: rule.Error, Consequence: "verl ends before it loads anything"}},
	New: onLaunch(func(c *launchCheck) {
		if c.Program() != ppoProgram {
			return
		}
		c.loraRank()
		c.routerReplay()
	}),
	Unfixed: rule.InLaunch,
	Examples: []rule.Example{
		{Title: "a rank above 512", Launch: rollout + "name=vllm\n" + keyLoRARank + "=1024", Want: []string{"launch 2 " + keyLoRARank}},
		{Title: "the newer key comes first", Launch: rollout + "name=vllm\n" + keyLoRARank + "=1024\n" + keyLoRA + "rank=16"},
		{Title: "the newer key is too large", Launch: rollout + "name=vllm\n" + keyLoRA + "rank=513", Want: []string{"launch 2 " + keyLoRA + "rank"}},
		{Title: "0.6 knows only the older key", Launch: rollout + "name=vllm\n" + keyLoRARank + "=1024\n" + keyLoRA + "rank=16", Target: "verl@0.6", Want: []string{"launch 2 " + keyLoRARank}},
		{Title: "merged, and SGLang", Launch: rollout + "name=vllm\n" + keyLoRA + "rank=1024\n" + keyLoRA + "merge=true"},
		{Title: "SGLang takes it", Launch: rollout + "name=sglang\n" + keyLoRARank + "=1024"},
		{Title: "R2 in bypass mode", Launch: actor + "strategy=megatron\n" + actor + "megatron.router_replay.mode=R2\n" + keyBypass + "=true", Want: []string{"launch 2 " + actor + "megatron.router_replay.mode"}},
		{Title: "R2 in bypass mode, 0.8", Launch: actor + "strategy=megatron\n" + actor + "megatron.router_replay.mode=R2\n" + keyBypass + "=true", Target: "verl@0.8"},
		{Title: "R3 in bypass mode", Launch: actor + "strategy=megatron\n" + actor + "megatron.router_replay.mode=R3\n" + keyBypass + "=true"},
		{Title: "VeOmni with padding", Launch: actor + "strategy=veomni\n" + actor + "veomni.router_replay.mode=R3", Want: []string{"launch 2 " + actor + "veomni.router_replay.mode"}},
		{Title: "VeOmni without padding", Launch: actor + "strategy=veomni\n" + actor + "veomni.router_replay.mode=R3\n" + actor + "use_remove_padding=true"},
	},
})

const (
	keyLoRA     = "actor_rollout_ref.model.lora."
	keyLoRARank = "actor_rollout_ref.model.lora_rank"
	keyBypass   = "algorithm.rollout_correction.bypass_mode"
	maxLoRARank = 512 // of vLLM
)

// loraRank checks the rank that vLLM gets.
func (c *launchCheck) loraRank() {
	key := keyLoRARank
	if c.Target.Within(">=0.7") {
		if n, _ := c.Number(keyLoRA + "rank"); n > 0 {
			key = keyLoRA + "rank"
		}
		if c.Bool(keyLoRA + "merge") {
			return
		}
	}
	if n, _ := c.Number(key); n > maxLoRARank && c.Text(rollout+"name") == "vllm" {
		c.at(key, "the rank %s is above %d, the most that vLLM takes: %s", show(n), maxLoRARank, c.Consequence)
	}
}

// routerReplay checks what goes with the router replay of the actor's engine.
func (c *launchCheck) routerReplay() {
	engine := map[string]string{"megatron": "megatron", "veomni": "veomni", "fsdp": "fsdp_config", "fsdp2": "fsdp_config"}[c.Text(actor+"strategy")]
	key := actor + engine + ".router_replay.mode"
	mode := c.Text(key)
	switch {
	case engine == "" || mode == "":
	case mode == "R2" && c.Bool(keyBypass) && c.Target.Within(">=0.9"):
		c.at(key, "R2 records routes while the old log probabilities are computed, which %s=True skips: %s", keyBypass, c.Consequence)
	case engine == "veomni" && mode != "disabled" && !c.Bool(actor+"use_remove_padding") && c.Target.Within(">=0.8"):
		c.at(key, "VeOmni's router replay wants %suse_remove_padding=True: %s", actor, c.Consequence)
	}
}
