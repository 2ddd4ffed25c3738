package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/screen"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
)

// A launchRun is one run of the command.
type launchRun struct {
	launchLint
	json bool
	diff bool
	all  bool
}

func newLaunch(a *app) *cobra.Command {
	l := &launchRun{launchLint: launchLint{app: a}}
	cmd := &cobra.Command{
		Use:   "launch SCRIPT|CONFIG|KEY=VALUE… [-- ARGS…]",
		Short: "show what a launch script really gives the trainer",
		Long: `Shows what a launch will really do: the commands that a shell script calls, and of each training the agent loop,
tools, trace, batch arithmetic and reward, each with the line it comes from, or as a default of that version of verl.
The script is interpreted: nothing is started and nothing is written. It sees the files of its own folder and below, reads
those that it sources, and the configurations that it names; all others are unknown. The training data that is here is
read for the number of steps, and for the last line: how many problems 'rlprep lint --config' finds. Tokens, keys and
passwords are shown as ***. ARGS are the script's arguments, or without a script the command.`,
		Example: `  rlprep launch run.sh -- trainer.use_v1=False
  rlprep launch --diff run_a.sh run_b.sh
  rlprep launch -- python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.trace.backend=mlflow`,
		Args:        cobra.ArbitraryArgs,
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		RunE:        l.run,
	}
	f := cmd.Flags()
	l.flags.register(f)
	f.StringVar(&l.target, "target", rule.DefaultTarget().String(), "trainer and version whose defaults hold: "+rule.TargetNames())
	f.BoolVar(&l.json, "json", false, "print an object with commands and effective")
	f.BoolVar(&l.all, "all", false, "also show settings that nothing sets and that rarely matter")
	f.BoolVar(&l.diff, "diff", false, "print what two launches do differently")
	return cmd
}

func (l *launchRun) run(cmd *cobra.Command, args []string) error {
	target, err := rule.ParseTarget(l.target)
	if err != nil {
		return &misuse.Error{Err: err}
	}
	var rest []string
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args, rest = args[:n], args[n:]
	}
	var files, keys []string
	for _, arg := range args {
		if isOverride(arg) {
			keys = append(keys, arg)
		} else {
			files = append(files, arg)
		}
	}
	rest = append(keys, rest...)
	want := 1
	if l.diff {
		want = 2
	}
	switch {
	case len(files) > want:
		return misuse.Errorf("unexpected argument %q", files[want])
	case l.diff && len(files) < 2:
		return misuse.Errorf("--diff: expected two launches")
	case len(files)+len(rest) == 0:
		return misuse.Errorf("no launch: name a script, a .yaml file, or key=value")
	case len(files) == 0:
		files = []string{""}
	}
	var launches []*launch.Launch
	for _, file := range files {
		one, err := l.flags.read(cmd.Context(), l.app, file, rest, target)
		if err != nil {
			return err
		}
		launches = append(launches, one)
	}
	if l.diff {
		return l.differences(launches[0], launches[1])
	}
	l.given = cmd.Flags().Changed
	return l.show(cmd.Context(), launches[0], files[0], len(rest) == 0)
}

// isOverride distinguishes "key=value" from the name of a file.
func isOverride(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && !strings.Contains(key, "/") || strings.HasPrefix(arg, "~") && !strings.HasPrefix(arg, "~/")
}

func (l *launchRun) show(ctx context.Context, one *launch.Launch, file string, alone bool) error {
	judged, err := l.judge(ctx, one, file, alone)
	if err != nil {
		return err
	}
	r := screen.Describe(one, judged)
	if l.json {
		return printJSON(l.app.stdout, r)
	}
	r.Print(l.app.stdout, l.all)
	return nil
}

// differences prints what the first trainings of two launches do differently.
func (l *launchRun) differences(a, b *launch.Launch) error {
	for _, one := range []*launch.Launch{a, b} {
		if len(one.Trainings) == 0 {
			return misuse.Errorf("%s starts no training", one.Name)
		}
	}
	out := screen.Compare(a.Trainings[0], b.Trainings[0])
	if l.json {
		return printJSON(l.app.stdout, out)
	}
	if len(out) == 0 {
		escape.Fprintf(l.app.stdout, "%s and %s do the same\n", a.Name, b.Name)
	}
	screen.PrintDifferences(l.app.stdout, out)
	return nil
}
