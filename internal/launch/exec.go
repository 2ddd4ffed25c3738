package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// exec stands for every program that the script calls: some are recorded, some are answered, the others do nothing and
// succeed.
func (sh *shell) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	for {
		rest, wrapped := unwrap(args)
		if !wrapped {
			break
		}
		if args = rest; len(args) == 0 {
			return nil
		}
	}
	if program(args[0]) != "" {
		sh.record(hc, args)
		return nil
	}
	if lostOverride(args[0]) {
		sh.mu.Lock()
		sh.lost = append(sh.lost, lost{len(sh.commands), hc.Pos, slices.Clone(args)})
		sh.mu.Unlock()
		return interp.ExitStatus(127)
	}
	switch base := filepath.Base(args[0]); base {
	case pipeDone:
		sh.pipe(args[1]) <- struct{}{}
		if hc.LastExitStatus != 0 {
			return interp.ExitStatus(hc.LastExitStatus)
		}
		return nil
	case pipeWait:
		sh.await(ctx, args[1])
		return nil
	case "which":
		if len(args) == 2 && here(args[1]) {
			fmt.Fprintln(hc.Stdout, "/usr/bin/"+args[1])
			return nil
		}
		return interp.ExitStatus(1)
	case "sleep":
		return sh.sleep(ctx, hc)
	case "bash", "sh", "zsh", "dash":
		return sh.nested(ctx, hc, args)
	case "docker", "podman", "singularity", "apptainer", "ssh", "kubectl", "mpirun", "uv", "conda", "deepspeed", "horovodrun":
		sh.mu.Lock()
		sh.carried(hc, base, args)
		sh.mu.Unlock()
		return nil
	}
	return sh.other(ctx, hc, args)
}

// other is exec for a program that has no case of its own: another script is run, a few programs are answered.
func (sh *shell) other(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if strings.Contains(args[0], "/") && strings.HasSuffix(args[0], ".sh") {
		return sh.nested(ctx, hc, append([]string{"bash"}, args...))
	}
	base := filepath.Base(args[0])
	if base == "realpath" || base == "readlink" {
		return sh.realpath(hc, args)
	}
	if answer := answers[base]; answer != nil {
		return answer(hc, args)
	}
	if hc.Stdout != io.Discard && args[0] != "tee" {
		sh.mu.Lock()
		sh.note(hc.Pos, "%s is not called; where its output is used, it is empty", args[0])
		sh.mu.Unlock()
	}
	return nil
}

// await waits for a pipe's left side.
func (sh *shell) await(ctx context.Context, id string) {
	select {
	case <-sh.pipe(id):
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond): // the left side reads what does not exist, or has left the shell
	}
}

// pipe returns the channel of a pipe's left side.
func (sh *shell) pipe(id string) chan struct{} {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.pipes[id] == nil {
		sh.pipes[id] = make(chan struct{}, maxCalls)
	}
	return sh.pipes[id]
}

// maxSleeps is how often a loop may sleep at one place: it waits for something that does not happen here, or for ever.
const maxSleeps = 3

func (sh *shell) sleep(ctx context.Context, hc interp.HandlerContext) error {
	sh.mu.Lock()
	sh.slept[hc.Pos]++
	over := sh.slept[hc.Pos] > maxSleeps
	sh.mu.Unlock()
	if over {
		return hc.Builtin(ctx, []string{"break"})
	}
	return nil
}

// unwrap takes off a program that only calls another one as it is.
func unwrap(args []string) (rest []string, ok bool) {
	i := 1
	switch filepath.Base(args[0]) {
	case "nohup", "time", "setsid", "command":
	case "env":
		for i < len(args) && (strings.Contains(args[i], "=") || strings.HasPrefix(args[i], "-")) {
			if args[i] == "-u" {
				i++
			}
			i++
		}
	case "timeout", "nice", "stdbuf", "sudo", "numactl", "taskset", "ionice":
		i = skipOptions(args, 1, map[string]bool{"-k": true, "-s": true, "-n": true, "-o": true, "-e": true, "-i": true, "-u": true, "-c": filepath.Base(args[0]) != "ionice"})
		if b := filepath.Base(args[0]); (b == "timeout" || b == "taskset") && i < len(args) {
			i++
		}
	default:
		return args, false
	}
	return args[min(i, len(args)):], true
}

// skipOptions returns the index of the first argument from i on that is no option; valued options take the next one.
func skipOptions(args []string, i int, valued map[string]bool) int {
	for i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "-" {
		if args[i] == "--" {
			return i + 1
		}
		if valued[args[i]] {
			i++
		}
		i++
	}
	return i
}

func (sh *shell) record(hc interp.HandlerContext, args []string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.add(hc, args, "")
	sh.carried(hc, program(args[0]), args)
}

// add records a command, as long as there are not too many; sh.mu is held.
func (sh *shell) add(hc interp.HandlerContext, args []string, inner string) {
	sh.words += len(args)
	if len(sh.commands) >= maxCommands || sh.words > maxWords {
		sh.note(hc.Pos, "only the first %d commands are shown", len(sh.commands))
		sh.stopped = errEnough
		return
	}
	hc.Env.Each(func(name string, v expand.Variable) bool {
		if v.Kind == expand.String {
			sh.mask.learn(name, v.Str)
		}
		return true
	})
	c := Command{Argv: slices.Clone(args), Env: exported(hc), Dir: hc.Dir, Carrier: inner, Line: int(hc.Pos.Line())}
	sh.commands = append(sh.commands, recorded{c, hc.Pos})
}

func exported(hc interp.HandlerContext) []string {
	vars := map[string]string{}
	hc.Env.Each(func(name string, v expand.Variable) bool {
		delete(vars, name)
		if v.IsSet() && v.Exported && v.Kind == expand.String {
			vars[name] = v.Str
		}
		return true
	})
	out := make([]string, 0, len(vars))
	for k, v := range vars {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// carried records the command that args hand to another machine, container or environment; sh.mu is held.
func (sh *shell) carried(hc interp.HandlerContext, by string, args []string) {
	inner := carriedArgs(by, args)
	for len(inner) > 0 {
		rest, wrapped := unwrap(inner)
		if !wrapped {
			break
		}
		inner = rest
	}
	if len(inner) == 0 {
		return
	}
	base := filepath.Base(inner[0])
	switch {
	case base == "bash" || base == "sh":
		for _, words := range commandString(inner) {
			sh.add(hc, words, by)
		}
	case program(inner[0]) != "":
		sh.add(hc, inner, by)
		sh.carried(hc, program(inner[0]), inner)
	}
}

// carriedArgs finds the command within args: what begins with a program that is recorded, or with a shell.
func carriedArgs(by string, args []string) []string {
	switch by {
	case "python", "python3", "torchrun", "accelerate":
		return nil
	case "ray":
		if i := slices.Index(args, "--"); i >= 0 {
			return args[i+1:]
		}
		return nil
	case "sbatch":
		for i, a := range args[1:] {
			if text, ok := strings.CutPrefix(a, "--wrap="); ok {
				return []string{"bash", "-c", text}
			}
			if a == "--wrap" && i+2 < len(args) {
				return []string{"bash", "-c", args[i+2]}
			}
		}
		return nil
	case "ssh", "kubectl":
		if i := slices.IndexFunc(args[1:], func(a string) bool { return strings.Contains(a, " ") }); i >= 0 {
			return []string{"bash", "-c", strings.Join(args[i+1:], " ")}
		}
	}
	for i, a := range args[1:] {
		if base := filepath.Base(a); program(a) != "" || base == "bash" || base == "sh" {
			return args[i+1:]
		}
	}
	return nil
}

// commandString returns the recorded calls in the text of "bash -c TEXT", expanded as far as they can be without a shell.
func commandString(args []string) [][]string {
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") })
	if i < 0 || i+1 >= len(args) {
		return nil
	}
	f, err := syntax.NewParser().Parse(strings.NewReader(args[i+1]), "")
	if err != nil {
		return nil
	}
	var out [][]string
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		var words []string
		for _, w := range call.Args {
			s, err := expand.Literal(&expand.Config{Env: expand.FuncEnviron(func(name string) string { return "$" + name })}, w)
			if err != nil {
				return true
			}
			words = append(words, s)
		}
		for len(words) > 0 {
			rest, wrapped := unwrap(words)
			if !wrapped {
				break
			}
			words = rest
		}
		if len(words) > 0 && program(words[0]) != "" {
			out = append(out, words)
		}
		return true
	})
	return out
}

// nested interprets another script, or the text of bash -c, as bash would run it.
func (sh *shell) nested(ctx context.Context, hc interp.HandlerContext, args []string) error {
	i := 1
	text := false
	for i < len(args) && (strings.HasPrefix(args[i], "-") || strings.HasPrefix(args[i], "+")) {
		text = text || !strings.HasPrefix(args[i], "--") && strings.Contains(args[i], "c")
		if args[i] == "-o" || args[i] == "+o" || args[i] == "-O" {
			i++
		}
		i++
	}
	if i >= len(args) {
		return nil
	}
	name, src, params := "bash -c", []byte(args[i]), args[min(i+1, len(args)):]
	if text {
		if len(params) > 0 {
			name, params = params[0], params[1:]
		}
	} else {
		path := args[i]
		if !filepath.IsAbs(path) {
			path = filepath.Join(hc.Dir, path)
		}
		var err error
		sh.mu.Lock()
		name = args[i]
		src, err = sh.own(filepath.Clean(path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			sh.note(hc.Pos, "%s: %v; what it calls is missing", args[i], err)
		}
		sh.mu.Unlock()
		if err != nil {
			return interp.ExitStatus(127)
		}
	}
	f, err := parseScript(name, src)
	if err != nil {
		return interp.ExitStatus(2)
	}
	if err := sh.descend(f, text); err != nil {
		return err
	}
	defer sh.ascend()
	return sh.interpret(ctx, f, hc.Dir, exported(hc), params)
}

// descend notes that a script, or a text, is interpreted within another.
func (sh *shell) descend(f *syntax.File, text bool) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if !text {
		sh.files = append(sh.files, f)
	}
	if sh.depth++; sh.depth > maxDeep && sh.stopped == nil {
		sh.stopped = fmt.Errorf("%w: scripts call one another more than %d deep", ErrLimit, maxDeep)
	}
	return sh.stopped
}

func (sh *shell) ascend() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.depth--
}

// answers are programs whose output can be told without calling them.
var answers = map[string]func(hc interp.HandlerContext, args []string) error{
	"dirname": func(hc interp.HandlerContext, args []string) error {
		for _, a := range operands(args) {
			fmt.Fprintln(hc.Stdout, dirname(a))
		}
		return nil
	},
	"basename": func(hc interp.HandlerContext, args []string) error {
		if ops := operands(args); len(ops) > 0 {
			base := filepath.Base(ops[0])
			if len(ops) > 1 && base != ops[1] {
				base = strings.TrimSuffix(base, ops[1])
			}
			fmt.Fprintln(hc.Stdout, base)
		}
		return nil
	},
	"date": func(hc interp.HandlerContext, args []string) error {
		format := "%a %b %e %H:%M:%S %Z %Y"
		for _, a := range args[1:] {
			if f, ok := strings.CutPrefix(a, "+"); ok {
				format = f
			}
		}
		now := time.Now()
		if slices.Contains(args, "-u") || slices.Contains(args, "--utc") {
			now = now.UTC()
		}
		fmt.Fprintln(hc.Stdout, strftime(now, format))
		return nil
	},
	"nproc": func(hc interp.HandlerContext, _ []string) error {
		fmt.Fprintln(hc.Stdout, runtime.NumCPU())
		return nil
	},
	"hostname": func(hc interp.HandlerContext, args []string) error {
		name, _ := os.Hostname()
		if slices.Contains(args, "-s") {
			name, _, _ = strings.Cut(name, ".")
		}
		if slices.Contains(args, "-i") || slices.Contains(args, "-I") {
			name = "127.0.0.1"
		}
		fmt.Fprintln(hc.Stdout, name)
		return nil
	},
	"whoami": func(hc interp.HandlerContext, _ []string) error {
		fmt.Fprintln(hc.Stdout, hc.Env.Get("USER").String())
		return nil
	},
	"uname": func(hc interp.HandlerContext, _ []string) error {
		fmt.Fprintln(hc.Stdout, "Linux")
		return nil
	},
	"seq": func(hc interp.HandlerContext, args []string) error {
		lo, step, hi := int64(1), int64(1), int64(0)
		var nums []int64
		for _, a := range args[1:] {
			n, err := strconv.ParseInt(a, 10, 64)
			if err != nil {
				return interp.ExitStatus(1)
			}
			nums = append(nums, n)
		}
		switch len(nums) {
		case 1:
			hi = nums[0]
		case 2:
			lo, hi = nums[0], nums[1]
		case 3:
			lo, step, hi = nums[0], nums[1], nums[2]
		}
		for n, i := 0, lo; step != 0 && (step > 0 && i <= hi || step < 0 && i >= hi) && n < maxCalls; n, i = n+1, i+step {
			fmt.Fprintln(hc.Stdout, i)
		}
		return nil
	},
	"cat": filter(func(line string, _ []string) string { return line }),
	"tr": filter(func(line string, args []string) string {
		ops := operands(args)
		switch {
		case slices.Contains(args, "-d") && len(ops) == 1:
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(charSet(ops[0]), r) {
					return -1
				}
				return r
			}, line)
		case len(ops) == 2:
			from, to := []rune(charSet(ops[0])), []rune(charSet(ops[1]))
			return strings.Map(func(r rune) rune {
				if i := slices.Index(from, r); i >= 0 && len(to) > 0 {
					return to[min(i, len(to)-1)]
				}
				return r
			}, line)
		}
		return line
	}),
}

// charSet writes out the sets that tr knows.
func charSet(s string) string {
	const lower, upper, digit = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	return strings.NewReplacer("[:upper:]", upper, "[:lower:]", lower, "[:digit:]", digit, "[:space:]", " \t\n", "a-z", lower, "A-Z", upper, "0-9", digit, `\n`, "\n").Replace(s)
}

// filter answers a program that reads lines and prints lines; it reads standard input only.
func filter(f func(line string, args []string) string) func(interp.HandlerContext, []string) error {
	return func(hc interp.HandlerContext, args []string) error {
		if hc.Stdin == nil || (filepath.Base(args[0]) == "cat" && len(operands(args)) > 0) {
			return nil
		}
		in := bufio.NewScanner(io.LimitReader(hc.Stdin, maxScript))
		in.Buffer(nil, maxScript)
		for in.Scan() {
			fmt.Fprintln(hc.Stdout, f(in.Text(), args))
		}
		return nil
	}
}

func operands(args []string) []string {
	var out []string
	for _, a := range args[1:] {
		if !strings.HasPrefix(a, "-") || a == "-" {
			out = append(out, a)
		}
	}
	return out
}

// dirname is dirname(1): "a" is in ".", "/a/" in "/".
func dirname(p string) string {
	p = strings.TrimRight(p, "/")
	i := strings.LastIndexByte(p, '/')
	switch {
	case p == "":
		return "/"
	case i < 0:
		return "."
	}
	if d := strings.TrimRight(p[:i], "/"); d != "" {
		return d
	}
	return "/"
}

// strftime writes t as date(1) does, for the verbs that names of runs are made of.
func strftime(t time.Time, format string) string {
	verbs := map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'b': "Jan",
		'B': "January", 'a': "Mon", 'A': "Monday", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'Z': "MST", 'z': "-0700", 'j': "002"}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			b.WriteByte(c)
			continue
		}
		i++
		switch v := format[i]; v {
		case 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case 'N':
			fmt.Fprintf(&b, "%09d", t.Nanosecond())
		case '%':
			b.WriteByte('%')
		case 'n':
			b.WriteByte('\n')
		default:
			if layout := verbs[v]; layout != "" {
				b.WriteString(t.Format(layout))
			} else {
				b.WriteString(format[i-1 : i+1])
			}
		}
	}
	return b.String()
}
