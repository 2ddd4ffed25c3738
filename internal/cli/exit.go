package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
)

// The exit statuses. Scripts may rely on them; a status that is not listed here means that the run failed.
const (
	// ExitClean: the run did what it was asked to, and nothing was found at or above the failing level.
	ExitClean = 0
	// ExitFindings: the data has faults; findings or rejected rows were reported.
	ExitFindings = 1
	// ExitUsage: the command line or a configuration is wrong, or rlprep has a bug; running it again does not help.
	ExitUsage = 2
	// ExitFile: a file cannot be read or written, or another run holds it; running it again may help.
	ExitFile = 3
	// ExitInterrupted: SIGINT or SIGTERM ended the run; nothing half-done is visible.
	ExitInterrupted = 130
)

// exitTexts are the sentences that help prints, a status a line.
var exitTexts = map[int]string{
	ExitClean:       "success: no finding at or above the failing level",
	ExitFindings:    "the data has faults: findings or rejected rows were reported",
	ExitUsage:       "the command line or a configuration is wrong, or rlprep has a bug",
	ExitFile:        "a file cannot be read or written, or another run holds it",
	ExitInterrupted: "interrupted; no partial output is visible",
}

// errFindings ends a command that has reported findings: status 1, and nothing more is said.
var errFindings error = &exitError{code: ExitFindings}

// An exitError is an error with the status that it ends the process with.
type exitError struct {
	code int
	err  error // nil: nothing is printed
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }
func (e *exitError) ExitCode() int { return e.code }
func (e *exitError) silent() bool  { return e.err == nil }

// withCode returns err with the exit status code; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// exitCode returns the status that err ends the process with. An error says it by a method ExitCode() int; of the others,
// those of the file system are 3 and the rest, which are ours, 2.
func exitCode(ctx context.Context, err error) int {
	var coded interface{ ExitCode() int }
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil, closedPipe(err):
		return ExitClean
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.As(err, &path), errors.As(err, &link), errors.Is(err, syscall.ENOSPC):
		return ExitFile
	}
	return ExitUsage
}

// closedPipe reports whether err only says that nobody reads our output any more ("rlprep … | head"), which is no fault.
func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// printError writes err to w as "rlprep CMD: text", a line for each of the errors that were joined.
func printError(w io.Writer, name string, code int, err error) {
	if s, ok := err.(interface{ silent() bool }); closedPipe(err) || ok && s.silent() {
		return
	}
	lines := escape.Error(err)
	if code == ExitInterrupted {
		lines = []string{"interrupted"}
	}
	for _, line := range lines {
		escape.Fprintf(w, "%s: %s\n", name, line)
	}
	var usage *misuse.Error
	if errors.As(err, &usage) {
		escape.Fprintf(w, "Run '%s --help' for usage.\n", name)
	}
}
