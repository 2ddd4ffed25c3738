package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/progress"
)

// An app is what the commands share: the streams and the options that every command has.
type app struct {
	ctx    context.Context // of the run: its end interrupts reading from pipes
	stdin  io.Reader
	stdout io.Writer // results; Main flushes it
	stderr io.Writer // logs, errors
	raw    io.Writer // below stdout: for what is safe, and holds what stdout would escape (colours, commands for a CI system)
	screen io.Writer // below stderr: for progress

	terminal bool // stdout is a terminal
	quiet    bool

	guard  overwrite.Guard // of what is read and what is written
	remote hubRemote       // where names that begin with hf:// lead
}

// exactArgs asks for just these arguments, named as in the usage line.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return misuse.Errorf("missing argument %s", names[len(args)])
		case len(args) > len(names):
			return misuse.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// color reports whether results may be coloured: stdout is a terminal that can, and the user has not set NO_COLOR
// (https://no-color.org: any value that is not empty).
func (a *app) color() bool {
	return a.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// watch shows the progress of a job over so many rows.
func (a *app) watch(total int64) (rows func(rows int64, shard string), done func()) {
	bar := progress.New(a.screen, total, a.quiet)
	return bar.Rows, bar.Done
}
