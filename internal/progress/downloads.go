package progress

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/rlprep/rlprep/internal/escape"
)

// Downloads shows how many bytes of files are fetched. Its methods may be called from many goroutines; Done also on nil.
type Downloads struct {
	w   io.Writer
	now func() time.Time

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil where w is no terminal, or nothing is fetched
	files map[string][2]int64      // bytes done and in all
	begun int64                    // bytes that were there when the first was seen
	start time.Time
	last  time.Time
}

// NewDownloads returns the progress of downloads that is shown on w.
func NewDownloads(w io.Writer) *Downloads {
	return &Downloads{w: w, now: time.Now, files: map[string][2]int64{}}
}

// Say prints a line for the user.
func (f *Downloads) Say(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bar != nil {
		_ = f.bar.Clear()
	}
	escape.Fprintln(f.w, line)
}

// At says that done of size bytes of a file are here.
func (f *Downloads) At(path string, done, size int64) {
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
	if drawsBars(f.w) {
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

// Done takes the bar away until more comes.
func (f *Downloads) Done() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bar != nil {
		remove(f.bar)
		f.bar = nil
	}
}

// newBytesBar returns a bar with bytes, bytes/s and the time left.
func newBytesBar(w io.Writer, total int64) *progressbar.ProgressBar {
	return bar(w, total, progressbar.OptionShowBytes(true), progressbar.OptionSetDescription("fetching"))
}
