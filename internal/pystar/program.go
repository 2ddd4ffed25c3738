// Package pystar is Starlark that behaves as Python: text, numbers, formats, json, math and regular expressions give what CPython gives, and
// an error where they cannot. A function is called once for each row of a data set. It sees its arguments and nothing else: no files, no
// clock, nothing from call to call; and the time and memory that a call may take are bounded. What a row is, this package does not know.
package pystar

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	_ "github.com/rlprep/rlprep/internal/nolog" // before starlark
	"github.com/rlprep/rlprep/internal/pyre"
)

// maxSource is the size of a script, in bytes, beyond which it is none.
const maxSource = 1 << 20

// rowTime is the time after which a row is refused, whatever its steps: a second net, under single steps that take long. Tests set it.
var rowTime = 3 * time.Second

// A Program is a script, loaded. Its functions may run in several workers at once.
type Program struct {
	Name  string       // as the user named it
	Print func(string) // what print is given; nil: nothing is shown

	globals starlark.StringDict
	uses    map[useKey]*Use
}

// Errors are all faults of a script that were found before it ran, a line each.
type Errors []string

func (e Errors) Error() string { return strings.Join(e, "\n") }

// Unwrap returns the faults, each of which is a line of Error.
func (e Errors) Unwrap() []error {
	faults := make([]error, len(e))
	for i, text := range e {
		faults[i] = errors.New(text)
	}
	return faults
}

var options = &syntax.FileOptions{TopLevelControl: true, GlobalReassign: true}

// Names returns the names that the script defines, sorted.
func (p *Program) Names() []string { return slices.Sorted(maps.Keys(p.globals)) }

// Function returns the function that the script defines under a name, nil if it defines none.
func (p *Program) Function(name string) starlark.Callable {
	f, _ := p.globals[name].(starlark.Callable)
	return f
}

// Use returns what a function of the script does with its first parameter. A function that the script does not write out, a builtin for
// instance, may do anything with it.
func (p *Program) Use(f starlark.Callable) *Use {
	if g, ok := f.(*starlark.Function); ok {
		if u := p.uses[useKey{g.Position().Line, g.Name()}]; u != nil {
			return u
		}
	}
	return &Use{All: true}
}

// Load reads a script; errors have its name. Everything that Python has and Starlark lacks is reported at once, with what to write in its place.
func Load(name, text string) (*Program, error) {
	if len(text) > maxSource {
		return nil, fmt.Errorf("%s:1:1: the script has %d bytes, expected at most %d", name, len(text), maxSource)
	}
	if at, ok := longest(text); ok {
		return nil, fmt.Errorf("%s:%d:1: the line is too long, or nested too deeply, to be read", name, at)
	}
	toks := lex(text)
	for _, t := range toks {
		if t.depth > 4*MaxDepth {
			return nil, fmt.Errorf("%s:%d:%d: brackets are nested more than %d deep", name, t.line, t.col, 4*MaxDepth)
		}
	}
	var faults Errors
	for _, h := range hints(toks) {
		faults = append(faults, fmt.Sprintf("%s:%d:%d: %s", name, h.line, h.col, h.text))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	file, err := options.Parse(name, toStarlark(text, toks), 0)
	if err != nil {
		return nil, syntaxFault(err)
	}
	p := &Program{Name: name, uses: map[useKey]*Use{}}
	p.study(file)
	rewrite(file.Stmts)
	prog, err := starlark.FileProgram(file, predeclared.Has)
	if err != nil {
		return nil, syntaxFault(err)
	}
	if err := p.start(prog); err != nil {
		return nil, err
	}
	return p, nil
}

// start runs the program's own statements, and freezes what they define.
func (p *Program) start(prog *starlark.Program) (err error) {
	w := p.Worker()
	w.begin(10 * MaxSteps)
	defer w.done()
	if p.globals, err = prog.Init(w.thread, predeclared); err != nil {
		return w.StartFault(err)
	}
	p.globals.Freeze()
	return nil
}

// maxLine is the length of a line, in bytes, beyond which it is none that anybody wrote.
const maxLine = 100_000

// longest looks for what makes a parser recurse without brackets: very many operators in one line, or very deep indents.
func longest(text string) (line int, ok bool) {
	for i, l := range strings.Split(text, "\n") {
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		ops := strings.Count(l, " not ") + strings.Count(l, "--") + strings.Count(l, "- -") + strings.Count(l, "lambda") + strings.Count(l, " if ")
		if indent > 1000 || ops > 500 || len(l) > maxLine {
			return i + 1, true
		}
	}
	return 0, false
}

// syntaxFault puts the place first, and says of Python's chained comparisons what to write.
func syntaxFault(err error) error {
	var list resolve.ErrorList
	if errors.As(err, &list) {
		var out Errors
		for _, e := range list {
			out = append(out, fmt.Sprintf("%s: %s%s", e.Pos, e.Msg, missing(e.Msg)))
		}
		return out
	}
	var e syntax.Error
	if errors.As(err, &e) {
		msg := e.Msg
		switch {
		case strings.Contains(msg, "does not associate"):
			msg += ": write 'a < b and b < c'"
		case strings.Contains(msg, "invalid escape sequence"):
			msg += `: write r"…" around a pattern, or \\`
		}
		return fmt.Errorf("%s: %s", e.Pos, msg)
	}
	return err
}

// missing says what to take for a name of Python's that is not here.
func missing(msg string) string {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, " ")
	switch name {
	case "map", "filter":
		return ": write a comprehension, [f(x) for x in list if …]"
	case "open", "os", "requests", "sys", "pathlib", "subprocess":
		return ": a map function reads only its row"
	case "random", "np", "numpy", "time", "datetime", "uuid":
		return ": rows depend only on the input; step sample chooses rows by hash"
	case "datasets", "pd", "pandas", "torch":
		return ": rows come from --source, and the function gets one as a dict"
	case "Exception", "ValueError":
		return ": write fail(\"…\")"
	case "collections", "OrderedDict", "defaultdict":
		return ": a dict keeps its order; d.setdefault(key, [])"
	}
	return ""
}

// A Worker runs a program's functions; it belongs to one goroutine.
type Worker struct {
	prog   *Program
	thread *starlark.Thread
	end    uint64 // the steps that the current row may take
	over   bool   // it took them
	late   bool   // it took too long
	timer  *time.Timer
	armed  bool

	row      int       // the number of the current row, of those that the worker has begun
	deadline time.Time // of the current row, if armed
	patterns patternCache
	budget   pyre.Budget // of the current search
}

// firstSteps are taken without a look at the time.
const firstSteps = 2000

// Worker returns a worker for the program.
func (p *Program) Worker() *Worker {
	w := &Worker{prog: p, thread: &starlark.Thread{Name: p.Name}}
	w.budget.Stop = w.overdue
	w.thread.SetLocal("worker", w)
	w.thread.Print = func(*starlark.Thread, string) {}
	w.thread.OnMaxSteps = func(t *starlark.Thread) {
		if t.Steps >= w.end {
			w.over = true
			t.Cancel("steps")
			return
		}
		w.arm()
		t.SetMaxExecutionSteps(w.end)
	}
	return w
}

// arm sets the time for the current row.
func (w *Worker) arm() {
	w.armed, w.deadline = true, time.Now().Add(rowTime)
	if w.timer != nil {
		w.timer.Reset(rowTime)
		return
	}
	w.timer = time.AfterFunc(rowTime, func() { w.thread.Cancel("time") })
}

// overdue reports whether the current row has taken too long. Single operations that are long ask it.
func (w *Worker) overdue() bool {
	if !w.armed {
		w.arm()
	}
	return time.Now().After(w.deadline)
}

// begin begins a row.
func (w *Worker) begin(steps uint64) {
	w.thread.Steps, w.end, w.over, w.late = 0, steps, false, false
	w.thread.SetMaxExecutionSteps(min(firstSteps, steps))
	w.row++
}

// done ends a row.
func (w *Worker) done() {
	if w.armed {
		w.late = !w.timer.Stop() && !w.over
		w.armed = false
	}
	w.thread.Uncancel()
}

// Call calls a function of the program, as one row: within MaxSteps and the limit of time.
func (w *Worker) Call(f starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
	w.begin(MaxSteps)
	v, err := starlark.Call(w.thread, f, args, nil)
	w.done()
	return v, err
}

// Where is the innermost place in the script that an error came through.
func (w *Worker) Where(err error) string {
	var e *starlark.EvalError
	if errors.As(err, &e) {
		for i := range e.CallStack {
			if pos := e.CallStack.At(i).Pos; pos.IsValid() && pos.Filename() == w.prog.Name {
				return pos.String()
			}
		}
	}
	return w.prog.Name
}

// Message is what an error of Call says, and whether it is a bound that was met: the next row would meet it too.
func (w *Worker) Message(err error) (msg string, bound bool) {
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return limit.text, true
	case w.over:
		return "the row takes more steps than a row may (2,000,000): an endless loop?", true
	case w.late && strings.Contains(err.Error(), "cancelled"):
		return fmt.Sprintf("the row takes longer than %v", rowTime), true
	}
	defer func() { msg = Cut(msg, 400) }()
	msg = err.Error()
	var e *starlark.EvalError
	if errors.As(err, &e) {
		msg = e.Msg
	}
	if name, ok := strings.CutSuffix(msg, "called recursively"); ok {
		return name + "called recursively: Starlark has no recursion; write a loop over a list of what is still to do", true
	}
	if strings.Contains(msg, "frozen") {
		msg += ": a map function keeps nothing from row to row; make the value in the function"
	}
	return msg, false
}

// StartFault is an error of Call outside all rows, with its place.
func (w *Worker) StartFault(err error) error {
	msg, _ := w.Message(err)
	return fmt.Errorf("%s: %s", w.Where(err), msg)
}
