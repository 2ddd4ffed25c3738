package page

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrFormat is what every *FormatError is.
var ErrFormat = errors.New("not readable as Parquet")

// A FormatError is a file that cannot be read as Parquet: it is another format, it is cut off, or it is damaged. errors.Is
// with ErrFormat tells it from an error of the system.
type FormatError struct {
	Name  string // of the file, as the user named it; "": Err names it
	Err   error
	Stack []byte // of a panic in the reader, for bug reports; else nil
}

// Error returns "NAME: what is wrong".
func (e *FormatError) Error() string {
	if e.Name == "" {
		return e.Err.Error()
	}
	return e.Name + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// Recover turns a panic into *err; it must be deferred. where is "NAME: row group N: column P".
func Recover(err *error, where string) {
	if p := recover(); p != nil {
		*err = panicError(p, where)
	}
}

func panicError(p any, where string) error {
	return &FormatError{Err: fmt.Errorf("%s: panicked (damaged file, or a bug): %v", where, p), Stack: debug.Stack()}
}
