package hf

import (
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// columns checks the footers of all files.
type columns struct {
	*rule.Pass
	check func(p *rule.Pass, f *rule.File)
}

// Files implements rule.Checker.
func (c *columns) Files(files []*rule.File) {
	for _, f := range files {
		c.check(c.Pass, f)
	}
}

// eachFile returns a Checker that calls check for each file.
func eachFile(check func(p *rule.Pass, f *rule.File)) func(*rule.Pass) rule.Checker {
	return func(p *rule.Pass) rule.Checker { return &columns{Pass: p, check: check} }
}

// datasets checks the files that are loaded as one dataset.
type datasets struct {
	*rule.Pass
	check func(p *rule.Pass, files []*rule.File)
}

// Files implements rule.Checker.
func (c *datasets) Files(files []*rule.File) {
	for _, group := range rule.Together(files) {
		c.check(c.Pass, group)
	}
}

// eachDataset returns a Checker that calls check for each group of files that are loaded as one dataset.
func eachDataset(check func(p *rule.Pass, files []*rule.File)) func(*rule.Pass) rule.Checker {
	return func(p *rule.Pass) rule.Checker { return &datasets{Pass: p, check: check} }
}

// alike reports whether all files have the columns of the first, in the same order: then nothing can differ between them.
func alike(files []*rule.File) bool {
	for _, f := range files[1:] {
		if len(f.Schema.Fields) != len(files[0].Schema.Fields) {
			return false
		}
		for i, c := range f.Schema.Fields {
			if d := &files[0].Schema.Fields[i]; c.Name != d.Name || !c.Type.Equal(d.Type) {
				return false
			}
		}
	}
	return true
}

// walk calls f for each field of s and below it, parents first, until f returns false for one (its children are skipped).
func walk(s *schema.Schema, f func(path schema.Path, field schema.Field) bool) {
	if s == nil {
		return
	}
	var down func(path schema.Path, field schema.Field)
	down = func(path schema.Path, field schema.Field) {
		if !f(path, field) {
			return
		}
		for _, c := range field.Type.Fields {
			switch field.Type.Kind {
			case schema.Struct:
				down(path.Field(c.Name), c)
			case schema.List:
				down(path.Elem(), c)
			}
		}
	}
	for _, c := range s.Fields {
		down(schema.Path("").Field(c.Name), c)
	}
}

func at(f *rule.File, p schema.Path) schema.Pos { return schema.FilePos(f.Name).At(p) }
