// Command rlprep prepares and lints datasets for RL training of language models. Everything it does is in internal/cli.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/rlprep/rlprep/internal/cli"
	"github.com/rlprep/rlprep/internal/machine"
)

// gcPercent keeps peak memory near to what is in use, whatever the size of the input. It costs little: nearly all memory holds no
// pointers, and what is used again is kept.
const gcPercent = 30

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if err := machine.FollowLimits(); err != nil {
		fmt.Fprintln(os.Stderr, "rlprep:", err)
		os.Exit(cli.ExitFile)
	}
	ctx, stop := interruptible(context.Background())
	status := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels, so that the run ends in good order. The second
// ends the process at once; that is safe, since nothing is visible before it is whole.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-signals:
				if n > 0 {
					os.Exit(cli.ExitInterrupted)
				}
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
