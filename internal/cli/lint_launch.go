package cli

import (
	"context"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// judgeLaunches judges every training of every launch, with the files of set or, where it is nil, with those that it names itself.
func (l *lint) judgeLaunches(ctx context.Context, set *source.Set, found *check.Result) error {
	for _, config := range l.launches.configs {
		one, err := l.launches.flags.read(ctx, l.app, config, nil, l.env.Target)
		if err != nil {
			return err
		}
		found.Launches = append(found.Launches, config)
		if len(one.Trainings) == 0 {
			escape.Fprintf(l.app.stderr, "note: %s starts no training that is known here\n", config)
			found.Add(l.env, l.rules, &source.Set{}, "", &pipeline.Report{})
		}
		for _, t := range one.Trainings {
			if err := l.judgeTraining(ctx, config, t, set, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// launchData opens the data that a training names and that is here; found closes it.
func (l *lint) launchData(ctx context.Context, t *launch.Training, found *check.Result) (*source.Set, error) {
	own := *l
	train, val := t.Data()
	own.val = val
	if len(train)+len(val) == 0 {
		return &source.Set{}, nil
	}
	set, err := own.resolve(ctx, train, nil)
	if err == nil {
		found.Owns(set)
	}
	return set, err
}

// judgeTraining judges one training of a launch.
func (l *lint) judgeTraining(ctx context.Context, config string, t *launch.Training, set *source.Set, found *check.Result) (err error) {
	own := *l
	if set == nil {
		if set, err = l.launchData(ctx, t, found); err != nil {
			return err
		}
	}
	env := *l.env
	env.Target, env.Launch, env.CheckPaths = t.Target, t.Config, l.launches.checkPaths
	if env.Rows == rule.Any {
		env.Rows = t.Target.KindOfLaunch(t.Config)
	}
	if env.Rows == rule.Any && len(set.Files()) == 0 {
		env.Rows = rule.RL
	}
	own.env = &env
	rep, err := own.checkAndFix(ctx, set)
	if err != nil {
		return asUsage(err)
	}
	found.Add(&env, l.rules, set, config, rep)
	return nil
}
