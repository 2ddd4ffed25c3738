// Package misuse is the error of what was asked for and cannot be done as asked. The command line adds where its usage is explained.
package misuse

import "fmt"

// An Error says what was asked for wrongly. Asking for the same again does not help.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *Error) Unwrap() error { return e.Err }

// Errorf is fmt.Errorf for an *Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }
