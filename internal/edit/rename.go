package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Rename renames columns, or fields of structs, one after the other.
type Rename struct {
	From, To []schema.Path // whole paths, of equal number
	lenient  bool          // in place a file that has the new names in place of the old ones was edited before
}

// String implements Edit.
func (e *Rename) String() string {
	words := make([]string, len(e.From))
	for i := range e.From {
		words[i] = string(e.From[i] + "=" + e.To[i])
	}
	return "rename " + strings.Join(words, ",")
}

// Prepare implements Edit.
func (e *Rename) Prepare(_ []*rule.File, inPlace bool) error {
	e.lenient = inPlace
	for _, p := range e.To {
		if inPlace && slices.Contains(e.From, p) {
			return fmt.Errorf("%q is both a new and an old name, so a repeated run could not detect finished files: use -o DIR, or separate calls", p)
		}
	}
	return nil
}

// Steps implements Edit.
func (e *Rename) Steps(_ context.Context, src *input.Set, i int, _ int64) ([]transform.RowStep, []string, error) {
	f := src.Files()[i]
	if e.lenient && e.done(f.Schema) {
		return nil, []string{"has the new names"}, nil
	}
	var steps []transform.RowStep
	for k := range e.From {
		steps = append(steps, transform.Rename{From: e.From[k], To: e.To[k]})
	}
	return steps, nil, nil
}

// done reports whether s has all new names and no old one.
func (e *Rename) done(s *schema.Schema) bool {
	for i := range e.From {
		if _, ok := s.Lookup(e.From[i]); ok {
			return false
		}
		if _, ok := s.Lookup(e.To[i]); !ok {
			return false
		}
	}
	return true
}
