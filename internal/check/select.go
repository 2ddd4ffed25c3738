package check

import (
	"slices"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
)

// Select returns the rules that selected names (none: all) and ignored does not, by ids, names and prefixes of ids. An unknown name is a
// *misuse.Error.
func Select(selected, ignored []string) ([]*rule.Rule, error) {
	for _, name := range slices.Concat(selected, ignored) {
		if !slices.ContainsFunc(rule.All(), func(r *rule.Rule) bool { return r.Named(name) }) {
			return nil, misuse.Unknown("rule", name, rule.Names())
		}
	}
	var out []*rule.Rule
	for _, r := range rule.All() {
		is := func(name string) bool { return r.Named(name) }
		if (len(selected) == 0 || slices.ContainsFunc(selected, is)) && !slices.ContainsFunc(ignored, is) {
			out = append(out, r)
		}
	}
	return out, nil
}
