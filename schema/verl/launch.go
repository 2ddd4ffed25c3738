package verl

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Keys of verl's configuration, and what rule.Env.Lookup has beside them.
const (
	rollout      = "actor_rollout_ref.rollout."
	actor        = "actor_rollout_ref.actor."
	keyBatch     = "data.train_batch_size"
	keyGenBatch  = "data.gen_batch_size"
	keyN         = rollout + "n"
	keyWorkers   = rollout + "agent.num_workers"
	keyAgent     = rollout + "agent.default_agent_loop"
	keyAgents    = rollout + "agent.agent_loop_config_path"
	keyMulti     = rollout + "multi_turn.enable"
	keyTools     = rollout + "multi_turn.tool_config_path"
	keyFunctions = rollout + "multi_turn.function_tool_path"
	keyInteract  = rollout + "multi_turn.interaction_config_path"
	keyFormat    = rollout + "multi_turn.format"
	keyMode      = rollout + "mode"
	keyBackend   = rollout + "trace.backend"
	keyToken     = rollout + "trace.token2text"
	keyCap       = rollout + "trace.max_samples_per_step_per_worker"
	keyV1        = "trainer.use_v1"
	keyCustomCls = "data.custom_cls.path"
)

// A Launch is a launch as verl takes it: what it sets, over verl's own configuration of the target version.
type Launch struct {
	rule.Launch // what the launch itself says
	Target      rule.Target
	module      string
}

// NewLaunch returns given as verl takes it; nil where given is nil.
func NewLaunch(t rule.Target, given rule.Launch) *Launch {
	if given == nil {
		return nil
	}
	module, _ := given.Module()
	return &Launch{given, t, module}
}

// Value returns the value of a key, Missing where this version has none. set tells whether the launch sets it; pos is where,
// or else where the command stands.
func (l *Launch) Value(key string) (v schema.Value, pos schema.Pos, set bool) {
	if v, pos = l.Launch.Value(key); !v.IsMissing() {
		return v, pos.At(schema.Path(key)), true
	}
	_, pos = l.Module()
	if v = l.Default(key); !v.IsMissing() {
		return v, pos.At(schema.Path(key)), false
	}
	d, ok := defaultOf(l.Target, l.module, key)
	if !ok {
		return schema.Value{}, pos, false
	}
	if ref, ok := d.(string); ok && strings.HasPrefix(ref, "${") {
		if strings.ContainsAny(ref, ":,") {
			return schema.NullValue, pos.At(schema.Path(key)), false
		}
		v, _, _ = l.Value(ref[2 : len(ref)-1])
		return v, pos.At(schema.Path(key)), false
	}
	return fromDefault(d), pos.At(schema.Path(key)), false
}

func fromDefault(d any) schema.Value {
	switch d := d.(type) {
	case bool:
		return schema.BoolValue(d)
	case int64:
		return schema.IntValue(d)
	case float64:
		return schema.FloatValue(d)
	case string:
		return schema.TextValue(d)
	case []any:
		elems := make([]schema.Value, len(d))
		for i, e := range d {
			elems[i] = fromDefault(e)
		}
		return schema.ListValue(elems)
	}
	return schema.NullValue
}

// Text returns the value of a key where it is text, else "".
func (l *Launch) Text(key string) string {
	v, _, _ := l.Value(key)
	if v.Kind() != schema.Text {
		return ""
	}
	return v.Text()
}

// Int returns the integer of a key, 0 where it holds none.
func (l *Launch) Int(key string) int64 {
	v, _, _ := l.Value(key)
	return v.Int()
}

// Bool returns whether a key holds true.
func (l *Launch) Bool(key string) bool {
	v, _, _ := l.Value(key)
	return v.Bool()
}

// V1 reports whether the V1 trainer runs: the default since verl 0.9 (bc6fb966c, 2026-06-24). Where the launch does not say,
// the target does.
func (l *Launch) V1() bool {
	if v, _, set := l.Value(keyV1); set {
		return l.Target.Within(hasV1) && v.Bool()
	}
	return l.Target.Trainer == trainerV1
}

// A program is what a launch runs.
type program uint8

// The programs. One that verl does not have is a recipe's: as far as is known, it trains as main_ppo does.
const (
	recipeProgram program = iota
	ppoProgram            // main_ppo, or arguments without a command
	sftProgram
	otherProgram // generation, evaluation, preprocessing
)

// Program tells what the launch runs, by the name of its module.
func (l *Launch) Program() program {
	switch m := l.module; {
	case m == "" || m == "verl.trainer.main_ppo" || m == "verl.trainer.main_ppo_sync" || m == "verl.trainer.main_ppo_v0":
		return ppoProgram
	case strings.Contains(m, "sft"):
		return sftProgram
	case strings.Contains(m, "main_generation"), strings.Contains(m, "main_eval"), strings.Contains(m, "preprocess"):
		return otherProgram
	}
	return recipeProgram
}

// RL reports whether the command is an RL training of verl's, as far as its module's name tells.
func (l *Launch) RL() bool {
	p := l.Program()
	return p == ppoProgram || p == recipeProgram
}

// Number returns the number of a key; false where it holds none, or a text.
func (l *Launch) Number(key string) (float64, bool) {
	v, _, _ := l.Value(key)
	switch v.Kind() {
	case schema.Int:
		return float64(v.Int()), true
	case schema.Float:
		return v.Float(), true
	}
	return 0, false
}

// Null reports whether a key holds nothing.
func (l *Launch) Null(key string) bool {
	v, _, _ := l.Value(key)
	return v.IsNull() || v.IsMissing()
}

// A Tool is one entry of the tool configuration.
type Tool struct{ Name, Class, Type string }

// Tools returns the tools of the YAML that tool_config_path names; known is false where tools are configured in a file that
// cannot be read here.
func (l *Launch) Tools() (tools []Tool, configured, known bool) {
	path := l.Text(keyTools)
	if path == "" {
		return nil, l.Text(keyFunctions) != "", false
	}
	doc := l.Document(keyTools)
	list := doc.Field("tools")
	if list.Kind() != schema.List {
		return nil, true, false
	}
	for i := range list.Len() {
		e := list.Elem(i)
		tools = append(tools, Tool{e.Field("tool_schema").Field("function").Field("name").Text(), e.Field("class_name").Text(), e.Field("config").Field("type").Text()})
	}
	return tools, true, true
}

// Agents returns the names that agent_loop_config_path registers.
func (l *Launch) Agents() (names []string, known bool) {
	if l.Text(keyAgents) == "" {
		return nil, true
	}
	doc := l.Document(keyAgents)
	if doc.Kind() != schema.List {
		return nil, false
	}
	for i := range doc.Len() {
		if name := doc.Elem(i).Field("name").Text(); name != "" {
			names = append(names, name)
		}
	}
	return names, true
}

// Reward returns the path of the user's reward function and the key that sets it; reward.custom_reward_function since 0.7.1
// (67dc84b96), custom_reward_function before, which later versions still take (executed on 0.9.1).
func (l *Launch) Reward() (path, key string) {
	for _, key := range []string{"reward.custom_reward_function.path", "custom_reward_function.path"} {
		if path := l.Text(key); path != "" && (l.Target.Within(hasRewardLoop) || !strings.HasPrefix(key, "reward.")) {
			return path, key
		}
	}
	return "", ""
}

// Manager returns the name of the reward manager and the key that sets it.
func (l *Launch) Manager() (name, key string) {
	for _, key := range []string{"reward_model.reward_manager", "reward.reward_manager.name", "reward_manager.name"} {
		if name := l.Text(key); name != "" {
			return name, key
		}
	}
	return "naive", "reward_model.reward_manager"
}

// Backends returns the trace backends of the version, sorted.
func (l *Launch) Backends() []string {
	return slices.Sorted(slices.Values(itemsFor(l.Target, traceBackends)))
}

// Traced reports whether trajectories are traced, and if not, why.
func (l *Launch) Traced() (bool, string) {
	backend := l.Text(keyBackend)
	switch {
	case backend == "":
		return false, "no trace backend"
	case !slices.Contains(l.Backends(), backend):
		return false, "verl " + l.version() + " knows no backend " + backend
	case l.Text(keyMode) == "sync":
		return false, "rollout.mode=sync has no agent loop"
	case l.capped() && l.Int(keyCap) == 0:
		return false, "max_samples_per_step_per_worker=0"
	case l.V1():
		return false, "the V1 trainer traces nothing (trainer.use_v1=False does)"
	}
	return true, ""
}

// capped reports whether the number of traced samples is limited.
func (l *Launch) capped() bool {
	v, _, _ := l.Value(keyCap)
	return v.Kind() == schema.Int && l.Target.Within(hasTraceCap)
}

func (l *Launch) version() string { return l.Target.Version }

// TracesPerStep is how many trajectories of a training step are traced: all, or those of N samples a worker.
func (l *Launch) TracesPerStep() int64 {
	all := l.Int(keyBatch) * l.Int(keyN)
	if l.capped() {
		return min(all, l.Int(keyCap)*l.Int(keyWorkers)*l.Int(keyN))
	}
	return all
}

// Facts tells what a launch really does, with the files of its training data; nil where they are not known.
func (l *Launch) Facts(train []*rule.File) []rule.Fact {
	var out []rule.Fact
	group := ""
	add := func(name string, v schema.Value, note string, keys ...string) {
		out = append(out, rule.Fact{Group: group, Name: name, Value: v, Keys: keys, Note: note})
	}
	plain := func(minor bool, name string, keys ...string) {
		for _, key := range keys {
			if v, _, _ := l.Value(key); !v.IsMissing() {
				out = append(out, rule.Fact{Group: group, Minor: minor, Name: name, Value: v, Keys: keys})
				return
			}
		}
	}
	group = "model"
	if l.RL() {
		plain(false, "model", "actor_rollout_ref.model.path")
		plain(false, "algorithm", "algorithm.adv_estimator")
	} else {
		plain(false, "model", "model.path", "model.partial_pretrain")
	}
	group = "data"
	plain(false, "train_files", "data.train_files", "data.path")
	plain(false, "val_files", "data.val_files")
	plain(false, "batch", keyBatch)
	if !l.RL() {
		plain(true, "micro_batch", "data.micro_batch_size_per_gpu")
		plain(true, "max_length", "data.max_length")
		group = "trainer"
		l.trainerFacts(add, plain, train)
		return out
	}
	plain(false, "max_prompt_length", "data.max_prompt_length")
	plain(false, "max_response_length", "data.max_response_length")
	plain(true, "filter_overlong_prompts", "data.filter_overlong_prompts")
	group = "rollout"
	plain(false, "rollout", rollout+"name")
	l.batchFacts(add)
	group = "agent and tools"
	l.agentFacts(add)
	group = "reward"
	l.rewardFacts(add)
	group = "trainer"
	trainer := trainerV0
	if l.V1() {
		trainer = trainerV1
	}
	add("trainer", schema.TextValue(trainer), "", keyV1)
	plain(false, "mini_batch", actor+"ppo_mini_batch_size")
	plain(true, "micro_batch", actor+"ppo_micro_batch_size_per_gpu")
	plain(false, "learning_rate", actor+"optim.lr")
	l.trainerFacts(add, plain, train)
	group = "trace"
	l.traceFacts(add)
	return out
}

type addFact func(name string, v schema.Value, note string, keys ...string)

// trainerFacts are those that RL and SFT trainings have.
func (l *Launch) trainerFacts(add addFact, plain func(minor bool, name string, keys ...string), train []*rule.File) {
	plain(false, "gpus_per_node", "trainer.n_gpus_per_node")
	plain(false, "nodes", "trainer.nnodes")
	plain(false, "epochs", keyEpochs)
	plain(true, "total_steps", keyTotalSteps)
	l.stepFacts(add, train)
	plain(true, "save_freq", keySaveFreq)
	l.checkpointFact(add)
	plain(true, "test_freq", "trainer.test_freq")
	plain(false, "logger", "trainer.logger")
}

func (l *Launch) batchFacts(add addFact) {
	b, n, w := l.Int(keyBatch), l.Int(keyN), l.Int(keyWorkers)
	if g := l.Int(keyGenBatch); g > 0 {
		add("gen_batch", schema.IntValue(g), "", keyGenBatch)
	}
	add("rollouts_per_sample", schema.IntValue(n), "", keyN)
	add("trajectories_per_step", schema.IntValue(b*n), "batch × rollouts", keyBatch, keyN)
	add("workers", schema.IntValue(w), "", keyWorkers)
	if w > 0 {
		add("trajectories_per_worker", schema.IntValue((b*n+w-1)/w), "", keyWorkers, keyBatch, keyN)
	}
	add("mode", schema.TextValue(l.Text(keyMode)), "", keyMode)
}

func (l *Launch) agentFacts(add addFact) {
	agent, note := l.Text(keyAgent), "where rows have no agent_name column"
	if agent == "" {
		agent = "single_turn_agent"
	}
	if l.Text(keyMode) == "sync" && l.Target.Within(hasSyncRollout) {
		note = "rollout.mode=sync: no agent loop runs, agent_name is ignored"
	}
	add("agent_loop", schema.TextValue(agent), note, keyAgent)
	if names, known := l.Agents(); l.Text(keyAgents) != "" {
		note := ""
		if !known {
			note = "the file cannot be read here"
		}
		add("agent_loops", textList(names), note, keyAgents)
	}
	tools, configured, known := l.Tools()
	if configured {
		names, read := l.FunctionTools()
		known = (known || l.Text(keyTools) == "") && (read || l.Text(keyFunctions) == "")
		for _, t := range tools {
			names = append(names, t.Name)
		}
		note := ""
		switch {
		case !known:
			note = "the file cannot be read here"
		case agent == "single_turn_agent":
			note = "offered only to rows whose agent_name is tool_agent"
		}
		key := keyTools
		if l.Text(keyTools) == "" {
			key = keyFunctions
		}
		add("tools", textList(names), note, key)
		add("tool_format", schema.TextValue(l.Text(keyFormat)), "", keyFormat)
	}
	if v, _, _ := l.Value(keyInteract); v.Kind() == schema.Text {
		note := ""
		if !l.Target.Within(hasInteractions) {
			note = "verl 0.8 and later have no interactions"
		}
		add("interaction", v, note, keyInteract)
	}
	if l.Bool(keyMulti) {
		add("multi_turn", schema.BoolValue(true), "selects no agent loop", keyMulti)
	}
}

func (l *Launch) traceFacts(add addFact) {
	v, _, _ := l.Value(keyBackend)
	add("trace_backend", v, "", keyBackend)
	traced, why := l.Traced()
	add("traced", schema.BoolValue(traced), why, keyBackend, keyV1)
	n := int64(0)
	if traced {
		n = l.TracesPerStep()
	}
	add("traces_per_step", schema.IntValue(n), "", keyCap, keyBatch, keyN, keyWorkers)
	if v.Kind() != schema.Text {
		return
	}
	for _, name := range []string{"project_name", "experiment_name"} {
		key := rollout + "trace." + name // follows the trainer's; before 0.7 there is only that
		if _, _, set := l.Value(key); !set {
			key = "trainer." + name
		}
		add("trace_"+strings.TrimSuffix(name, "_name"), schema.TextValue(l.Text(key)), "", key)
	}
	add("trace_text", schema.BoolValue(l.Bool(keyToken)), "", keyToken)
}

func (l *Launch) rewardFacts(add addFact) {
	path, key := l.Reward()
	if path == "" {
		add("scorer", schema.TextValue("built-in"), "chosen by each row's data_source")
	} else {
		name := l.Text(strings.TrimSuffix(key, "path") + "name")
		if name == "" {
			name = "compute_score"
		}
		add("scorer", schema.TextValue(path+":"+name), "for every data_source", key)
	}
	name, key := l.Manager()
	add("reward_manager", schema.TextValue(name), "", key)
}

func textList(names []string) schema.Value {
	out := make([]schema.Value, len(names))
	for i, n := range names {
		out[i] = schema.TextValue(n)
	}
	return schema.ListValue(out)
}

// fullyAsync reports whether the fully asynchronous trainer runs.
func fullyAsync(l *Launch) bool {
	module, _ := l.Module()
	return strings.Contains(module, "fully_async")
}
