package cli

import (
	"context"
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

// judgeLaunches judges every training of every launch, with the files of set or, where it is nil, with those that it names itself.
func (l *lint) judgeLaunches(ctx context.Context, set *source.Set, found *lintFound) error {
	for _, config := range l.launches.configs {
		one, err := l.launches.flags.read(ctx, l.app, config, nil, l.env.Target)
		if err != nil {
			return err
		}
		found.launches = append(found.launches, config)
		if len(one.trainings) == 0 {
			fmt.Fprintf(l.app.stderr, "note: %s starts no training that is known here\n", config)
			found.add(l.env.Target, l.rules, &source.Set{}, &pipeline.Report{})
		}
		for _, t := range one.trainings {
			if err := l.judgeTraining(ctx, t, set, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeTraining judges one training.
func (l *lint) judgeTraining(ctx context.Context, t *training, set *source.Set, found *lintFound) (err error) {
	own := *l
	own.val = t.present("data.val_files")
	if args := t.present("data.train_files"); set == nil && len(args)+len(own.val) > 0 {
		if set, err = own.resolve(ctx, args, nil); err != nil {
			return err
		}
		found.sets = append(found.sets, set)
	}
	if set == nil {
		set = &source.Set{}
	}
	env := *l.env
	env.Target, env.Lookup, env.CheckPaths = t.target, t.lookup, l.launches.checkPaths
	if env.Rows == rule.Any && len(set.Files()) == 0 {
		env.Rows = rule.SFT
		if t.launch().RL() {
			env.Rows = rule.RL
		}
	}
	own.env = &env
	rep, err := own.mend(ctx, set)
	if err != nil {
		return asUsage(err)
	}
	found.add(env.Target, l.rules, set, rep)
	return nil
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

// fileExists reports whether path is a file or folder of this machine.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
