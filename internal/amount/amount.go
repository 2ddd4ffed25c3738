// Package amount writes and reads numbers as people do: "747,300", "1 row group", "242.1 MB", "1GiB".
package amount

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Thousands writes n with commas: "747,300".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Of writes a number of things: "1 file", "1,200 files".
func Of(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(int64(n)) + " " + thing + "s"
}

// Bytes writes a size in units of thousands: "242.1 MB".
func Bytes(n int64) string {
	f, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

var errBytes = errors.New("expected a number of bytes, such as 500MB or 1GiB")

// ParseBytes reads a number of bytes, with a unit of thousands (kB, MB, GB, TB) or of 1,024 (KiB, MiB, GiB, TiB). It is at least 1.
func ParseBytes(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTbkmgti ")
	n, err := strconv.ParseFloat(digits, 64)
	unit := strings.ToLower(strings.TrimSpace(text[len(digits):]))
	scale := map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}[unit]
	if n *= scale; err != nil || !(n >= 1 && n < math.MaxInt64) {
		return 0, errBytes
	}
	return int64(n), nil
}
