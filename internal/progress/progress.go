// Package progress shows on standard error how far a run is: a bar on a terminal, elsewhere a log line every few seconds.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/rlprep/rlprep/internal/escape"
)

// logEvery is the time between two log lines where there is no terminal, showEvery that between two names of shards on one.
const (
	logEvery  = 5 * time.Second
	showEvery = 500 * time.Millisecond
)

// A Run shows how many rows of a run are done, nothing when quiet. Its methods may be called from many goroutines, and on a nil *Run.
type Run struct {
	w     io.Writer
	total int64 // rows; -1: not known
	now   func() time.Time

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil where w is no terminal
	rows  int64
	start time.Time
	last  time.Time // when the shard was last shown
}

// New returns the progress of a run over total rows (-1: not known), nil when quiet. The library writes frames to
// whatever it is given, so it is used for terminals alone.
func New(stderr io.Writer, total int64, quiet bool) *Run {
	if quiet {
		return nil
	}
	p := &Run{w: stderr, total: total, now: time.Now}
	p.start = p.now()
	p.last = p.start
	if drawsBars(stderr) {
		p.bar = newBar(stderr, total)
	}
	return p
}

// newBar returns a bar with rows, rows/s, the time left and room for the name of a shard.
func newBar(w io.Writer, total int64) *progressbar.ProgressBar {
	if total <= 0 {
		total = -1
	}
	return bar(w, total, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"))
}

// Rows says that n more rows are done and that shard is being made.
func (p *Run) Rows(n int64, shard string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows += n
	now := p.now()
	if p.bar != nil {
		if now.Sub(p.last) >= showEvery { // workers are in several shards at once: show one of them, not a flicker
			p.last = now
			p.bar.Describe(escape.Text(shard))
		}
		_ = p.bar.Add64(n) // a bar that cannot be drawn is no reason to stop
		return
	}
	if now.Sub(p.last) >= logEvery {
		p.last = now
		p.log(now, shard)
	}
}

// log writes a line such as "rows=120000 rows_per_s=24000 eta=1m3s shard=train-00001-of-00004".
func (p *Run) log(now time.Time, shard string) {
	rate := float64(p.rows) / max(now.Sub(p.start).Seconds(), 1e-9)
	line := fmt.Sprintf("rows=%d rows_per_s=%.0f", p.rows, rate)
	if p.total > 0 && rate > 0 {
		left := time.Duration(float64(max(p.total-p.rows, 0)) / rate * float64(time.Second))
		line += " eta=" + left.Round(time.Second).String()
	}
	if shard != "" {
		line += " shard=" + shard
	}
	escape.Fprintln(p.w, line)
}

// Done takes the bar away. It may be called more than once.
func (p *Run) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		remove(p.bar)
		p.bar = nil
		p.last = p.now() // from here on as without a bar
	}
}
