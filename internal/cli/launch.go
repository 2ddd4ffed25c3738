package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
)

// A launchRun is one run of the command.
type launchRun struct {
	app    *app
	flags  launchFlags
	target string
	json   bool
	diff   bool
	all    bool
}

func newLaunch(a *app) *cobra.Command {
	l := &launchRun{app: a}
	cmd := &cobra.Command{
		Use:   "launch SCRIPT|CONFIG|KEY=VALUE… [-- ARGS…]",
		Short: "show what a launch script really gives the trainer",
		Long: `Shows what a launch will really do: the commands that a shell script calls, and of each training the agent loop,
tools, trace, batch arithmetic and reward, each with the line it comes from, or as a default of that version of verl.
The script is interpreted: nothing is started and nothing is written. It sees the files of its own folder and below, reads
those that it sources, and the configurations that it names; all others are unknown. Tokens, keys and passwords are shown
as ***. ARGS are the script's arguments, or without a script the command.`,
		Example: `  rlprep launch run.sh -- trainer.use_v1=False
  rlprep launch --diff run_a.sh run_b.sh
  rlprep launch -- python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.trace.backend=mlflow`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		RunE:        l.run,
	}
	f := cmd.Flags()
	l.flags.register(f)
	f.StringVar(&l.target, "target", rule.DefaultTarget().String(), "trainer and version whose defaults hold: "+rule.TargetNames())
	f.BoolVar(&l.json, "json", false, "print an object with commands and effective")
	f.BoolVar(&l.all, "all", false, "also show settings that nothing sets and that rarely matter")
	f.BoolVar(&l.diff, "diff", false, "print what two launches do differently")
	return cmd
}

func (l *launchRun) run(cmd *cobra.Command, args []string) error {
	target, err := rule.ParseTarget(l.target)
	if err != nil {
		return &misuse.Error{Err: err}
	}
	var rest []string
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args, rest = args[:n], args[n:]
	}
	var files, keys []string
	for _, arg := range args {
		if isOverride(arg) {
			keys = append(keys, arg)
		} else {
			files = append(files, arg)
		}
	}
	rest = append(keys, rest...)
	want := 1
	if l.diff {
		want = 2
	}
	switch {
	case len(files) > want:
		return misuse.Errorf("unexpected argument %q", files[want])
	case l.diff && len(files) < 2:
		return misuse.Errorf("--diff: expected two launches")
	case len(files)+len(rest) == 0:
		return misuse.Errorf("no launch: name a script, a .yaml file, or key=value")
	case len(files) == 0:
		files = []string{""}
	}
	var launches []*launch.Launch
	for _, file := range files {
		one, err := l.flags.read(cmd.Context(), l.app, file, rest, target)
		if err != nil {
			return err
		}
		launches = append(launches, one)
	}
	if l.diff {
		return l.differences(launches[0], launches[1])
	}
	return l.show(launches[0])
}

// isOverride tells "key=value" from the name of a file.
func isOverride(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && !strings.Contains(key, "/") || strings.HasPrefix(arg, "~") && !strings.HasPrefix(arg, "~/")
}

// A launchedValue is a value with where it comes from.
type launchedValue struct {
	Value   any      `json:"value"`
	From    string   `json:"from"`
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"`
	Vars    []string `json:"vars,omitempty"`
	Assumed bool     `json:"assumed,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func newLaunchedValue(v any, s launch.Source, note string) launchedValue {
	return launchedValue{Value: v, From: s.String(), File: s.File, Line: s.Line, Vars: s.Vars, Assumed: s.Assumed, Note: note}
}

// A launchedCommand is a command as --json shows it.
type launchedCommand struct {
	Line      int               `json:"line"`
	File      string            `json:"file,omitempty"`
	Argv      []string          `json:"argv"`
	Inner     string            `json:"inner,omitempty"`
	Module    string            `json:"module,omitempty"`
	Overrides []launch.Override `json:"overrides"`
	Errors    []string          `json:"errors,omitempty"`
}

// A launchedEffect is what one training does.
type launchedEffect struct {
	Command  int                      `json:"command"` // index in commands, or in assumed
	Module   string                   `json:"module"`
	Target   string                   `json:"target"`
	Facts    map[string]launchedValue `json:"facts"`
	Config   map[string]launchedValue `json:"config"`
	Problems []string                 `json:"problems,omitempty"`
	Notes    []string                 `json:"notes,omitempty"`

	names  []string // of Facts, in order
	groups map[string]string
	minor  map[string]bool // those that are shown only where the launch sets them
}

// A launchReport is what --json prints.
type launchReport struct {
	Launch    string            `json:"launch"`
	Commands  []launchedCommand `json:"commands"`
	Assumed   []launchedCommand `json:"assumed,omitempty"`
	Missing   string            `json:"missing,omitempty"`
	Effective *launchedEffect   `json:"effective"`
	Further   []*launchedEffect `json:"further,omitempty"` // trainings after the first
	Notes     []string          `json:"notes,omitempty"`
}

func describeLaunch(l *launch.Launch) *launchReport {
	r := &launchReport{Launch: l.Name, Commands: describeCommands(l.Result.Commands), Missing: l.Result.Missing}
	if len(l.Result.Assumed) > 0 {
		r.Assumed = describeCommands(l.Result.Assumed)
	}
	for _, n := range l.Result.Notes {
		at := l.Name
		if n.Line > 0 {
			at += fmt.Sprintf(":%d", n.Line)
		}
		r.Notes = append(r.Notes, at+": "+n.Text)
	}
	for _, t := range l.Trainings {
		e := newEffect(t)
		for i := range l.Result.Commands {
			if &l.Result.Commands[i] == t.Config.Command {
				e.Command = i
			}
		}
		for i := range l.Result.Assumed {
			if &l.Result.Assumed[i] == t.Config.Command {
				e.Command = i
			}
		}
		if r.Effective == nil {
			r.Effective = e
		} else {
			r.Further = append(r.Further, e)
		}
	}
	return r
}

func describeCommands(commands []launch.Command) []launchedCommand {
	out := []launchedCommand{}
	for i := range commands {
		c := &commands[i]
		overrides := c.Overrides
		if overrides == nil {
			overrides = []launch.Override{}
		}
		out = append(out, launchedCommand{c.Line, c.File, c.Argv, c.Carrier, c.Module(), overrides, c.Errors})
	}
	return out
}

// newEffect gathers what a training does.
func newEffect(t *launch.Training) *launchedEffect {
	cfg := t.Config
	module, _ := cfg.Module()
	e := &launchedEffect{Module: module, Target: t.Target.String(), Facts: map[string]launchedValue{}, Config: map[string]launchedValue{}, Notes: cfg.Notes, groups: map[string]string{}, minor: map[string]bool{}}
	for _, f := range t.Facts() {
		e.names = append(e.names, f.Name)
		e.groups[f.Name], e.minor[f.Name] = f.Group, f.Minor
		e.Facts[f.Name] = newLaunchedValue(json.RawMessage(f.Value.AppendJSON(nil)), sourceOf(t, f.Keys), f.Note)
	}
	for _, key := range cfg.Leaves() {
		if n := cfg.Get(key); n != nil {
			e.Config[key] = newLaunchedValue(hydra.JSONValue(n.Any()), n.Source, "")
		}
	}
	for _, p := range cfg.Problems {
		e.Problems = append(e.Problems, fmt.Sprintf("%s: %s", p.Source, p.Text))
	}
	return e
}

// sourceOf is where a fact comes from: the first of its keys that the launch sets, else the first.
func sourceOf(t *launch.Training, keys []string) launch.Source {
	for _, key := range keys {
		if n := t.Config.Get(key); n != nil && t.Config.Set(key) {
			return n.Source
		}
	}
	for _, key := range keys {
		if n := t.Config.Get(key); n != nil {
			return n.Source
		}
	}
	return launch.Source{Note: launch.OptionsFor(t.Target).Version}
}

func (l *launchRun) show(one *launch.Launch) error {
	r := describeLaunch(one)
	if l.json {
		return printJSON(l.app.stdout, r)
	}
	w := l.app.stdout
	if len(r.Commands)+len(r.Assumed) == 0 && r.Effective == nil {
		escape.Fprintf(w, "%s: calls none of python, torchrun, ray, srun, sbatch, accelerate\n", r.Launch)
	}
	printCommandList(w, r.Commands, "")
	if r.Missing != "" {
		escape.Fprintf(w, "%s: %s; with placeholders it calls:\n", r.Launch, r.Missing)
		printCommandList(w, r.Assumed, " (assumed)")
	}
	if r.Effective != nil {
		for _, e := range append([]*launchedEffect{r.Effective}, r.Further...) {
			escape.Fprintln(w)
			e.print(w, r.Launch, l.all)
		}
	}
	for _, n := range r.Notes {
		escape.Fprintf(w, "note: %s\n", n)
	}
	return nil
}

func printCommandList(w io.Writer, commands []launchedCommand, mark string) {
	for _, c := range commands {
		at := ""
		if c.File != "" {
			at = fmt.Sprintf("%s:%d: ", c.File, c.Line)
		}
		words := slices.DeleteFunc(slices.Clone(c.Argv), func(a string) bool { return strings.Contains(a, "=") && !strings.HasPrefix(a, "-") })
		text := strings.Join(words, " ")
		if len(text) > 120 {
			text = strings.ToValidUTF8(text[:120], "") + "…"
		}
		if c.Inner != "" {
			mark = " (carried by " + c.Inner + ")" + mark
		}
		escape.Fprintf(w, "%s%s: %d overrides%s\n", at, text, len(c.Overrides), mark)
		for _, e := range c.Errors {
			escape.Fprintf(w, "  %s\n", e)
		}
	}
}

// print shows the facts by their groups; all: those that nothing sets and that rarely matter, too. What stands in the launch itself is shown by
// its line.
func (e *launchedEffect) print(w io.Writer, name string, all bool) {
	if e.Module != "" {
		escape.Fprintf(w, "%s on %s\n", e.Module, e.Target)
	} else {
		escape.Fprintf(w, "on %s\n", e.Target)
	}
	width, most := 0, 0
	names := slices.DeleteFunc(slices.Clone(e.names), func(n string) bool {
		return !all && e.minor[n] && strings.HasPrefix(e.Facts[n].From, "default")
	})
	for _, name := range names {
		width = max(width, len(name))
		if n := len(e.Facts[name].text()); n <= 44 {
			most = max(most, n)
		}
	}
	group := ""
	for _, fact := range names {
		if g := e.groups[fact]; g != group {
			group = g
			escape.Fprintf(w, "%s\n", g)
		}
		v := e.Facts[fact]
		note := ""
		if v.Note != "" {
			note = ": " + v.Note
		}
		from := v.From
		if v.File == name && v.Line > 0 {
			from = strings.TrimPrefix(from, name)
		}
		escape.Fprintf(w, "  %-*s  %-*s  %s%s\n", width, fact, most, v.text(), from, note)
	}
	for _, p := range e.Problems {
		escape.Fprintf(w, "  problem: %s\n", p)
	}
	for _, n := range e.Notes {
		escape.Fprintf(w, "  note: %s\n", n)
	}
}

// text is a value on one line: a text without quotes.
func (v launchedValue) text() string {
	raw, ok := v.Value.(json.RawMessage)
	if !ok {
		b, err := json.Marshal(v.Value)
		if err != nil {
			return fmt.Sprint(v.Value)
		}
		raw = b
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" && s == strings.TrimSpace(s) {
		return s
	}
	return string(raw)
}

// differences prints what the first trainings of two launches do differently.
func (l *launchRun) differences(a, b *launch.Launch) error {
	for _, one := range []*launch.Launch{a, b} {
		if len(one.Trainings) == 0 {
			return misuse.Errorf("%s starts no training", one.Name)
		}
	}
	out := diffLaunches(a.Trainings[0], b.Trainings[0])
	if l.json {
		return printJSON(l.app.stdout, out)
	}
	if len(out) == 0 {
		escape.Fprintf(l.app.stdout, "%s and %s do the same\n", a.Name, b.Name)
	}
	for _, d := range out {
		escape.Fprintln(l.app.stdout, d.Name)
		for i, v := range []*launchedValue{d.A, d.B} {
			if v == nil {
				escape.Fprintf(l.app.stdout, "  %s -\n", "ab"[i:i+1])
				continue
			}
			escape.Fprintf(l.app.stdout, "  %s %s  %s\n", "ab"[i:i+1], v.text(), v.From)
		}
	}
	return nil
}

// A launchDifference is a fact or a key whose value differs; nil where one side has none.
type launchDifference struct {
	Name string         `json:"name"`
	A    *launchedValue `json:"a"`
	B    *launchedValue `json:"b"`
}

// diffLaunches compares the facts, then every key that either of them sets.
func diffLaunches(a, b *launch.Training) []launchDifference {
	out := []launchDifference{}
	compare := func(name string, x, y *launchedValue) {
		if x == nil && y == nil || x != nil && y != nil && x.text() == y.text() {
			return
		}
		out = append(out, launchDifference{name, x, y})
	}
	x, y := newEffect(a), newEffect(b)
	at := func(m map[string]launchedValue, name string) *launchedValue {
		if v, ok := m[name]; ok {
			return &v
		}
		return nil
	}
	names := slices.Clone(x.names)
	for _, n := range y.names {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		compare(n, at(x.Facts, n), at(y.Facts, n))
	}
	keys := append(a.Config.Leaves(), b.Config.Leaves()...)
	slices.Sort(keys)
	value := func(t *launch.Training, key string) *launchedValue {
		n := t.Config.Get(key)
		if n == nil {
			return nil
		}
		v := newLaunchedValue(hydra.JSONValue(n.Any()), n.Source, "")
		return &v
	}
	for _, k := range slices.Compact(keys) {
		compare(k, value(a, k), value(b, k))
	}
	return out
}
