package verl

import (
	"strconv"
	"strings"
)

// lastBoxed returns what math_reward takes as the answer (math_reward.py, last_boxed_only_string and remove_boxed): the inside
// of the last \boxed{} by counting braces, or what follows "\boxed " up to a dollar sign.
func lastBoxed(s string) (string, bool) {
	if i := strings.LastIndex(s, `\boxed `); i >= 0 {
		rest, _, _ := strings.Cut(s[i+len(`\boxed `):], "$")
		return rest, true
	}
	at := strings.LastIndex(s, `\boxed`)
	if at < 0 || !strings.HasPrefix(s[at:], `\boxed{`) {
		return "", false // \fbox fails in remove_boxed
	}
	open := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return s[at+len(`\boxed{`) : i], true
			}
		}
	}
	return "", false
}

// sameMATH is math_reward's is_equiv: both sides normalised, or compared as they are where that fails.
func sameMATH(a, b string) bool {
	x, okX := stripMATH(a)
	y, okY := stripMATH(b)
	if !okX || !okY {
		return a == b
	}
	return x == y
}

// stripMATH is math_reward's strip_string; false where that raises.
func stripMATH(s string) (string, bool) {
	for _, step := range [][2]string{{"\n", ""}, {`\!`, ""}, {`\\`, `\`}, {"tfrac", "frac"}, {"dfrac", "frac"}, {`\left`, ""}, {`\right`, ""},
		{`^{\circ}`, ""}, {`^\circ`, ""}, {`\$`, ""}} {
		s = strings.ReplaceAll(s, step[0], step[1])
	}
	parts := strings.Split(s, `\text{ `)
	if len(parts) > 2 {
		return "", false
	}
	s = parts[0]
	for _, step := range [][2]string{{`\\%`, ""}, {`\%`, ""}, {" .", " 0."}, {"{.", "{0."}} {
		s = strings.ReplaceAll(s, step[0], step[1])
	}
	if s == "" {
		return s, true
	}
	if s[0] == '.' {
		s = "0" + s
	}
	if parts := strings.Split(s, "="); len(parts) == 2 && len([]rune(parts[0])) <= 2 {
		s = parts[1]
	}
	s, ok := fixSqrt(s)
	if !ok {
		return "", false
	}
	s = strings.ReplaceAll(s, " ", "")
	if s, ok = fixFracs(s); !ok {
		return "", false
	}
	if s == "0.5" {
		s = `\frac{1}{2}`
	}
	return fixSlash(s), true
}

// fixSqrt writes \sqrt3 as \sqrt{3}; false at a \sqrt that ends the text.
func fixSqrt(s string) (string, bool) {
	parts := strings.Split(s, `\sqrt`)
	var b strings.Builder
	b.WriteString(parts[0])
	for _, p := range parts[1:] {
		r := []rune(p)
		if len(r) == 0 {
			return "", false
		}
		if r[0] == '{' {
			b.WriteString(`\sqrt` + p)
		} else {
			b.WriteString(`\sqrt{` + string(r[0]) + "}" + string(r[1:]))
		}
	}
	return b.String(), true
}

// fixFracs writes \frac12 as \frac{1}{2}; false at a \frac that ends the text.
func fixFracs(s string) (string, bool) {
	parts := strings.Split(s, `\frac`)
	var b strings.Builder
	b.WriteString(parts[0])
	for _, p := range parts[1:] {
		r := []rune(p)
		switch {
		case len(r) == 0:
			return "", false
		case r[0] == '{':
			b.WriteString(`\frac` + p)
		case len(r) < 2:
			return s, true
		case r[1] == '{':
			b.WriteString(`\frac{` + string(r[0]) + "}" + string(r[1:]))
		default:
			b.WriteString(`\frac{` + string(r[0]) + "}{" + string(r[1]) + "}" + string(r[2:]))
		}
	}
	return b.String(), true
}

// fixSlash writes 1/2 as \frac{1}{2}.
func fixSlash(s string) string {
	a, b, ok := strings.Cut(s, "/")
	if !ok || strings.Contains(b, "/") {
		return s
	}
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX != nil || errY != nil || s != strconv.Itoa(x)+"/"+strconv.Itoa(y) {
		return s
	}
	return `\frac{` + strconv.Itoa(x) + "}{" + strconv.Itoa(y) + "}"
}
