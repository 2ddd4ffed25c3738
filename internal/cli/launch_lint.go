package cli

import (
	"context"
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/screen"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/schema/rule"
)

// maxLaunchData is the size of a training's data, in bytes, beyond which the launch screen reads footers only; a test lowers it.
var maxLaunchData int64 = 64 << 20

// A launchLint counts what lint finds for a launch, with the flags that both commands have.
type launchLint struct {
	app    *app
	flags  launchFlags
	target string
	given  func(flag string) bool
}

// judge counts what lint finds for a launch. Alone: the launch is what file holds, without further arguments. An error is an interruption.
func (l *launchLint) judge(ctx context.Context, one *launch.Launch, file string, alone bool) (screen.Judged, error) {
	if len(one.Trainings) == 0 {
		return screen.Judged{}, nil
	}
	j := screen.Judged{Lint: &screen.Lint{}, Train: map[*launch.Training][]*rule.File{}}
	if err := l.lint(ctx, one, file, alone, j); err != nil {
		j.Lint.Failed = err.Error()
	}
	return j, ctx.Err()
}

// lint fills in j.
func (l *launchLint) lint(ctx context.Context, one *launch.Launch, file string, alone bool, j screen.Judged) error {
	x := l.linter()
	if err := x.configure(); err != nil {
		return err
	}
	found := &check.Result{}
	defer found.Close()
	for _, t := range one.Trainings {
		set, err := x.launchData(ctx, t, found)
		if err != nil {
			return err
		}
		y := *x
		if set.Bytes() > maxLaunchData {
			y.schemaOnly, j.Lint.FootersOnly = true, true
		}
		if err := y.judgeTraining(ctx, one.Name, t, set, found); err != nil {
			return err
		}
		if len(set.Errors) == 0 { // else the rows of the others are not all
			train, _ := t.Data()
			j.Train[t] = set.Trained(train)
		}
	}
	x.project.suppress(x, found, false)
	n := found.Levels()
	j.Lint.Errors, j.Lint.Warnings, j.Lint.Infos = n[rule.Error], n[rule.Warning], n[rule.Info]
	j.Lint.Unread = len(found.Set.Errors) + len(found.Report.Errors)
	if alone && file != "" && file != "-" {
		j.Lint.Command = l.lintCommand(file, x.project.file != nil && x.project.file.Target != (rule.Target{}))
	}
	return nil
}

// linter returns a run of lint that prints nothing, with the flags that it has in common with this one.
func (l *launchLint) linter() *lint {
	mute := &app{ctx: l.app.ctx, stdin: l.app.stdin, stdout: io.Discard, stderr: io.Discard, raw: io.Discard, screen: io.Discard, quiet: true}
	mute.remote.quiet, mute.remote.screen = &mute.quiet, io.Discard
	x := &lint{app: mute}
	x.flags = x.command().Flags()
	x.given = func(flag string) bool { return flag == "target" || flag == "config" }
	x.target, x.cache.off, x.launches.flags = l.target, true, l.flags
	return x
}

// lintCommand is the command that shows what lint finds. Target: also where --target was not given.
func (l *launchLint) lintCommand(file string, target bool) string {
	words := []string{"rlprep", "lint", "--config", file}
	if target || l.given("target") {
		words = append(words, "--target", l.target)
	}
	if l.flags.cwd != "" {
		words = append(words, "--cwd", l.flags.cwd)
	}
	for _, kv := range l.flags.env {
		if strings.Contains(kv, "=") {
			return "" // its value may be a secret
		}
		words = append(words, "--env", kv)
	}
	return report.ShellLine(words)
}
