package judge

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// answers notes what rules asked the launch and what it answered: a cached result holds as long as the launch would answer the same.
type answers struct {
	launch rule.Launch

	mu    sync.Mutex
	given map[string]string // by question: the method's name, a blank, and the argument
}

// note keeps an answer.
func (a *answers) note(method, argument, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given[method+" "+argument] = answer
}

// same reports whether the launch would still answer so. A question that this version does not know has another answer.
func (a *answers) same(given map[string]string) bool {
	if a == nil {
		return len(given) == 0
	}
	now := &answers{launch: a.launch, given: map[string]string{}}
	for question := range given {
		now.ask(strings.Cut(question, " "))
	}
	return maps.Equal(now.given, given)
}

// ask asks a question that was noted.
func (a *answers) ask(method, argument string, _ bool) {
	switch method {
	case "Value":
		a.Value(argument)
	case "Whole":
		a.Whole()
	case "Keys":
		a.Keys()
	case "Default":
		a.Default(argument)
	case "Document":
		a.Document(argument)
	case "DocumentError":
		a.DocumentError(argument)
	case "Python":
		a.Python(argument)
	case "NearFile":
		a.NearFile(argument)
	case "MissingFiles":
		a.MissingFiles(argument)
	case "Operator":
		a.Operator(argument)
	case "Refused":
		a.Refused()
	case "Variable":
		a.Variable(argument)
	case "Module":
		a.Module()
	}
}

func (a *answers) clone() map[string]string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.given)
}

// valueText tells values apart, the kinds of numbers too.
func valueText(v schema.Value) string {
	if v.IsMissing() {
		return ""
	}
	return fmt.Sprintf("%d %s", v.Kind(), v.AppendJSON(nil))
}

// Value implements rule.Launch.
func (a *answers) Value(key string) (schema.Value, schema.Pos) {
	v, pos := a.launch.Value(key)
	a.note("Value", key, fmt.Sprintf("%+v %s", pos, valueText(v)))
	return v, pos
}

// Whole implements rule.Launch.
func (a *answers) Whole() bool {
	whole := a.launch.Whole()
	a.note("Whole", "", fmt.Sprint(whole))
	return whole
}

// Keys implements rule.Launch.
func (a *answers) Keys() []string {
	keys := a.launch.Keys()
	a.note("Keys", "", fmt.Sprintf("%q", keys))
	return keys
}

// Default implements rule.Launch.
func (a *answers) Default(key string) schema.Value {
	v := a.launch.Default(key)
	a.note("Default", key, valueText(v))
	return v
}

// DocumentError implements rule.Launch.
func (a *answers) DocumentError(key string) string {
	text := a.launch.DocumentError(key)
	a.note("DocumentError", key, text)
	return text
}

// Python implements rule.Launch.
func (a *answers) Python(key string) (string, bool) {
	text, here := a.launch.Python(key)
	a.note("Python", key, fmt.Sprint(here, " ", text))
	return text, here
}

// NearFile implements rule.Launch.
func (a *answers) NearFile(name string) string {
	near := a.launch.NearFile(name)
	a.note("NearFile", name, near)
	return near
}

// Document implements rule.Launch.
func (a *answers) Document(key string) schema.Value {
	v := a.launch.Document(key)
	a.note("Document", key, valueText(v))
	return v
}

// MissingFiles implements rule.Launch.
func (a *answers) MissingFiles(key string) []string {
	names := a.launch.MissingFiles(key)
	a.note("MissingFiles", key, fmt.Sprintf("%q", names))
	return names
}

// Operator implements rule.Launch.
func (a *answers) Operator(key string) string {
	op := a.launch.Operator(key)
	a.note("Operator", key, op)
	return op
}

// Refused implements rule.Launch.
func (a *answers) Refused() []rule.Refusal {
	all := a.launch.Refused()
	a.note("Refused", "", fmt.Sprintf("%+v", all))
	return all
}

// Variable implements rule.Launch.
func (a *answers) Variable(name string) (string, bool) {
	v, set := a.launch.Variable(name)
	a.note("Variable", name, fmt.Sprint(set, " ", v))
	return v, set
}

// Module implements rule.Launch.
func (a *answers) Module() (string, schema.Pos) {
	module, pos := a.launch.Module()
	a.note("Module", "", fmt.Sprintf("%+v %s", pos, module))
	return module, pos
}
