package source

import (
	"fmt"
	"os"
	"time"
)

// The time within which a file may be changed twice and have one time of change: that of file systems whose clock counts seconds or
// milliseconds, and that of the others, whose clock ticks up to a hundred times a second.
const (
	coarseTick = 2 * time.Second
	fineTick   = 50 * time.Millisecond
)

// Stamp distinguishes this state of a file on disk from its others without reading it again, for a cache on this machine: place, size, times of the last
// change of content and of state where the system has these, footer. settled says that the file was last changed long enough before now that a
// later change shows. It is "" where the file is not on disk.
func (f *File) Stamp(now time.Time) (stamp string, settled bool) {
	if f.info == nil || f.path == "" {
		return "", false
	}
	changed, inode := state(f.info)
	if f.info.ModTime().After(changed) {
		changed = f.info.ModTime()
	}
	tick := fineTick
	if f.info.ModTime().Nanosecond()%int(time.Millisecond) == 0 {
		tick = coarseTick
	}
	stamp = fmt.Sprintf("%s %d %d %d %d", f.path, f.info.Size(), f.info.ModTime().UnixNano(), changed.UnixNano(), inode)
	if f.Parquet != nil {
		stamp += fmt.Sprintf(" %x", f.Parquet.FooterHash())
	}
	return stamp, now.Sub(changed) > tick
}

// sameTime is the state of a file where the system does not tell when that changed.
func sameTime(info os.FileInfo) (time.Time, uint64) { return info.ModTime(), 0 }
