package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// lintLaunches are the launches that lint judges together with the data.
type lintLaunches struct {
	configs    []string
	flags      launchFlags
	checkPaths bool
}

func (l *lintLaunches) register(f *pflag.FlagSet) {
	f.StringArrayVar(&l.configs, "config", nil, "launch script or .yaml to judge with the data; without FILES, its own data; repeatable")
	f.BoolVar(&l.checkPaths, "check-paths", false, "files that a launch names and that are not here are errors")
	l.flags.register(f)
}

// runLaunches judges every training of every launch, with the files of args or with those that it names itself.
func (l *lint) runLaunches(ctx context.Context, args []string) error {
	all := &pipeline.Report{}
	sum := &source.Set{}
	var names []string
	for _, config := range l.launches.configs {
		one, err := l.launches.flags.read(ctx, l.app, config, nil, l.env.Target)
		if err != nil {
			return err
		}
		names = append(names, config)
		if len(one.trainings) == 0 {
			fmt.Fprintf(l.app.stderr, "note: %s starts no training that is known here\n", config)
		}
		for _, t := range one.trainings {
			set, rep, err := l.checkTraining(ctx, t, args)
			if err != nil {
				return err
			}
			defer set.Close()
			mergeReports(all, rep)
			mergeSets(sum, set)
		}
	}
	if err := l.reportAll(sum, all, names); err != nil {
		return err
	}
	if failed := slices.Concat(sum.Errors, all.Errors); len(failed) > 0 {
		return withCode(ExitFile, errors.Join(failed...))
	}
	if all.Failed && !l.exitZero {
		return errFindings
	}
	return nil
}

// checkTraining judges one training.
func (l *lint) checkTraining(ctx context.Context, t *training, args []string) (*source.Set, *pipeline.Report, error) {
	set := &source.Set{}
	val := l.val
	if len(args) == 0 && l.input.filesFrom == "" && len(val) == 0 {
		args, val = t.present("data.train_files"), t.present("data.val_files")
	}
	if len(args)+len(val) > 0 || l.input.filesFrom != "" {
		spec, err := l.input.spec(l.app, args)
		if err != nil {
			return nil, nil, err
		}
		spec.Val, spec.Lenient, spec.Hash = val, true, false
		if set, err = source.Resolve(ctx, spec); err != nil {
			return nil, nil, asInput(err)
		}
	}
	given := l.env
	env := *l.env
	env.Target, env.Lookup, env.CheckPaths = t.target, t.lookup, l.launches.checkPaths
	if env.Rows == rule.Any && len(set.Files()) == 0 {
		env.Rows = rule.SFT
		if t.launch().RL() {
			env.Rows = rule.RL
		}
	}
	l.env = &env
	rep, err := l.check(ctx, set)
	l.env = given
	if err != nil {
		set.Close()
		return nil, nil, asUsage(err)
	}
	return set, rep, nil
}

// present lists the files of a key that are here.
func (t *training) present(key string) []string {
	here, _ := t.files(key)
	return here
}

// files splits the files that a key names into those that are here and those that are not, as the launch names them.
func (t *training) files(key string) (here, missing []string) {
	n := t.config.Get(key)
	if n == nil {
		return nil, nil
	}
	list := n.List
	if n.Kind == launch.Scalar {
		list = []*launch.Node{n}
	}
	for _, e := range list {
		name, _ := e.Value.(string)
		if name == "" || e.Source.Assumed {
			continue
		}
		path := t.config.Path(name)
		matches, err := filepath.Glob(path)
		switch {
		case err == nil && len(matches) > 0 || fileExists(path):
			here = append(here, path)
		case !remote(name):
			missing = append(missing, name)
		}
	}
	return here, missing
}

// remote reports whether name lies where this machine cannot look.
func remote(name string) bool {
	return slices.ContainsFunc([]string{"hdfs://", "s3://", "gs://", "hf://", "http://", "https://"}, func(scheme string) bool { return strings.HasPrefix(name, scheme) })
}

// lookup is the configuration's, and "?" with a key: the files that the key names and that are not here.
func (t *training) lookup(key string) (schema.Value, schema.Pos) {
	if key == "" || key[0] != '?' {
		return t.config.Lookup(key)
	}
	if !t.config.Set(key[1:]) {
		return schema.Value{}, schema.Pos{}
	}
	_, missing := t.files(key[1:])
	list := make([]schema.Value, len(missing))
	for i, name := range missing {
		list[i] = schema.TextValue(name)
	}
	_, pos := t.config.Lookup(key[1:])
	return schema.ListValue(list), pos
}

// mergeReports adds what was not found before: launches that share data find the same in it.
func mergeReports(all, rep *pipeline.Report) {
	for _, e := range rep.Entries {
		same := func(o pipeline.Entry) bool {
			a, b := o.Findings[0], e.Findings[0]
			return a.Rule == b.Rule && a.Level == b.Level && a.Pos == b.Pos && a.Message == b.Message && o.Count == e.Count
		}
		if !slices.ContainsFunc(all.Entries, same) {
			all.Entries = append(all.Entries, e)
		}
	}
	all.Errors = append(all.Errors, rep.Errors...)
	all.Failed = all.Failed || rep.Failed
}

func mergeSets(all, set *source.Set) {
	all.Errors = append(all.Errors, set.Errors...)
	for _, s := range set.Splits {
		for _, f := range s.Files {
			if !slices.ContainsFunc(all.Files(), func(o *source.File) bool { return o.Name == f.Name }) {
				all.Splits = append(all.Splits, source.Split{Name: s.Name, Files: []*source.File{f}})
			}
		}
	}
}

// fileExists reports whether path is a file or folder of this machine.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
