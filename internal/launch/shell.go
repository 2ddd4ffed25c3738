package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// What a script may cost. A launch script of verl takes some hundred calls and a millisecond.
const (
	maxScript = 4 << 20 // bytes of a script, and of what it sources
	maxCalls  = 5_000   // commands, functions and builtins called
	maxTime   = time.Second
	maxMemory = 96 << 20 // growth of the heap
	maxGlobs  = 200      // directories listed
	maxNested = 500      // brackets in brackets
	maxDeep   = 20       // scripts called by scripts
	maxNodes  = 300_000  // words, operators and the like of a script

	maxCommands = 300     // recorded; the others are not shown
	maxWords    = 100_000 // of these commands
)

// A Script is a shell script and what it is called with.
type Script struct {
	Name string   // as the user named it
	Text []byte   //
	Dir  string   // absolute: the folder below which it may source files; "": none
	Cwd  string   // absolute: its working directory
	Env  []string // NAME=VALUE: all that it sees of the caller's environment
	Args []string // $1 …

	Opened func(path string) // called with every file that the script sources; nil: nobody asks
}

// A Result is what a script would call.
type Result struct {
	Commands []Command // in order
	// Assumed are the commands that it calls where its arguments are placeholders and exit does nothing; set only where
	// it stops before its first command. Missing says what it asked for.
	Assumed []Command
	Missing string
	Notes   []Note // what was not done, and may change what is called
}

// A Note is something that the interpreter left out.
type Note struct {
	Line int
	Text string
}

// ErrLimit is wrapped by errors about scripts that were stopped: too long, too large, endless.
var ErrLimit = errors.New("script stopped")

// errEnough ends a run that has recorded as much as is shown.
var errEnough = errors.New("enough commands")

// Interpret returns what s would call. No process is started, nothing is written, and no file is read but those below s.Dir
// that the script sources. Secrets among what it calls are hidden. It ends within two seconds; a script that would take longer gives an error
// that wraps ErrLimit.
func Interpret(ctx context.Context, s *Script) (*Result, error) {
	file, err := parseScript(s.Name, s.Text)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	sh := newShell(s, file)
	if err := sh.run(ctx, maxTime, s.Args); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, g := range gaps(file) {
		sh.notes = append(sh.notes, Note{g.line, g.what + " is not interpreted as bash does; values that it makes may be wrong"})
	}
	res := &Result{Commands: sh.finish(), Notes: sh.notes}
	if len(res.Commands) > 0 {
		return res, nil
	}
	again := newShell(s, file)
	again.assume(file, len(s.Args))
	args := slices.Concat(s.Args, again.placeholders)
	again.calls = sh.calls // both runs share the limits
	if err := again.run(ctx, max(maxTime-time.Since(begun), maxTime/10), args); err != nil || len(again.commands) == 0 {
		return res, nil // it is no launch script
	}
	res.Assumed, res.Notes = again.finish(), again.notes
	res.Missing = "the script stops before its first command"
	if n := len(again.placeholders); n > 0 {
		res.Missing += fmt.Sprintf(": it asks for %d more arguments (give them after --)", n)
	}
	return res, nil
}

func parseScript(name string, text []byte) (*syntax.File, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("%s: %w: %d bytes are more than a launch script has (%d)", name, ErrLimit, len(text), maxScript)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("%s: not a shell script: it holds zero bytes", name)
	}
	if line, ok := nested(text); ok {
		return nil, fmt.Errorf("%s:%d: %w: brackets are nested more than %d deep", name, line, ErrLimit, maxNested)
	}
	text = asBash(text)
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(false)).Parse(bytes.NewReader(text), name)
	if err != nil {
		var p syntax.ParseError
		if errors.As(err, &p) {
			return nil, fmt.Errorf("%s:%d:%d: read shell script: %s", name, p.Pos.Line(), p.Pos.Col(), p.Text)
		}
		return nil, fmt.Errorf("%s: read shell script: %w", name, err)
	}
	nodes := 0
	syntax.Walk(f, func(syntax.Node) bool { nodes++; return nodes <= maxNodes })
	if nodes > maxNodes {
		return nil, fmt.Errorf("%s: %w: it has more than %d words and operators", name, ErrLimit, maxNodes)
	}
	rewrite(f)
	return f, nil
}

// nested reports where brackets are nested deeper than in any launch script: the parser and the interpreter recurse. Brackets in quotes
// and comments count too, but not beyond an empty line.
func nested(text []byte) (line int, ok bool) {
	line, depth := 1, 0
	for i, c := range text {
		switch c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		case '\n':
			if line++; i > 0 && text[i-1] == '\n' {
				depth = 0
			}
		}
		if depth > maxNested {
			return line, true
		}
	}
	return 0, false
}

// A shell is one run of a script.
type shell struct {
	script *Script
	files  []*syntax.File // the script, then what it sourced

	mu       sync.Mutex // both sides of a pipe call handlers at the same time
	commands []recorded
	notes    []Note
	calls    int
	globs    int
	words    int // of commands
	depth    int // of scripts in scripts
	mask     mask
	folder   ownFolder
	entered  map[string]bool // folders outside the script's own that cd was given: they are taken to be there
	sources  map[string]bool // absolute paths that source may open
	slept    map[syntax.Pos]int
	pipes    map[string]chan struct{} // left sides of pipes that are done, by number
	stopped  error
	lost     []lost

	placeholders []string // arguments that the script was given beside the user's
	assumed      []string // all placeholders, also of variables
	lenient      bool     // exit does nothing, and neither do set -e and set -u
}

// lost are overrides that bash takes for a command of their own.
type lost struct {
	after int // commands that were recorded before
	pos   syntax.Pos
	args  []string
}

// recorded is a command and the place of its call.
type recorded struct {
	cmd Command
	pos syntax.Pos
}

func newShell(s *Script, f *syntax.File) *shell {
	return &shell{script: s, files: []*syntax.File{f}, folder: newOwnFolder(s.Dir), entered: map[string]bool{}, sources: map[string]bool{}, slept: map[syntax.Pos]int{}, pipes: map[string]chan struct{}{}}
}

// run interprets the script, with args as $1 …
func (sh *shell) run(ctx context.Context, limit time.Duration, args []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: it does not end within %v", ErrLimit, maxTime))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("interpret shell script: %v", r)
			}
		}()
		done <- sh.interpret(ctx, sh.files[0], sh.script.Cwd, sh.environ(), args)
	}()
	go watchMemory(ctx, stop)
	select {
	case err := <-done:
		sh.mu.Lock()
		defer sh.mu.Unlock()
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		switch {
		case errors.Is(sh.stopped, errEnough):
			return nil
		case sh.stopped != nil:
			return sh.stopped
		}
		return fatal(err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fatal returns err where it is more than the status that the script ends with.
func fatal(err error) error {
	var status interp.ExitStatus
	if errors.As(err, &status) {
		return nil
	}
	return err
}

// watchMemory stops a run whose heap grows beyond what a launch script needs (a=$a$a in a loop).
func watchMemory(ctx context.Context, stop context.CancelCauseFunc) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	first := sample[0].Value.Uint64()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(sample)
		if now := sample[0].Value.Uint64(); now > first+maxMemory {
			stop(fmt.Errorf("%w: its variables take more than %d MiB", ErrLimit, maxMemory>>20))
			return
		}
	}
}

// noTemp is where the interpreter would make named pipes: nothing can be made there.
const noTemp = "/dev/null/none"

// An environ is the environment of a run. The interpreter asks for TMPDIR once, when it starts, to make named pipes there
// (for process substitutions in text that is evaluated): it gets a place where none can be made.
type environ struct {
	expand.Environ
	started bool
	shell   map[string]string // what bash sets itself, and the interpreter does not
}

// Get implements expand.Environ.
func (e *environ) Get(name string) expand.Variable {
	if name == "TMPDIR" && !e.started {
		e.started = true
		return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: noTemp}
	}
	if v := e.Environ.Get(name); v.IsSet() {
		return v
	}
	if s, ok := e.shell[name]; ok {
		return expand.Variable{Set: true, Kind: expand.String, Str: s}
	}
	return expand.Variable{}
}

func (sh *shell) environ() []string {
	env := slices.Clone(sh.script.Env)
	for _, name := range sh.assumed[min(len(sh.placeholders), len(sh.assumed)):] {
		env = append(env, name+"="+name)
	}
	return env
}

func (sh *shell) interpret(ctx context.Context, f *syntax.File, dir string, env, args []string) error {
	host, _ := os.Hostname()
	own := map[string]string{"BASH_SOURCE": f.Name, "BASH_VERSION": "5.2.0(1)-release", "HOSTNAME": host, "OSTYPE": "linux-gnu", "SHLVL": "1"}
	r, err := interp.New(
		interp.Env(&environ{Environ: expand.ListEnviron(env...), shell: own}),
		interp.Dir(dir),
		interp.StdIO(nil, io.Discard, io.Discard),
		interp.CallHandler(sh.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return sh.exec }),
		interp.OpenHandler(sh.open),
		interp.ReadDirHandler2(sh.readDir),
		interp.StatHandler(sh.stat),
		interp.AccessHandler(sh.access),
		interp.Params(append([]string{"--"}, args...)...),
	)
	if err != nil {
		return fmt.Errorf("interpret shell script: %w", err)
	}
	return r.Run(ctx, f)
}

// idle are builtins that change only the shell itself, and that the interpreter lacks.
var idle = []string{"ulimit", "umask", "bind", "enable", "complete", "compgen", "compopt", "disown", "fc", "fg", "bg", "jobs", "kill", "history", "hash",
	"logout", "newgrp", "suspend", "caller"}

// wide finds a width of more than four digits in a format of printf.
var wide = regexp.MustCompile(`%[-+ 0#']*(\*|[0-9]{5,})|%[^%a-zA-Z]*\.(\*|[0-9]{5,})`)

// call sees every command before the shell does.
func (sh *shell) call(ctx context.Context, args []string) ([]string, error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.calls++
	if sh.calls > maxCalls && sh.stopped == nil {
		sh.stopped = fmt.Errorf("%w: it calls more than %d commands (an endless loop?)", ErrLimit, maxCalls)
	}
	if sh.stopped != nil {
		return nil, sh.stopped
	}
	switch name := args[0]; {
	case slices.Contains(idle, name):
		return []string{"true"}, nil
	case name == "source" || name == ".":
		sh.maySource(ctx, args)
	case name == "printf" && slices.ContainsFunc(args[1:], wide.MatchString):
		return []string{"true"}, nil
	case name == "printf" && len(args) > 3 && args[1] == "-v" && syntax.ValidName(args[2]):
		return printfInto(args[2], args[3:]), nil
	case name == "command" && len(args) == 3 && args[1] == "-v" && here(args[2]):
		return []string{"echo", "/usr/bin/" + args[2]}, nil
	case (name == "command" || name == "type") && len(args) > 1 && sh.looksUp(args[len(args)-1]):
		return []string{"false"}, nil
	case name == "cd":
		sh.enter(ctx, args)
	case sh.lenient && name == "exit":
		return []string{"true"}, nil
	case sh.lenient && name == "set":
		return withoutErrors(args), nil
	}
	return args, nil
}

// here reports whether a program is taken to be installed: what is recorded, and what is answered.
func here(name string) bool {
	return program(name) != "" || answers[name] != nil || name == "bash" || name == "sh" || name == "env"
}

// printfInto is "printf -v name …", which the interpreter lacks.
func printfInto(name string, args []string) []string {
	text := name + `="$(printf`
	for _, a := range args {
		q, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			return []string{"true"}
		}
		text += " " + q
	}
	return []string{"eval", text + `)"`}
}

// withoutErrors takes -e and -u out of the arguments of set.
func withoutErrors(args []string) []string {
	var out []string
	for i, a := range args {
		switch {
		case (a == "errexit" || a == "nounset") && i > 0 && strings.HasSuffix(args[i-1], "o"):
			a = "noglob"
			out[len(out)-1] = "+o" // what is off stays off
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			a = "-" + strings.NewReplacer("e", "", "u", "").Replace(a[1:])
			if a == "-" {
				a = "+x"
			}
		case a == "--":
			return append(out, args[i:]...)
		}
		out = append(out, a)
	}
	return out
}

// open answers what the script sources; what it would write is thrown away, what else it would read is empty or refused.
func (sh *shell) open(ctx context.Context, path string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(hc.Dir, abs)
	}
	abs = filepath.Clean(abs)
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 || abs == os.DevNull || strings.HasPrefix(abs, "/dev/fd/") {
		return &nothing{}, nil
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.sources[abs] {
		text, err := sh.own(abs)
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return &nothing{text: bytes.NewReader(text)}, nil
	}
	if _, err := sh.folder.stat(abs, true); !errors.Is(err, fs.ErrNotExist) {
		sh.note(hc.Pos, "%s is not read; what the script takes from it is missing", path)
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// nothing is a file that takes what is written and has text to read.
type nothing struct{ text *bytes.Reader }

// Read implements io.Reader.
func (n *nothing) Read(p []byte) (int, error) {
	if n.text == nil {
		return 0, io.EOF
	}
	return n.text.Read(p)
}

// Write implements io.Writer.
func (n *nothing) Write(p []byte) (int, error) { return len(p), nil }

// Close implements io.Closer.
func (n *nothing) Close() error { return nil }

// note keeps a note once; sh.mu is held.
func (sh *shell) note(pos syntax.Pos, format string, args ...any) {
	n := Note{Line: int(pos.Line()), Text: fmt.Sprintf(format, args...)}
	if len(sh.notes) < 50 && !slices.Contains(sh.notes, n) {
		sh.notes = append(sh.notes, n)
	}
}

// assume makes placeholders for the arguments beyond given that the script names, and for the variables that it asks for.
func (sh *shell) assume(f *syntax.File, given int) {
	sh.lenient = true
	most := 0
	var vars []string
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.ParamExp:
			if n.Param == nil {
				return true
			}
			name := n.Param.Value
			if i, err := strconv.Atoi(name); err == nil {
				most = max(most, min(i, 20))
			} else if n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull) && syntax.ValidName(name) {
				vars = append(vars, name)
			}
		}
		return true
	})
	for i := given + 1; i <= most; i++ {
		sh.placeholders = append(sh.placeholders, fmt.Sprintf("ARG%d", i))
	}
	have := func(name string) bool {
		return slices.ContainsFunc(sh.script.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	sh.assumed = slices.Clone(sh.placeholders)
	for _, v := range vars {
		if !have(v) && !slices.Contains(sh.assumed, v) {
			sh.assumed = append(sh.assumed, v)
		}
	}
}
