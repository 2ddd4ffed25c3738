// Package misuse is the error of what was asked for and cannot be done as asked. The command line adds where its usage is explained.
package misuse

import (
	"fmt"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// An Error says what was asked for wrongly. Asking for the same again does not help.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the status that such an error ends the process with.
func (e *Error) ExitCode() int { return 2 }

// Errorf is fmt.Errorf for an *Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// Unknown returns the error for a name that is not in names, with the nearest that is, or those that begin with it.
func Unknown(what, name string, names []string) error {
	if near := schema.Nearest(name, names); near != "" {
		return Errorf("unknown %s %q; did you mean %q?", what, name, near)
	}
	var begun []string
	for _, n := range names {
		if name != "" && strings.HasPrefix(strings.ToLower(n), strings.ToLower(name)) {
			begun = append(begun, n)
		}
	}
	switch {
	case len(begun) > 3:
		return Errorf("unknown %s %q; did you mean one of %s, …?", what, name, strings.Join(begun[:3], ", "))
	case len(begun) > 0:
		return Errorf("unknown %s %q; did you mean %s?", what, name, strings.Join(begun, " or "))
	}
	return Errorf("unknown %s %q", what, name)
}
