// Package project reads rlprep.yaml: the data sets of a repository, what they are judged as, and which findings are suppressed, with reasons. It is found
// upward from the working directory. It says what lint is to do; that flags win over it is cli's to see to.
package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema/rule"
)

// FileName is the name that is looked for.
const FileName = "rlprep.yaml"

// otherName is what it is called by mistake.
const otherName = "rlprep.yml"

// A File is a project's file, read and checked as far as it can be without the data. Names of files in it are as written: from the file's
// own folder.
type File struct {
	Settings            // of all data, unless a data set says otherwise
	Datasets  []Dataset // in the order of the file
	PerFile   []Ignore
	FailLevel rule.Level // Off: not said
	Formats   []string   // of the output, "sarif=lint.sarif"
	Baseline  string     // "": none

	yamlfile.Reader
}

// Settings say what data is judged as. A zero field is not said.
type Settings struct {
	Target  rule.Target
	Rows    rule.Kind
	Configs []string // launches
	Select  []string // ids, names, beginnings of ids
	Ignore  []string
	Agents  []string // agent loops that a launch registers
	Sources []string // values of data_source that a reward function of the user's scores
}

// A Dataset is data that is trained on together.
type Dataset struct {
	Name   string
	Where  string // "rlprep.yaml:7:3"
	Splits []Split
	Settings
}

// A Split is the files of one split: names, folders, globs.
type Split struct {
	Name  string // train, validation, test
	Files []string
}

// An Ignore lets findings of some rules pass in some files.
type Ignore struct {
	Where  string
	Files  []string // names, folders, globs
	Rules  []string
	Reason string
}

// Find returns the path of the project's file for the directory dir, as a name from there: in it or above it, up to the root of the
// repository, the home directory or the root of the file system. It is "" where there is none.
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", FileName, err)
	}
	home, _ := os.UserHomeDir()
	for at, up := dir, ""; ; at, up = filepath.Dir(at), filepath.Join(up, "..") {
		name := filepath.Join(up, FileName)
		info, err := os.Stat(filepath.Join(at, FileName))
		switch {
		case err == nil && info.Mode().IsRegular():
			return name, nil
		case err == nil:
			return "", fmt.Errorf("%s: not a regular file", name)
		} // where we cannot look there is none
		if _, err := os.Stat(filepath.Join(at, otherName)); err == nil {
			return "", fmt.Errorf("%s: the file is called %s: rename it", filepath.Join(up, otherName), FileName)
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == home || at == filepath.Dir(at) {
			return "", nil
		}
	}
}

// Parse reads a project's file. name is what messages call it. The error is *yamlfile.Error or yamlfile.Errors.
func Parse(name string, text []byte) (*File, error) {
	f := &File{Reader: yamlfile.Reader{Name: name, What: "a project", Init: "rlprep init"}}
	root, err := f.Reader.Parse(text)
	if err != nil {
		return nil, err
	}
	f.Mapping(root, "the file", append(f.settings(&f.Settings),
		yamlfile.On("datasets", f.datasets),
		yamlfile.On("per_file_ignores", f.ignores),
		yamlfile.On("fail_level", func(n *yamlfile.Node) {
			s := f.Text(n, "fail_level")
			if f.FailLevel, err = rule.ParseLevel(s); err != nil || f.FailLevel == rule.Off {
				f.Unknown(n.Pos, "level", s, []string{"error", "warning", "info"})
			}
		}),
		yamlfile.On("output_formats", f.formats),
		yamlfile.On("baseline", func(n *yamlfile.Node) { f.Baseline = f.Text(n, "baseline") }),
	)...)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// settings are the keys that the whole file and each data set have.
func (f *File) settings(s *Settings) []yamlfile.Key {
	rules := func(what string, to *[]string) func(*yamlfile.Node) {
		return func(n *yamlfile.Node) { *to = f.rules(n, what) }
	}
	texts := func(what string, to *[]string) func(*yamlfile.Node) {
		return func(n *yamlfile.Node) { *to = f.Texts(n, what) }
	}
	return []yamlfile.Key{
		yamlfile.On("target", func(n *yamlfile.Node) {
			if text := f.Text(n, "target"); text != "" {
				var err error
				if s.Target, err = rule.ParseTarget(text); err != nil {
					f.Fault(n.Pos, "%v", err)
				}
			}
		}),
		yamlfile.On("rows", func(n *yamlfile.Node) {
			text := f.Text(n, "rows")
			var err error
			if s.Rows, err = rule.ParseKind(text); err != nil {
				f.Unknown(n.Pos, "kind of rows", text, rule.KindNames())
			}
		}),
		yamlfile.On("config", texts("config", &s.Configs)),
		yamlfile.On("select", rules("select", &s.Select)),
		yamlfile.On("ignore", rules("ignore", &s.Ignore)),
		yamlfile.On("known_agents", texts("known_agents", &s.Agents)),
		yamlfile.On("known_sources", texts("known_sources", &s.Sources)),
	}
}

// rules reads ids, names, or beginnings of ids.
func (f *File) rules(n *yamlfile.Node, what string) []string {
	list := n.List
	if n.Kind != yamlfile.List {
		list = []*yamlfile.Node{n}
	}
	for _, e := range list {
		if s, ok := e.Plain.(string); ok && s != "" && !slices.ContainsFunc(rule.All(), func(r *rule.Rule) bool { return r.Named(s) }) {
			f.Unknown(e.Pos, "rule", s, rule.Names())
		}
	}
	return f.Texts(n, what)
}

func (f *File) where(at yamlfile.Pos) string {
	return fmt.Sprintf("%s:%d:%d", f.Name, at.Line, at.Column)
}

// splitKeys are the keys of a data set that name files, and the splits that these are.
var splitKeys = []struct{ key, split string }{{"train", "train"}, {"val", "validation"}, {"test", "test"}}

func (f *File) datasets(n *yamlfile.Node) {
	if n.Kind != yamlfile.Map || len(n.Keys) == 0 {
		f.Fault(n.Pos, "datasets is %s, expected a mapping of names to data sets: 'gsm8k: {train: data/train.parquet}'", n)
		return
	}
	for _, e := range n.Keys {
		d := Dataset{Name: e.Name, Where: f.where(e.Pos)}
		keys := f.settings(&d.Settings)
		for _, k := range splitKeys {
			keys = append(keys, yamlfile.On(k.key, func(n *yamlfile.Node) {
				d.Splits = append(d.Splits, Split{k.split, f.Texts(n, k.key)})
			}))
		}
		f.Mapping(e.Value, "data set "+e.Name, keys...)
		if e.Value.Kind == yamlfile.Map && len(d.Splits) == 0 && len(d.Configs) == 0 {
			f.Fault(e.Pos, "data set %s names neither files (train, val, test) nor a launch (config)", e.Name)
		}
		f.Datasets = append(f.Datasets, d)
	}
}

func (f *File) ignores(n *yamlfile.Node) {
	if n.Kind != yamlfile.List {
		f.Fault(n.Pos, "per_file_ignores is %s, expected a list: '- {files: val/*.parquet, rules: [RL302], reason: …}'", n)
		return
	}
	for _, e := range n.List {
		i := Ignore{Where: f.where(e.Pos)}
		f.Mapping(e, "an entry of per_file_ignores",
			yamlfile.On("files", func(n *yamlfile.Node) { i.Files = f.Texts(n, "files") }),
			yamlfile.On("rules", func(n *yamlfile.Node) { i.Rules = f.rules(n, "rules") }),
			yamlfile.On("reason", func(n *yamlfile.Node) { i.Reason = strings.TrimSpace(f.Text(n, "reason")) }),
		)
		for _, k := range []string{"files", "rules", "reason"} {
			if v, ok := e.Get(k); e.Kind == yamlfile.Map && (!ok || k == "reason" && v.Kind == yamlfile.Plain && i.Reason == "") {
				f.Fault(e.Pos, "an entry of per_file_ignores needs %s", k)
			}
		}
		f.PerFile = append(f.PerFile, i)
	}
}

func (f *File) formats(n *yamlfile.Node) {
	list := n.List
	if n.Kind != yamlfile.List {
		list = []*yamlfile.Node{n}
	}
	for _, e := range list {
		s, _ := e.Plain.(string)
		if name, _, _ := strings.Cut(s, "="); s != "" && !slices.Contains(report.Formats(), name) {
			f.Unknown(e.Pos, "output format", name, report.Formats())
		}
	}
	f.Formats = f.Texts(n, "output_formats")
}
