package progress

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether stream (a reader or a writer) is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
