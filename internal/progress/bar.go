package progress

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// drawsBars reports whether a bar can be drawn on w.
func drawsBars(w io.Writer) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

// bar returns a bar over total units, with the time left; more says what it counts.
func bar(w io.Writer, total int64, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionThrottle(65 * time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it starts a goroutine that nothing ends
	}, more...)...)
}

// remove takes a bar off the terminal. One that cannot be drawn is no reason to fail.
func remove(b *progressbar.ProgressBar) {
	_ = b.Clear()
	_ = b.Exit()
}
