package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/schema/rule"
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

// facts tells what the launch decides.
func (t *training) facts() []rule.Fact {
	if facts := t.target.Profile().Facts; facts != nil {
		return facts(t.target, t.config)
	}
	return nil
}

// read reads a launch: file is a shell script or a YAML file, "" for arguments only.
func (l *launchFlags) read(ctx context.Context, a *app, file string, args []string, target rule.Target) (out *launched, err error) {
	dir, err := l.dir()
	if err != nil {
		return nil, err
	}
	profile := target.Profile()
	if profile == nil {
		return nil, usagef("launches of %s are not read: nothing is known of how it is launched", target)
	}
	opts := launch.OptionsFor(target)
	var opened openedFiles
	opts.Opened = opened.add
	defer func() {
		if err == nil {
			err = out.declare(a, opened.list())
		}
	}()
	out = &launched{name: file, result: &launch.Result{}}
	switch ext := filepath.Ext(file); {
	case file == "":
		if len(args) > 0 && strings.Contains(args[0], "=") || len(args) == 0 {
			args = slices.Concat(profile.Command, args)
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
		if err := l.script(ctx, a, out, file, dir, args, opened.add); err != nil {
			return nil, err
		}
	}
	commands := out.result.Commands
	if len(out.result.Assumed) > 0 {
		commands = out.result.Assumed
	}
	for i := range commands {
		if commands[i].Trains(profile) {
			out.trainings = append(out.trainings, newTraining(launch.Compose(&commands[i], opts), target))
		}
	}
	return out, nil
}

func (l *launchFlags) script(ctx context.Context, a *app, out *launched, file, dir string, args []string, opened func(path string)) error {
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
	s := &launch.Script{Name: file, Text: text, Dir: own, Cwd: dir, Env: l.environ(), Args: args, Opened: opened}
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
	case info.Size() > maxScriptFile:
		return nil, usagef("%s is no launch script: %s", file, bytesText(info.Size()))
	}
	text, err := a.readFile("launch script", file)
	if err != nil {
		return nil, fmt.Errorf("read launch script: %w", err)
	}
	return text, nil
}

// openedFiles are the files that reading a launch has opened. Its methods may be called from several goroutines at once.
type openedFiles struct {
	mu    sync.Mutex
	paths []string
}

func (o *openedFiles) add(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paths = append(o.paths, path)
}

func (o *openedFiles) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.paths)
}

// declare says that the files that were opened and those that the launch names are inputs.
func (l *launched) declare(a *app, opened []string) error {
	for _, path := range opened {
		if err := a.guard.Read("launch "+l.name, path, path); err != nil {
			return err
		}
	}
	for _, t := range l.trainings {
		err := t.config.Named(func(key, name, path string) error { return a.guard.Read(key+" of "+l.name, name, path) })
		if err != nil {
			return err
		}
	}
	return nil
}

// newTraining finds the trainer, where the launch chooses one.
func newTraining(cfg *launch.Config, target rule.Target) *training {
	if choose := target.Profile().Target; choose != nil {
		target = choose(target, cfg)
	}
	return &training{config: cfg, target: target}
}
