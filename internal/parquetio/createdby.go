package parquetio

import (
	"fmt"
	"slices"
	"strings"
)

// A writer is what created_by says of who wrote a file: "parquet-mr version 1.8.1 (build abc)".
type writer struct {
	name    string
	version [3]int
	known   bool // it says a version
}

func parseCreatedBy(s string) writer {
	name, rest, _ := strings.Cut(s, " version ")
	w := writer{name: name}
	n, _ := fmt.Sscanf(rest, "%d.%d.%d", &w.version[0], &w.version[1], &w.version[2])
	w.known = n >= 2
	return w
}

func (w *writer) before(major, minor, patch int) bool {
	return !w.known || slices.Compare(w.version[:], []int{major, minor, patch}) < 0
}

// distrusted reports whether readers ignore min and max of files by this version, because it got them wrong (PARQUET-251,
// PARQUET-686; Arrow's ApplicationVersion::HasCorrectStatistics). Under our name they would be believed.
func (w *writer) distrusted() bool {
	return w.name == "parquet-mr" && w.before(1, 10, 0) || w.name == "parquet-cpp" && w.before(1, 3, 0)
}

// cutsDictionary reports whether chunks with a dictionary may be longer than the footer says: this version did not count the
// header of the dictionary page (PARQUET-816).
func (w *writer) cutsDictionary() bool { return w.name == "parquet-mr" && w.before(1, 2, 9) }
