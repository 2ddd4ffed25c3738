package cli

import (
	"time"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
)

// cacheClock is when a file must have been changed before to be kept; a test has it run ahead.
var cacheClock = time.Now

// open opens the cache for a run that reads rows. Without one, rows are read.
func (c *lintCache) open(l *lint) {
	dir := c.dir(l)
	if dir == "" {
		return
	}
	var err error
	if c.store, err = check.OpenCache(dir, version(), func() time.Time { return cacheClock() }); err != nil && l.verbose {
		escape.Fprintf(l.app.stderr, "no cache: %v\n", err)
	}
}

// dir is the folder of the cache, "" where the run has none.
func (c *lintCache) dir(l *lint) string {
	if c.off || l.schemaOnly || l.limit > 0 {
		return ""
	}
	return check.CacheDir()
}
