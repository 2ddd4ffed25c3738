package ruletest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// declare puts the types of an Example.Schema into s, the schema of file number file.
func declare(s *schema.Schema, file int, text string) error {
	for _, line := range strings.Split(text, ";") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if n, rest, ok := strings.Cut(line, "/"); ok && !strings.ContainsAny(n, ": ") {
			if n != strconv.Itoa(file) {
				continue
			}
			line = rest
		}
		name, typ, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("schema %q: expected PATH: TYPE", line)
		}
		t, err := schema.ParseType(typ)
		if err != nil {
			return err
		}
		p, err := schema.ParsePath(name)
		if err != nil {
			return err
		}
		if !setType(s.Fields, p.Steps(), t) {
			return fmt.Errorf("schema %q: no such column", line)
		}
	}
	return nil
}

func setType(fields []schema.Field, steps []string, t schema.Type) bool {
	for i := range fields {
		if fields[i].Name != steps[0] && steps[0] != schema.Elem {
			continue
		}
		if len(steps) == 1 {
			fields[i].Type = t
			return true
		}
		return setType(fields[i].Type.Fields, steps[1:], t)
	}
	return false
}
