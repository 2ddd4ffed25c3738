package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/internal/source"
)

// keptFlags are the flags of a run that a remedy repeats: those that say which data is judged, and for what.
var keptFlags = []string{"val", "split", "files-from", "target", "kind", "config", "cwd", "env", "ignore", "known-agents", "known-sources", "project", "no-project"}

// remedies looks for remedies of what was found in the files of set.
func (l *lint) remedies(ctx context.Context, set *source.Set, found *pipeline.Report) error {
	if l.found == nil || l.schemaOnly || l.limit > 0 || l.baseline.write || len(found.Entries) == 0 {
		return nil
	}
	all, err := check.Remedies(ctx, l.checkOptions(set), found, l.project.file.Passes)
	for k, r := range all {
		out := report.Remedy{Note: r.Note}
		if r.Flags != nil && l.repeatable() {
			flags := r.Flags
			if r.Select {
				flags = append([]string{"--select", k.Rule.ID}, flags...)
			}
			out.Command, out.Fixes, out.Unsafe = l.commandLine(flags, r.Select), slices.Contains(flags, "--fix"), r.Select
		}
		l.found[report.Place{Rule: k.Rule, File: k.File, Path: k.Path}] = out
	}
	return err
}

// repeatable reports whether the command line can be run again: what is read from standard input cannot be.
func (l *lint) repeatable() bool { return l.input.filesFrom != "-" && !slices.Contains(l.args, "-") }

// commandLine returns this run's command line with other flags in place of those that it need not repeat. selected: they select rules.
func (l *lint) commandLine(flags []string, selected bool) string {
	words := append([]string{"rlprep", "lint"}, l.args...)
	l.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(keptFlags, f.Name) && (f.Name != "select" || selected) {
			return
		}
		values := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		for _, v := range values {
			if f.Value.Type() == "bool" {
				words = append(words, "--"+f.Name)
				continue
			}
			words = append(words, "--"+f.Name, v)
		}
	})
	words = append(words, flags...)
	return report.ShellLine(words)
}
