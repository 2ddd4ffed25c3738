package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/verl"
)

// launchFlags say how a launch is read.
type launchFlags struct {
	cwd string
	env []string
}

func (l *launchFlags) register(f *pflag.FlagSet) {
	f.StringVar(&l.cwd, "cwd", "", "working directory of the launch (default: the current one)")
	f.StringArrayVar(&l.env, "env", nil, "variable of the launch's environment, NAME=VALUE, or NAME to hand on yours; repeatable")
}

// environ is what a script sees of the environment: HOME, USER and what --env names.
func (l *launchFlags) environ() []string {
	var out []string
	for _, name := range append([]string{"HOME", "USER"}, l.env...) {
		if strings.Contains(name, "=") {
			out = append(out, name)
		} else if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

func (l *launchFlags) dir() (string, error) {
	dir, err := filepath.Abs(l.cwd)
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usagef("--cwd %s: no such directory", l.cwd)
	}
	return dir, nil
}

// A launched is a launch that was read: a script, a configuration, or arguments.
type launched struct {
	name      string
	result    *launch.Result
	trainings []*training
}

// A training is a command that trains, with what it gives the trainer.
type training struct {
	config *launch.Config
	target rule.Target
}

// launch returns the training as verl takes it.
func (t *training) launch() *verl.Launch { return verl.NewLaunch(t.target, t.config.Lookup) }

// read reads a launch: file is a shell script or a YAML file, "" for arguments only.
func (l *launchFlags) read(ctx context.Context, a *app, file string, args []string, target rule.Target) (*launched, error) {
	dir, err := l.dir()
	if err != nil {
		return nil, err
	}
	opts := launchOptions(target)
	out := &launched{name: file, result: &launch.Result{}}
	switch ext := filepath.Ext(file); {
	case file == "":
		if len(args) > 0 && strings.Contains(args[0], "=") || len(args) == 0 {
			args = append([]string{"python3", "-m", "verl.trainer.main_ppo"}, args...)
		}
		c := launch.NewCommand(args, dir)
		c.Env = l.environ()
		out.name = "arguments"
		out.result.Commands = []launch.Command{c}
	case ext == ".yaml" || ext == ".yml":
		cfg, err := launch.ComposeFile(file, dir, args, opts)
		if err != nil {
			return nil, withCode(ExitUsage, err)
		}
		cfg.Command.Env = l.environ()
		out.trainings = []*training{newTraining(cfg, target)}
		return out, nil
	default:
		if err := l.script(ctx, a, out, file, dir, args); err != nil {
			return nil, err
		}
	}
	commands := out.result.Commands
	if len(out.result.Assumed) > 0 {
		commands = out.result.Assumed
	}
	for i := range commands {
		if commands[i].Trains() {
			out.trainings = append(out.trainings, newTraining(launch.Compose(&commands[i], opts), target))
		}
	}
	return out, nil
}

func (l *launchFlags) script(ctx context.Context, a *app, out *launched, file, dir string, args []string) error {
	text, err := readScript(a, file)
	if err != nil {
		return err
	}
	own, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("find folder of script: %w", err)
	}
	if file == "-" {
		own = ""
	}
	s := &launch.Script{Name: file, Text: text, Dir: own, Cwd: dir, Env: l.environ(), Args: args}
	if out.result, err = launch.Interpret(ctx, s); err != nil {
		return withCode(ExitUsage, err)
	}
	return nil
}

// maxScriptFile is the size beyond which a file is not read as a script at all.
const maxScriptFile = 8 << 20

func readScript(a *app, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(io.LimitReader(a.stdin, maxScriptFile))
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("no such file %q (a shell script, a .yaml file, or key=value)", file)
	case err != nil:
		return nil, fmt.Errorf("read launch script: %w", err)
	case !info.Mode().IsRegular():
		return nil, usagef("%s is no shell script: not a regular file", file)
	case info.Size() > maxScriptFile:
		return nil, usagef("%s is no launch script: %s", file, bytesText(info.Size()))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read launch script: %w", err)
	}
	return text, nil
}

// launchOptions are verl's own values of the target, and its own configurations.
func launchOptions(t rule.Target) launch.Options {
	o := launch.Options{Version: fmt.Sprintf("verl %d.%d", t.Major, t.Minor), Defaults: map[string]any{}, Builtin: verlConfig}
	for key, v := range verl.Defaults(t) {
		o.Defaults[key] = asLaunch(v)
	}
	return o
}

// asLaunch gives integers the form that internal/launch holds them in.
func asLaunch(v any) any {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = asLaunch(e)
		}
		return out
	}
	return v
}

// verlConfig reports whether name is a configuration that verl or one of its recipes brings.
func verlConfig(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, "ppo_") || strings.HasPrefix(base, "sft_trainer") || strings.HasSuffix(base, "_trainer") ||
		slices.Contains([]string{"evaluation", "generation"}, base)
}

// newTraining finds the trainer: from 0.9 on trainer.use_v1 chooses it.
func newTraining(cfg *launch.Config, target rule.Target) *training {
	t := &training{config: cfg, target: target}
	if target.Minor >= 9 && cfg.Set("trainer.use_v1") {
		t.target.Trainer = "v0"
		if n := cfg.Get("trainer.use_v1"); n != nil && n.Value == true {
			t.target.Trainer = "v1"
		}
	}
	return t
}
