package verl

import (
	"slices"
	"strconv"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A launchCheck is a rule over a launch, with the footers of the data where there is any.
type launchCheck struct {
	*rule.Pass
	*Launch
	files []*rule.File
	check func(c *launchCheck)
}

// onLaunch returns the New of a rule that looks at RL launches; without one it finds nothing.
func onLaunch(check func(c *launchCheck)) func(*rule.Pass) rule.Checker {
	return func(p *rule.Pass) rule.Checker { return &launchCheck{Pass: p, check: check} }
}

// Files implements rule.Checker.
func (c *launchCheck) Files(files []*rule.File) {
	l := launchOf(c.Pass)
	if l == nil || !l.RL() {
		return
	}
	c.Launch, c.files = l, files
	c.check(c)
}

// launchOf returns the launch of a pass, nil where none was given.
func launchOf(p *rule.Pass) *Launch { return NewLaunch(p.Env.Target, p.Env.Launch) }

// at reports a finding about a key, at the place where it is set, else at the command.
func (c *launchCheck) at(key, format string, args ...any) {
	v, pos, _ := c.Value(key)
	c.Reportf(pos, v, format, args...)
}

// atLevel is at, with another level than the rule's.
func (c *launchCheck) atLevel(level rule.Level, key, message string) {
	_, pos, _ := c.Value(key)
	c.Report(rule.Finding{Level: level, Pos: pos, Message: message})
}

// Set reports whether the launch sets a key.
func (l *Launch) Set(key string) bool {
	_, _, set := l.Value(key)
	return set
}

// train are the training files whose columns are known.
func (c *launchCheck) train() []*rule.File {
	var out []*rule.File
	for _, f := range c.files {
		if !f.Val && f.Schema != nil && !slices.Contains([]string{"test", "val", "validation"}, f.Split) {
			out = append(out, f)
		}
	}
	return out
}

// agentColumn reports whether some training file has a column agent_name; known is false where there are no files.
func (c *launchCheck) agentColumn() (has, known bool) {
	files := c.train()
	for _, f := range files {
		has = has || kindOf(f.Schema, agentName) != schema.Missing
	}
	return has, len(files) > 0
}

// runtimeColumns reports whether a dataset class of the user's may add columns when it loads.
func (l *Launch) runtimeColumns() bool { return l != nil && l.Text(keyCustomCls) != "" }

// fieldNames lists the fields of a mapping, in their order.
func fieldNames(v schema.Value) (names []string) {
	if v.Kind() != schema.Struct {
		return nil
	}
	for _, f := range v.Type().Fields {
		names = append(names, f.Name)
	}
	return names
}

// number writes n with commas: "5,120".
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
