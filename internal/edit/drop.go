package edit

import (
	"context"
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Drop leaves columns out, or fields of structs.
type Drop struct {
	Paths   []schema.Path
	lenient bool // in place a file without one of the paths was edited before
}

// String implements Edit.
func (e *Drop) String() string { return "drop " + joinPaths(e.Paths) }

func joinPaths(paths []schema.Path) string {
	words := make([]string, len(paths))
	for i, p := range paths {
		words[i] = string(p)
	}
	return strings.Join(words, ",")
}

// Prepare implements Edit.
func (e *Drop) Prepare(files []*rule.File, inPlace bool) error {
	e.lenient = inPlace
	for _, p := range e.Paths {
		if err := missingEverywhere(files, p); inPlace && err != nil {
			return err
		}
	}
	return nil
}

// Steps implements Edit.
func (e *Drop) Steps(_ context.Context, src *input.Set, i int, _ int64) ([]transform.RowStep, []string, error) {
	f := src.Files()[i]
	var have []schema.Path
	var notes []string
	for _, p := range e.Paths {
		if _, ok := f.Schema.Lookup(p); ok || !e.lenient {
			have = append(have, p)
		} else {
			notes = append(notes, fmt.Sprintf("has no %s", p))
		}
	}
	if len(have) == 0 {
		return nil, notes, nil
	}
	return []transform.RowStep{transform.Drop{Paths: have}}, notes, nil
}
