package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/misuse"
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

func (l *launchFlags) dir() (string, error) {
	dir, err := filepath.Abs(l.cwd)
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", misuse.Errorf("--cwd %s: no such directory", l.cwd)
	}
	return dir, nil
}

// read reads a launch: file is a shell script or a YAML file, "" for arguments only.
func (l *launchFlags) read(ctx context.Context, a *app, file string, args []string, target rule.Target) (*launch.Launch, error) {
	dir, err := l.dir()
	if err != nil {
		return nil, err
	}
	one, err := launch.Read(ctx, launch.Request{File: file, Args: args, Target: target, Dir: dir, Env: launch.Environ(l.env), Stdin: a.stdin, Reads: a.guard.Read})
	return one, asUsage(err)
}
