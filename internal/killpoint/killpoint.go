// Package killpoint names the moments at which a test kills the tool, to prove that nothing is lost then. It does nothing unless Enable was
// called, which only tests do.
package killpoint

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// What Enable sets.
var (
	at      func(name string)
	refused func(what string) bool
)

// At is a moment of that name.
func At(name string) {
	if at != nil {
		at(name)
	}
}

// Refused reports whether to act as if the system had refused what.
func Refused(what string) bool { return refused != nil && refused(what) }

// Enable makes the process obey the environment: RLPREP_HOLD=name makes At(name) wait for ever; RLPREP_KILL=name makes it kill the process at once
// (as kill -9 does), RLPREP_KILL=name:N at its Nth call, from 1; RLPREP_REFUSE=what,… makes Refused true for each of them. It is called
// before anything else.
func Enable() { at, refused = holdOrKill, refuse }

var passed atomic.Int64

func holdOrKill(name string) {
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
		if p, err := os.FindProcess(os.Getpid()); err != nil || p.Kill() != nil {
			panic("killpoint: this process cannot be killed")
		}
		select {}
	}
}

func refuse(what string) bool {
	return slices.Contains(strings.Split(os.Getenv("RLPREP_REFUSE"), ","), what)
}
