package cli

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether stream (a reader or a writer) is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// color reports whether results may be coloured: stdout is a terminal that can, and the user has not set NO_COLOR
// (https://no-color.org: any value that is not empty).
func (a *app) color() bool {
	return a.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
