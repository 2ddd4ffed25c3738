//go:build killpoints

// Package killpoint names the moments at which a test kills the tool, to prove that nothing is lost then.
package killpoint

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

var passed atomic.Int64

// At waits for ever when RLPREP_HOLD is name. It kills the process at once (as kill -9 does) when RLPREP_KILL is name, or at its Nth passing when it is name:N, from 1.
func At(name string) {
	if os.Getenv("RLPREP_HOLD") == name {
		time.Sleep(time.Hour)
	}
	want, nth, _ := strings.Cut(os.Getenv("RLPREP_KILL"), ":")
	if want != name {
		return
	}
	n := int64(1)
	if nth != "" {
		if v, err := strconv.ParseInt(nth, 10, 64); err == nil {
			n = v
		}
	}
	if passed.Add(1) == n {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			p.Kill()
		}
		select {}
	}
}

// Refused is whether the system is to refuse what it is asked: RLPREP_REFUSE names it, among others with commas between them.
func Refused(what string) bool {
	return slices.Contains(strings.Split(os.Getenv("RLPREP_REFUSE"), ","), what)
}
