package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/schema/rule"
)

// open finds and reads the project's file.
func (p *lintProject) open(a *app, given func(flag string) bool) (err error) {
	name := p.name
	switch {
	case p.none && given("project"):
		return misuse.Errorf("--project and --no-project cannot be used together")
	case p.none:
		return nil
	case name == "":
		if name, err = project.Find("."); name == "" || err != nil {
			return err
		}
	}
	text, err := a.readFile("configuration", name)
	if err != nil {
		return err
	}
	if p.file, err = project.Parse(filepath.ToSlash(name), text); err != nil {
		return withCode(ExitUsage, err)
	}
	return nil
}

// configure gives l what the file says of all data, where no flag says it, and reads the options.
func (p *lintProject) configure(l *lint) error {
	if p.file == nil {
		return l.options()
	}
	p.settings(l, &p.file.Settings)
	if !l.given("fail-level") && p.file.FailLevel != rule.Off {
		l.failLevel = p.file.FailLevel.String()
	}
	if !l.given("output-format") {
		for _, f := range p.file.Formats {
			if name, file, named := strings.Cut(f, "="); named && file != "-" {
				f = name + "=" + p.file.Here(file)
			}
			l.formats = append(l.formats, f)
		}
	}
	return l.options()
}

// settings gives l those of s that no flag says.
func (p *lintProject) settings(l *lint, s *project.Settings) {
	if !l.given("target") && s.Target != (rule.Target{}) {
		l.target = s.Target.String()
	}
	if !l.given("kind") && s.Rows != rule.Any {
		l.rows = s.Rows.String()
	}
	if !l.given("config") && s.Configs != nil {
		l.launches.configs = nil
		for _, name := range s.Configs {
			l.launches.configs = append(l.launches.configs, p.file.Here(name))
		}
		if !l.given("cwd") { // the launch's own names are taken from where the project lies
			l.launches.flags.cwd = p.file.Dir()
		}
	}
	for flag, list := range map[string]struct{ to, from *[]string }{
		"select": {&l.selected, &s.Select}, "ignore": {&l.ignored, &s.Ignore},
		"known-agents": {&l.known.agents, &s.Agents}, "known-sources": {&l.known.sources, &s.Sources},
	} {
		if !l.given(flag) && *list.from != nil {
			*list.to = *list.from
		}
	}
}

// dataset returns l as the data set asks for it.
func (p *lintProject) dataset(l *lint, d *project.Dataset) (*lint, error) {
	one := *l
	p.settings(&one, &d.Settings)
	if err := one.options(); err != nil {
		return nil, err
	}
	return &one, nil
}

// inDataset says which data set an error is about; the command's usage would not help.
func inDataset(d *project.Dataset, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	code := exitCode(context.Background(), err)
	var usage *misuse.Error
	if errors.As(err, &usage) {
		err = usage.Err
	}
	return withCode(code, fmt.Errorf("%s: data set %s: %w", d.Where, d.Name, err))
}

// suppress removes the findings that the project's file suppresses, and prints how many. In a run over the whole project it also prints
// the suppressions that matched nothing.
func (p *lintProject) suppress(l *lint, found *check.Result, whole bool) {
	if p.file == nil || len(p.file.PerFile) == 0 {
		return
	}
	count, unused := found.Pass(p.file)
	if count > 0 && !l.app.quiet {
		escape.Fprintf(l.app.stderr, "%s ignored (%s)\n", amount.Of(int(count), "finding"), p.file.Name)
	}
	if !whole || l.app.quiet || l.schemaOnly || l.limit > 0 || len(found.Set.Errors)+len(found.Report.Errors) > 0 {
		return
	}
	for _, u := range unused {
		g := p.file.PerFile[u.Entry]
		escape.Fprintf(l.app.stderr, "%s: note: %s is no longer found in %s: remove it from per_file_ignores\n", g.Where, g.Rules[u.Rule], strings.Join(g.Files, ", "))
	}
}
