package cli

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/source"
)

// A hubRemote is a hub.Client as source wants it. The client is made when a name first asks for one.
type hubRemote struct {
	quiet  *bool     // set by a flag
	screen io.Writer // for progress
	whole  string    // how the command at hand is made to fetch files whole

	mu     sync.Mutex
	client *hub.Client
	shown  *fetching
}

// open returns the client that the environment asks for.
func (h *hubRemote) open() (*hub.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		return h.client, nil
	}
	c, err := hub.New(os.Getenv)
	if err != nil {
		return nil, err
	}
	if !*h.quiet {
		h.shown = newFetching(h.screen)
		c.Notice, c.Progress = h.shown.say, h.shown.at
	}
	c.Whole = h.whole
	h.client = c
	return c, nil
}

// close gives back connections and takes the bar away. It may be called when nothing was opened.
func (h *hubRemote) close() {
	if h.client != nil {
		h.client.Close()
		h.shown.done()
	}
}

// List implements source.Remote.
func (h *hubRemote) List(ctx context.Context, name string) (root, rest string, files []*source.RemoteFile, err error) {
	return input.List(ctx, name, h.open, func() { h.shown.done() })
}

// A fetching shows how far downloads are: a bar on a terminal, elsewhere a log line every few seconds. Its methods may be
// called from many goroutines, and on a nil *fetching.
type fetching struct {
	w   io.Writer
	now func() time.Time

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil where w is no terminal, or nothing is fetched
	files map[string][2]int64      // bytes done and in all
	begun int64                    // bytes that were there when the first was seen
	start time.Time
	last  time.Time
}

func newFetching(w io.Writer) *fetching {
	return &fetching{w: w, now: time.Now, files: map[string][2]int64{}}
}

// say tells the user a line.
func (f *fetching) say(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bar != nil {
		_ = f.bar.Clear()
	}
	escape.Fprintln(f.w, line)
}

// at says that done of size bytes of a file are there.
func (f *fetching) at(path string, done, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if len(f.files) == 0 {
		f.start, f.last, f.begun = now, now, done
	}
	f.files[path] = [2]int64{done, size}
	var have, all int64
	for _, n := range f.files {
		have, all = have+n[0], all+n[1]
	}
	if isTerminal(f.w) && os.Getenv("TERM") != "dumb" {
		if f.bar == nil {
			f.bar = newBytesBar(f.w, all)
		}
		f.bar.ChangeMax64(all)
		_ = f.bar.Set64(have) // a bar that cannot be drawn is no reason to stop
		return
	}
	if now.Sub(f.last) >= logEvery {
		f.last = now
		rate := float64(have-f.begun) / max(now.Sub(f.start).Seconds(), 1e-9)
		escape.Fprintf(f.w, "fetched=%d of=%d bytes_per_s=%.0f file=%s\n", have, all, rate, path)
	}
}

// done takes the bar away until more comes.
func (f *fetching) done() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bar != nil {
		_ = f.bar.Clear()
		_ = f.bar.Exit()
		f.bar = nil
	}
}

// newBytesBar returns a bar with bytes, bytes/s and the time left.
func newBytesBar(w io.Writer, total int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetDescription("fetching"),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it starts a goroutine that nothing ends
	)
}
