package rule

import (
	"fmt"
	"iter"
	"slices"

	"github.com/rlprep/rlprep/schema"
	"github.com/zeebo/xxh3"
)

// An Env is what a run of rules knows beside the data.
type Env struct {
	Target       Target
	Rows         Kind
	KnownAgents  []string // beside the trainer's own
	KnownSources []string // beside the trainer's own
	Agent        string   // the agent loop that fixes write where rows name none; "": none was named
	Launch       Launch   // nil where no launch was given
	CheckPaths   bool     // files that the launch names and that this machine does not have are errors
}

// A Pass is what a Checker gets to see and say. Embed it in a Checker: its methods of that interface do nothing.
type Pass struct {
	Rule        *Rule
	Level       Level
	Consequence string
	Env         *Env
	// Schema is that of the file whose rows are judged; the pipeline sets it before Reads and New. It is nil in the runs
	// that Files and Group are called on.
	Schema *schema.Schema
	// Task is what the passes of one task have in common; the pipeline makes one a task and sets it in each pass. It may
	// be nil.
	Task *Task

	// Sink takes the findings; Out takes what is emitted. The pipeline sets both.
	Sink func(Finding)
	Out  func(k Key, row schema.Row, value uint64)
}

// NewPass returns a pass of r for env, and false where the rule is off for its target, belongs to another framework, or looks at other rows.
func NewPass(r *Rule, env *Env) (*Pass, bool) {
	h, ok := r.Severity(env.Target)
	if !ok || h.Level == Off || (r.Rows != Any && r.Rows != env.Rows) {
		return nil, false
	}
	return &Pass{Rule: r, Level: h.Level, Consequence: h.Consequence, Env: env, Sink: func(Finding) {}, Out: func(Key, schema.Row, uint64) {}}, true
}

// Files does nothing.
func (p *Pass) Files([]*File) {}

// Prejudge asks for the rows.
func (p *Pass) Prejudge(*RowGroupFacts) bool { return false }

// Row does nothing.
func (p *Pass) Row(schema.Row) {}

// Group does nothing.
func (p *Pass) Group(Key, iter.Seq[Hit]) {}

// Report reports a finding. Rule and, where it is Off, Level are filled in.
func (p *Pass) Report(f Finding) {
	f.Rule = p.Rule
	if f.Level == Off {
		f.Level = p.Level
	}
	p.Sink(f)
}

// Reportf reports a finding about value v (Missing: none to show) at pos.
func (p *Pass) Reportf(pos schema.Pos, v schema.Value, format string, args ...any) {
	f := Finding{Pos: pos, Message: fmt.Sprintf(format, args...)}
	if !v.IsMissing() {
		f.Value = v.Excerpt(80)
	}
	p.Report(f)
}

// Emit hands (k, value) and the row's position to Group.
func (p *Pass) Emit(k Key, row schema.Row, value uint64) { p.Out(k, row, value) }

// A Task is what the passes of one task have in common, so that rules that look for different things in the same text scan
// it once. It is used from one goroutine.
type Task struct{ shared map[string]any }

// Share returns the value of that name in p's task, made by make the first time. Without a task each pass has its own.
func Share[T any](p *Pass, name string, make func() T) T {
	if p.Task == nil {
		return make()
	}
	if v, ok := p.Task.shared[name].(T); ok {
		return v
	}
	v := make()
	if p.Task.shared == nil {
		p.Task.shared = map[string]any{}
	}
	p.Task.shared[name] = v
	return v
}

// Known reports whether name is in list or extra.
func Known(name string, list, extra []string) bool {
	return slices.Contains(list, name) || slices.Contains(extra, name)
}

// NewKey returns the key of these parts. It is the same on every machine.
func NewKey(parts ...string) Key {
	h := xxh3.New()
	var n [8]byte
	for _, s := range parts {
		for i := range n {
			n[i] = byte(len(s) >> (8 * i))
		}
		h.Write(n[:])
		h.WriteString(s)
	}
	return h.Sum128().Bytes()
}

// Hash returns a 64-bit hash of s, the same on every machine.
func Hash(s string) uint64 { return xxh3.HashString(s) }
