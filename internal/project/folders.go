package project

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Folder returns the folder of the data set that a file belongs to: the file's own folder, or the one above where the file's is named after the
// file's split (data/train/0.parquet).
func Folder(name string) string {
	name = filepath.ToSlash(name)
	dir := path.Dir(name)
	split := source.SplitOfName(path.Join(path.Base(dir), path.Base(name)))
	if split != "" && dir != "." && source.SplitOfName(path.Base(dir)+"/x") == split {
		return path.Dir(dir)
	}
	return dir
}

// A Folders is files of one data set, in one or more folders.
type Folders struct {
	Name  string // the first folder
	Files []*source.File
}

// Group divides files into data sets by their folders, in the order of the first file of each. Folders with the same columns, of rows of the
// same kind for the target, are one data set, and so are folders whose names differ only in digits, or are key=value of one key.
func Group(files []*source.File, target rule.Target) []Folders {
	type group struct {
		Folders
		forms []string
		kind  rule.Kind
		types []string // of its files
	}
	var byFolder []*group
	for _, f := range files {
		folder := Folder(f.Name)
		i := slices.IndexFunc(byFolder, func(g *group) bool { return g.Name == folder })
		if i < 0 {
			i = len(byFolder)
			byFolder = append(byFolder, &group{Folders: Folders{Name: folder}, forms: []string{form(folder)}, kind: target.KindOf(f.Schema)})
		}
		g := byFolder[i]
		g.Files = append(g.Files, f)
		if t := columns(f.Schema.Fields); !slices.Contains(g.types, t) {
			g.types = append(g.types, t)
		}
	}
	var groups []*group
	for _, g := range byFolder {
		i := slices.IndexFunc(groups, func(o *group) bool {
			return slices.Contains(o.forms, g.forms[0]) || o.kind == g.kind && slices.ContainsFunc(g.types, func(t string) bool { return slices.Contains(o.types, t) })
		})
		if i < 0 {
			groups = append(groups, g)
			continue
		}
		groups[i].Files = append(groups[i].Files, g.Files...)
		groups[i].forms = append(groups[i].forms, g.forms...)
		groups[i].types = append(groups[i].types, g.types...)
	}
	out := make([]Folders, len(groups))
	for i, g := range groups {
		out[i] = g.Folders
	}
	return out
}

// form is a folder's name without what tells the parts of one data set apart: part-00 and part-01, lang=de and lang=en.
func form(folder string) string {
	base := path.Base(folder)
	if key, _, ok := strings.Cut(base, "="); ok {
		base = key + "="
	}
	base = strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, base)
	return path.Join(path.Dir(folder), base)
}

// columns writes names and types of fields in an order that does not depend on theirs, without what may be null.
func columns(fields []schema.Field) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name + ":" + f.Type.Kind.String()
		if f.Type.Fields != nil {
			out[i] += "{" + columns(f.Type.Fields) + "}"
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// Divide makes a set of each of groups, which have all files of set. Each file keeps its split; what could not be opened stays with set.
func Divide(set *source.Set, groups []Folders) []*source.Set {
	of := map[*source.File]int{}
	for i, g := range groups {
		for _, f := range g.Files {
			of[f] = i
		}
	}
	return set.Divide(len(groups), func(f *source.File) (int, string) { return of[f], f.Split })
}
