package source

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrFormat is what every *FormatError is.
var ErrFormat = errors.New("file cannot be read as its format")

// A FormatError is a file that cannot be read as its format: damaged, cut off, another format, or only a pointer to the
// data. It is the error class of exit status 3; every other error of this package is about what the user named (2).
type FormatError struct {
	File    string // as the user named it
	Line    int64  // from 1; 0: the whole file
	Column  int    // from 1, in bytes; 0: the whole line
	Message string
	OneLine bool // Spec.SkipBroken skips the line

	cause error
}

// Error returns "train.jsonl:17:23: message".
func (e *FormatError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += ":" + strconv.FormatInt(e.Line, 10)
		if e.Column > 0 {
			s += ":" + strconv.Itoa(e.Column)
		}
	}
	return s + ": " + e.Message
}

// Unwrap returns the cause, nil where there is none.
func (e *FormatError) Unwrap() error { return e.cause }

// Is reports whether target is ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// A stateError is about the state of a file or folder, such as one that changed while it was read: another run may find it otherwise.
type stateError struct{ text string }

func (e *stateError) Error() string { return e.text }

// ExitCode is 3: another attempt may succeed.
func (e *stateError) ExitCode() int { return 3 }

func failed(format string, args ...any) error { return &stateError{fmt.Sprintf(format, args...)} }
