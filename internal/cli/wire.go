package cli

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// inputFlags name the input.
type inputFlags struct {
	sources   []string
	filesFrom string
	splits    []string
	limits    readLimits

	skipBroken bool // broken lines of JSON Lines are faults of their rows
}

func (i *inputFlags) register(f *pflag.FlagSet) {
	f.StringVar(&i.filesFrom, "files-from", "", "read file names from LIST, one a line (-: standard input)")
	f.StringArrayVar(&i.splits, "split", nil, "take only these splits: train,test; or name the files of one: train=GLOB; repeatable")
	i.limits.register(f)
}

// spec is what the flags and args name.
func (i *inputFlags) spec(a *app, args []string) (source.Spec, error) {
	spec := source.Spec{Args: args, FilesFrom: i.filesFrom, Stdin: a.stdin, Hash: true, Remote: &a.remote, Limits: i.limits.limits(), SkipBroken: i.skipBroken}
	for _, s := range i.splits {
		more, err := source.ParseSplit(s)
		if err != nil {
			return spec, &misuse.Error{Err: err}
		}
		spec.Splits = append(spec.Splits, more...)
	}
	return spec, nil
}

// knownFlags name what the trainer knows beside its own.
type knownFlags struct{ agents, sources []string }

func (k *knownFlags) register(f *pflag.FlagSet) { registerKnown(f, &k.agents, &k.sources) }

func registerKnown(f *pflag.FlagSet, agents, sources *[]string) {
	f.StringSliceVar(agents, "known-agents", nil, "agent loops that your launch registers")
	f.StringSliceVar(sources, "known-sources", nil, "values of data_source that your reward function scores")
}

func (k *knownFlags) env(rows rule.Kind) *rule.Env {
	return &rule.Env{Target: rule.DefaultTarget(), Rows: rows, KnownAgents: append([]string(nil), k.agents...), KnownSources: append([]string(nil), k.sources...)}
}

// asInput gives an error of opening the input its status: damaged files are 3, what was named wrongly is 2.
func asInput(err error) error {
	if errors.Is(err, source.ErrFormat) || errors.Is(err, parquetio.ErrFormat) {
		return withCode(ExitFile, err)
	}
	if errors.As(err, new(*hub.Error)) || errors.As(err, new(*overwrite.Conflict)) {
		return err // it says what helps, which is not the usage
	}
	if exitCode(context.Background(), err) == ExitUsage {
		return &misuse.Error{Err: err}
	}
	return err
}

// asUsage gives an error about what was asked for the status of one.
func asUsage(err error) error {
	var step *transform.StepError
	if errors.As(err, &step) { // the place in the pipeline file says more than the command's usage
		return withCode(ExitUsage, step)
	}
	if errors.As(err, new(*misuse.Error)) {
		return err
	}
	if errors.Is(err, source.ErrFormat) || errors.Is(err, parquetio.ErrFormat) {
		return withCode(ExitFile, err)
	}
	return err
}
