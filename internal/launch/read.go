package launch

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

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Request says which launch is read, and what it sees.
type Request struct {
	File   string      // a YAML file (.yaml, .yml), or else a shell script; "-": a script on Stdin; "": Args alone
	Args   []string    // of the script, or overrides of the YAML file; without File the whole command, or what follows the framework's own
	Target rule.Target // whose profile says what trains, and whose defaults hold
	Dir    string      // absolute: the working directory of the launch
	Env    []string    // NAME=VALUE: all that the launch sees of the caller's environment
	Stdin  io.Reader   // for File "-"

	// Reads is called for every file that is read and for every file that a training names, with the name that the launch uses and the path here;
	// its error ends Read. Role says what reads it: "launch run.sh", "data.train_files of run.sh". Nil: nobody asks.
	Reads func(role, name, path string) error
}

// A Launch is a launch that was read: a script, a configuration, or arguments.
type Launch struct {
	Name      string // of the file, or "arguments"
	Result    *Result
	Trainings []*Training
}

// A Training is a command that trains, with what it gives the trainer.
type Training struct {
	Config *Config
	Target rule.Target // with the trainer that the launch chooses
}

// A ContentError is a file that was read and is not a launch: bash or YAML would refuse it.
type ContentError struct{ Err error }

func (e *ContentError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *ContentError) Unwrap() error { return e.Err }

// ExitCode is the status that such an error ends the process with: reading the file again does not help.
func (e *ContentError) ExitCode() int { return 2 }

// Environ returns what a launch sees of this process's environment, NAME=VALUE: HOME, USER and those of names that are set. A name may bring its value.
func Environ(names []string) []string {
	var out []string
	for _, name := range append([]string{"HOME", "USER"}, names...) {
		if strings.Contains(name, "=") {
			out = append(out, name)
		} else if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// Read reads a launch and composes what each of its trainings gives the trainer. Nothing is started. A *misuse.Error says what was asked for wrongly, a
// *ContentError what is wrong in the file.
func Read(ctx context.Context, r Request) (*Launch, error) {
	profile := r.Target.Profile()
	if profile == nil {
		return nil, misuse.Errorf("launches of %s are not read: nothing is known of how it is launched", r.Target)
	}
	var opened openedFiles
	opts := OptionsFor(r.Target)
	opts.Opened = opened.add
	l := &Launch{Name: r.File, Result: &Result{}}
	var err error
	switch ext := filepath.Ext(r.File); {
	case r.File == "":
		l.arguments(&r, profile)
	case ext == ".yaml" || ext == ".yml":
		err = l.configuration(&r, opts)
	default:
		err = l.script(ctx, &r, opened.add)
	}
	if err != nil {
		return nil, err
	}
	commands := l.Result.Commands
	if len(l.Result.Assumed) > 0 {
		commands = l.Result.Assumed
	}
	for i := range commands {
		if commands[i].Trains(profile) {
			l.Trainings = append(l.Trainings, newTraining(Compose(&commands[i], opts), r.Target))
		}
	}
	return l, l.declare(r.Reads, opened.list())
}

// arguments makes a launch of a command, or of what follows the framework's own.
func (l *Launch) arguments(r *Request, profile *rule.Profile) {
	args := r.Args
	if len(args) == 0 || strings.Contains(args[0], "=") {
		args = slices.Concat(profile.Command, args)
	}
	c := NewCommand(args, r.Dir)
	c.Env = r.Env
	l.Name = "arguments"
	l.Result.Commands = []Command{c}
}

// configuration makes a launch of a YAML file: one training, without a command that is called.
func (l *Launch) configuration(r *Request, opts Options) error {
	cfg, err := ComposeFile(r.File, r.Dir, r.Args, opts)
	if err != nil {
		return &ContentError{err}
	}
	if profile := r.Target.Profile(); !cfg.of(profile) {
		return &ContentError{fmt.Errorf("%s: no configuration of %s: it has no key that begins with %s", r.File, r.Target, strings.Join(profile.Keys, ", "))}
	}
	cfg.Command.Env = r.Env
	l.Trainings = []*Training{newTraining(cfg, r.Target)}
	return nil
}

// script makes a launch of what a shell script calls.
func (l *Launch) script(ctx context.Context, r *Request, opened func(path string)) error {
	text, err := readScript(ctx, r)
	if err != nil {
		return err
	}
	own, err := filepath.Abs(filepath.Dir(r.File))
	if err != nil {
		return fmt.Errorf("find folder of script: %w", err)
	}
	if r.File == "-" {
		own = ""
	}
	s := &Script{Name: r.File, Text: text, Dir: own, Cwd: r.Dir, Env: r.Env, Args: r.Args, Opened: opened}
	if l.Result, err = Interpret(ctx, s); err != nil {
		return &ContentError{err}
	}
	return nil
}

// maxScriptFile is the size in bytes beyond which a file is not read as a script at all.
const maxScriptFile = 8 << 20

func readScript(ctx context.Context, r *Request) ([]byte, error) {
	if r.File == "-" {
		return io.ReadAll(io.LimitReader(r.Stdin, maxScriptFile))
	}
	info, err := os.Stat(r.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, misuse.Errorf("no such file %q (a shell script, a .yaml file, or key=value)", r.File)
	case err != nil:
		return nil, fmt.Errorf("read launch script: %w", err)
	case strings.HasSuffix(r.File, ".py"):
		return nil, misuse.Errorf("%s is Python: name the shell script, or the YAML file, that starts the training", r.File)
	case info.Size() > maxScriptFile:
		return nil, misuse.Errorf("%s is no launch script: %s", r.File, amount.Bytes(info.Size()))
	}
	if r.Reads != nil {
		if err := r.Reads("launch script", r.File, r.File); err != nil {
			return nil, fmt.Errorf("read launch script: %w", err)
		}
	}
	text, err := infile.ReadAll(ctx, r.File)
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

// declare calls reads for the files that were opened and those that the launch names.
func (l *Launch) declare(reads func(role, name, path string) error, opened []string) error {
	if reads == nil {
		return nil
	}
	for _, path := range opened {
		if err := reads("launch "+l.Name, path, path); err != nil {
			return err
		}
	}
	for _, t := range l.Trainings {
		if err := t.Config.Named(func(key, name, path string) error { return reads(key+" of "+l.Name, name, path) }); err != nil {
			return err
		}
	}
	return nil
}

// newTraining finds the trainer, where the launch chooses one.
func newTraining(cfg *Config, target rule.Target) *Training {
	if choose := target.Profile().Target; choose != nil {
		target = choose(target, cfg)
	}
	return &Training{Config: cfg, Target: target}
}

// Facts returns what the training decides, with the files of training data that it names; nil where they are not known.
func (t *Training) Facts(train []*rule.File) []rule.Fact {
	if facts := t.Target.Profile().Facts; facts != nil {
		return facts(t.Target, t.Config, train)
	}
	return nil
}

// Data returns the files of training and of validation data that the training names and that exist here.
func (t *Training) Data() (train, val []string) {
	p := t.Target.Profile()
	return t.Config.Files(p.TrainFiles), t.Config.Files(p.ValFiles)
}
