package ruletest

import (
	"slices"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
	"github.com/rlprep/rlprep/schema/rule"
)

// launchName is the file that findings about a launch name.
const launchName = "run.sh"

// A launch is that of an example: what its lines say, by what stands before the '='.
type launch struct {
	values map[string]schema.Value
	pos    map[string]schema.Pos
}

// newLaunch reads Example.Launch.
func newLaunch(text string) *launch {
	l := &launch{map[string]schema.Value{}, map[string]schema.Pos{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, v, ok := strings.Cut(line[1:], "=")
		if !ok {
			panic("ruletest: launch line without '=': " + line)
		}
		key = line[:1] + key
		l.values[key] = schema.TextValue(v)
		if decoded, err := jsontext.Decode([]byte(v)); err == nil {
			t, err := jsontext.TypeOf(decoded)
			if err != nil {
				panic("ruletest: launch line " + line + ": " + err.Error())
			}
			l.values[key] = value(decoded, &t)
		}
		p := schema.FilePos(launchName)
		p.Line = int64(i) + 1
		l.pos[key] = p
	}
	return l
}

func (l *launch) at(key string) schema.Pos {
	if p, ok := l.pos[key]; ok {
		return p
	}
	return schema.FilePos(launchName)
}

// Value implements rule.Launch.
func (l *launch) Value(key string) (schema.Value, schema.Pos) { return l.values[key], l.at(key) }

// Whole implements rule.Launch.
func (l *launch) Whole() bool { return true }

// Keys implements rule.Launch.
func (l *launch) Keys() (keys []string) {
	for key := range l.values {
		if c := key[0]; c >= 'a' && c <= 'z' {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Default implements rule.Launch: an example knows what it says alone.
func (l *launch) Default(string) schema.Value { return schema.Value{} }

// Document implements rule.Launch.
func (l *launch) Document(key string) schema.Value { return l.values["@"+key] }

// DocumentError implements rule.Launch.
func (l *launch) DocumentError(key string) string { return l.values["@!"+key].Text() }

// Python implements rule.Launch: '|' stands for the end of a line.
func (l *launch) Python(key string) (string, bool) {
	v, ok := l.values["&"+key]
	return strings.ReplaceAll(v.Text(), "|", "\n"), ok
}

// NearFile implements rule.Launch.
func (l *launch) NearFile(name string) string { return l.values["~"+name].Text() }

// MissingFiles implements rule.Launch.
func (l *launch) MissingFiles(key string) (names []string) {
	list := l.values["?"+key]
	for i := range list.Len() {
		names = append(names, list.Elem(i).Text())
	}
	return names
}

// Operator implements rule.Launch.
func (l *launch) Operator(key string) string { return l.values["+"+key].Text() }

// Refused implements rule.Launch.
func (l *launch) Refused() (out []rule.Refusal) {
	list := l.values["!"]
	for i := range list.Len() {
		e := list.Elem(i)
		out = append(out, rule.Refusal{Key: e.Field("key").Text(), Message: e.Field("message").Text(), Pos: l.at("!"), Kind: rule.RefusalKind(e.Field("kind").Int())})
	}
	return out
}

// Variable implements rule.Launch.
func (l *launch) Variable(name string) (string, bool) {
	v, ok := l.values["$"+name]
	return v.Text(), ok
}

// Module implements rule.Launch.
func (l *launch) Module() (string, schema.Pos) {
	return l.values["%module"].Text(), l.at("%module")
}
