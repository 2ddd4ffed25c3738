package cli

import (
	"context"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/output"
	"github.com/rlprep/rlprep/internal/source"
)

// What a command reads and what it writes goes through the methods of this file, so that app.guard knows all of it before the first byte is written.

// readFile is infile.ReadAll for a file that the command reads for the sake of role: a flag, or what the file is.
func (a *app) readFile(role, name string) ([]byte, error) {
	if err := a.guard.Read(role, name, name); err != nil {
		return nil, err
	}
	return infile.ReadAll(a.ctx, name)
}

// resolve is source.Resolve for files that the command reads for the sake of role.
func (a *app) resolve(ctx context.Context, role string, spec source.Spec) (*source.Set, error) {
	if spec.FilesFrom != "" && spec.FilesFrom != "-" {
		if err := a.guard.Read("--files-from", spec.FilesFrom, spec.FilesFrom); err != nil {
			return nil, err
		}
	}
	spec.Named = func(name, path string) error { return a.guard.Read(role, name, path) }
	set, err := source.Resolve(ctx, spec)
	if err != nil {
		return nil, err
	}
	for _, f := range set.Files() { // those that were fetched have a file of this machine by now
		if f.Path() == "" {
			continue
		}
		if err := a.guard.Read(role, f.Name, f.Path()); err != nil {
			set.Close()
			return nil, err
		}
	}
	return set, nil
}

// writesFile says that the command writes a file that flag names, under a private name first.
func (a *app) writesFile(flag, name string) error { return output.DeclareFile(&a.guard, flag, name) }

// writesDir says that the command makes the directory out, which flag names, or replaces these files in it.
func (a *app) writesDir(flag, out string, files []string) error {
	return output.DeclareDir(&a.guard, flag, out, files)
}
