// Package starmap is the steps map and filter: functions and conditions that users write in Starlark, run over rows as HF datasets' map runs
// Python's. An example is a dict, and what the function returns becomes the row. The dialect is package pystar's.
package starmap

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A worker calls a program's functions, and holds the values of the row that came out last. It belongs to one goroutine.
type worker struct {
	*pystar.Worker
	arena  []schema.Value
	values int // that the present row has been made into
}

func newWorker(p *pystar.Program) *worker { return &worker{Worker: p.Worker()} }

// call calls a function for the next row. The values of the row before are overwritten.
func (w *worker) call(f starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
	w.arena, w.values = w.arena[:0], 0
	return w.Call(f, args)
}

// maxReason is how many bytes of the text of a fail are the reason that rows are counted under.
const maxReason = 80

// fault is what the pipeline gets for a row that failed: a rejection, or for a bound an error that ends the run.
func (w *worker) fault(err error, row schema.Row, reason string, columns []string) error {
	msg, bound := w.Message(err)
	if bound {
		return &transform.Fault{Where: w.Where(err), Number: row.Number(), Message: msg}
	}
	if key, ok := strings.CutPrefix(msg, `key "`); ok && strings.HasSuffix(key, `" not in dict`) {
		key = strings.TrimSuffix(key, `" not in dict`)
		if near := schema.Nearest(key, columns); near != "" && near != key {
			msg += fmt.Sprintf("; did you mean %q?", near)
		} else if !slices.Contains(columns, key) {
			msg += fmt.Sprintf(" (columns: %s)", strings.Join(columns, ", "))
		}
	}
	if text, ok := strings.CutPrefix(msg, "fail: "); ok && text != "" {
		reason = schema.Cut(text, maxReason) // the user's own reason
	}
	return &transform.Reject{Reason: reason, Where: w.Where(err), Message: msg}
}
