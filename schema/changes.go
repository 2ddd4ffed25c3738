package schema

import (
	"slices"
	"strings"
)

// Changes returns what differs between two schemas, a line each: "-PATH: TYPE" for each leaf that goes, "+PATH: TYPE" for each that comes, and
// where the leaves are the same in another order "-columns A, B" and "+columns B, A". It returns nil where nothing differs.
func Changes(before, after *Schema) (lines []string) {
	was, is := before.leafTexts(), after.leafTexts()
	for _, text := range was {
		if !slices.Contains(is, text) {
			lines = append(lines, "-"+text)
		}
	}
	for _, text := range is {
		if !slices.Contains(was, text) {
			lines = append(lines, "+"+text)
		}
	}
	if lines == nil && !slices.Equal(was, is) {
		lines = append(lines, "-columns "+strings.Join(before.Names(), ", "), "+columns "+strings.Join(after.Names(), ", "))
	}
	return lines
}

// leafTexts returns "PATH: TYPE" of each leaf.
func (s *Schema) leafTexts() (out []string) {
	for _, l := range s.Leaves() {
		out = append(out, string(l.Path)+": "+l.Type.String())
	}
	return out
}
