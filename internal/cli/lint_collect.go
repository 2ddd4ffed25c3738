package cli

import (
	"context"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/project"
	"github.com/rlprep/rlprep/internal/source"
)

// collect checks the files of args, and where none are named the data sets of the project or the launches' own data.
func (l *lint) collect(ctx context.Context, args []string, found *check.Result) error {
	named := l.named(args)
	switch {
	case !named && len(l.input.splits) > 0:
		return misuse.Errorf("--split: name the files, too")
	case !named && !l.given("config") && l.project.file != nil && len(l.project.file.Datasets) > 0:
		return l.project.collect(ctx, l, found)
	case !named && len(l.launches.configs) > 0:
		return l.judgeLaunches(ctx, nil, found)
	case !named:
		return misuse.Errorf("no files: name the data to check, or the data sets in %s ('rlprep init' writes one)", project.FileName)
	}
	set, err := l.resolve(ctx, args, nil)
	if err != nil {
		return err
	}
	found.Owns(set)
	return l.project.divide(ctx, l, set, found)
}

// judgeFolders checks the files of set. Where only folders are named, and nothing else says what belongs together, each data set in them is
// checked by itself.
func (l *lint) judgeFolders(ctx context.Context, set *source.Set, found *check.Result) error {
	var groups []project.Folders
	together := l.given("val") || l.given("split") || l.given("files-from") || len(l.launches.configs) > 0 || l.fix.active() && len(set.Errors) > 0
	if !together && source.AllFolders(l.args) {
		groups = project.Group(set.Files(), l.env.Target)
	}
	if len(groups) < 2 {
		return l.judge(ctx, set, found)
	}
	parts := project.Divide(set, groups)
	found.Owns(parts...)
	found.Set.Errors = append(found.Set.Errors, set.Errors...)
	for i, part := range parts {
		if !l.app.quiet {
			escape.Fprintf(l.app.stderr, "note: data set %s: %s, checked by itself\n", groups[i].Name, amount.Of(len(part.Files()), "file"))
		}
		one, env := *l, *l.env
		one.env = &env
		if err := one.judge(ctx, part, found); err != nil {
			return err
		}
	}
	return nil
}

// judge checks the files of set, alone or with the launches.
func (l *lint) judge(ctx context.Context, set *source.Set, found *check.Result) error {
	if len(l.launches.configs) > 0 {
		return l.judgeLaunches(ctx, set, found)
	}
	rep, err := l.checkAndFix(ctx, set)
	if err != nil {
		return asUsage(err)
	}
	found.Add(l.env, l.rules, set, "", rep)
	return nil
}

// collect checks the data sets of the project.
func (p *lintProject) collect(ctx context.Context, l *lint, found *check.Result) error {
	for i := range p.file.Datasets {
		d := &p.file.Datasets[i]
		one, err := p.dataset(l, d)
		if err != nil {
			return inDataset(d, err)
		}
		splits := p.file.Files(d)
		if splits == nil { // the launch's own data
			if err := one.judgeLaunches(ctx, nil, found); err != nil {
				return err
			}
			continue
		}
		set, err := one.resolve(ctx, nil, splits)
		if err != nil {
			return inDataset(d, err)
		}
		found.Owns(set)
		if err := one.judge(ctx, set, found); err != nil {
			return err
		}
	}
	return nil
}

// divide checks files that were named on the command line: those that a data set of the project names as it asks, the others as the
// whole file does. Where the command line says of them which splits or which launch, it is followed alone.
func (p *lintProject) divide(ctx context.Context, l *lint, set *source.Set, found *check.Result) error {
	if p.file == nil || len(p.file.Datasets) == 0 || l.given("val") || l.given("split") || l.given("config") {
		return l.judgeFolders(ctx, set, found)
	}
	n := len(p.file.Datasets)
	parts := set.Divide(n+1, func(f *source.File) (int, string) {
		if i, split := p.file.Owner(f.Name); i >= 0 {
			return i, split
		}
		return n, f.Split
	})
	found.Owns(parts...)
	found.Set.Errors = append(found.Set.Errors, set.Errors...)
	for i, part := range parts {
		if len(part.Files()) == 0 {
			continue
		}
		if i == n {
			if err := l.judgeFolders(ctx, part, found); err != nil {
				return err
			}
			continue
		}
		one, err := p.dataset(l, &p.file.Datasets[i])
		if err != nil {
			return inDataset(&p.file.Datasets[i], err)
		}
		if err := one.judge(ctx, part, found); err != nil {
			return err
		}
	}
	if len(set.Errors) > 0 && len(found.Targets) == 0 { // no file can be read
		found.Add(l.env, l.rules, &source.Set{}, "", &pipeline.Report{})
	}
	return nil
}

// foresee names all files that the run will read: the first of several data sets is fixed before the next is opened.
func (l *lint) foresee(ctx context.Context, args []string) error {
	all := []*lint{l}
	if l.named(args) && l.input.filesFrom != "-" { // what is read there is read once
		if err := l.foreseeFiles(ctx, args, nil); err != nil {
			return err
		}
	}
	if p := &l.project; p.file != nil {
		for i := range p.file.Datasets {
			d := &p.file.Datasets[i]
			one, err := p.dataset(l, d)
			if err != nil {
				return inDataset(d, err)
			}
			all = append(all, one)
			if splits := p.file.Files(d); !l.named(args) && !l.given("config") && splits != nil {
				if err := one.foreseeFiles(ctx, nil, splits); err != nil {
					return inDataset(d, err)
				}
			}
		}
	}
	for _, one := range all {
		for _, config := range one.launches.configs {
			read, err := one.launches.flags.read(ctx, l.app, config, nil, one.env.Target)
			if err != nil {
				return err
			}
			for _, t := range read.Trainings {
				own := *one
				own.input.filesFrom = ""
				var train []string
				if train, own.val = t.Data(); len(train)+len(own.val) > 0 {
					if err := own.foreseeFiles(ctx, train, nil); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// foreseeFiles names the files that args or splits mean.
func (l *lint) foreseeFiles(ctx context.Context, args []string, splits []source.SplitArg) error {
	spec, err := l.spec(args, splits)
	if err != nil {
		return err
	}
	if spec.FilesFrom != "" {
		if err := l.app.guard.Read("--files-from", spec.FilesFrom, spec.FilesFrom); err != nil {
			return err
		}
	}
	spec.Named = func(name, path string) error { return l.app.guard.Read("FILES", name, path) }
	return asInput(source.Name(ctx, spec))
}
