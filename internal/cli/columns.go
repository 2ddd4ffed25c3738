package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/edit"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/source"
)

// A columnEdit is what add, drop, rename and select differ in.
type columnEdit interface {
	edit.Edit
	// parse reads the leading arguments that are the edit and returns the others, the names of files.
	parse(args []string) (files []string, err error)
}

// An editRun is one run of such a command: its flags and texts. The work is internal/edit's.
type editRun struct {
	app       *app
	name      string
	edit      columnEdit
	filesFrom string
	limits    readLimits
	out       string
	inPlace   bool
	force     bool
	dryRun    bool
	backup    string
	workers   int
	hfText    string
	hf        parquetio.HFPolicy
	asJSON    bool
}

// register adds the flags that the commands share.
func (c *editRun) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.out, "out", "o", "", "directory to write to")
	f.BoolVar(&c.inPlace, "in-place", false, "replace the files themselves")
	f.StringVar(&c.filesFrom, "files-from", "", "read file names from LIST, one a line (-: standard input)")
	c.limits.register(f)
	f.BoolVar(&c.force, "force", false, "overwrite files in DIR")
	f.BoolVar(&c.dryRun, "dry-run", false, "show which files and columns would change; write nothing")
	f.StringVar(&c.backup, "backup", "", backupUsage)
	f.StringVar(&c.hfText, "hf-metadata", "auto", hfUsage)
	f.IntVarP(&c.workers, "jobs", "j", 0, "files at a time (default: one a core)")
	f.BoolVar(&c.asJSON, "json", false, "print what was done as JSON")
	cmd.Annotations = exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }
}

func (c *editRun) run(ctx context.Context, args []string) (err error) {
	files, err := c.edit.parse(args)
	if err != nil {
		return err
	}
	if err := c.check(files); err != nil {
		return err
	}
	set, err := openParquet(ctx, c.app, files, c.filesFrom, c.name, c.limits.limits())
	if err != nil {
		return err
	}
	defer set.Close()
	o := c.app.editOptions(c.edit, set)
	o.Out, o.Flag, o.Force, o.Workers, o.HF, o.DryRun, o.Backup = c.out, "-o", c.force, c.workers, c.hf, c.dryRun, c.backup
	if c.inPlace {
		o.Flag = c.name
	}
	res, err := edit.Run(ctx, o)
	if err != nil {
		return asInput(asUsage(err))
	}
	return c.summarize(res)
}

// editOptions are those that every edit has from the command line.
func (a *app) editOptions(e edit.Edit, set *source.Set) edit.Options {
	return edit.Options{Edit: e, Source: set, Guard: &a.guard, Version: version(), Watch: a.watch}
}

// check looks at the flags.
func (c *editRun) check(files []string) error {
	var err error
	c.hf, err = edit.ParseHFPolicy(c.hfText)
	switch {
	case err != nil:
		return err
	case len(files) == 0 && c.filesFrom == "":
		return misuse.Errorf("no files: name the Parquet files to edit")
	case c.out == "" && !c.inPlace:
		return misuse.Errorf("no directory to write to: name one with -o DIR, or give --in-place")
	case c.out != "" && c.inPlace:
		return misuse.Errorf("-o and --in-place: give one of them")
	case c.backup != "" && !c.inPlace:
		return misuse.Errorf("--backup goes with --in-place: with -o the old files stay as they are")
	case c.backup != "":
		return edit.CheckBackup(c.backup)
	}
	return nil
}

const backupUsage = "keep each old file beside the new one, under its name with this suffix (.bak)"

const hfUsage = "metadata of HF datasets: auto (kept where Arrow types cannot say it), strip, keep"

// openParquet opens the files of a command that edits columns.
func openParquet(ctx context.Context, a *app, args []string, filesFrom, command string, limits source.Limits) (*source.Set, error) {
	for _, name := range args {
		if strings.HasPrefix(name, source.RemoteScheme) {
			return nil, misuse.Errorf("%s: %s takes files of this machine: fetch it with 'hf download', or make it with 'rlprep run'", name, command)
		}
	}
	set, err := a.resolve(ctx, "FILES", source.Spec{Args: args, FilesFrom: filesFrom, Stdin: a.stdin, Lenient: true, Limits: limits})
	if err != nil {
		return nil, asInput(err)
	}
	err = errors.Join(set.Errors...)
	if err != nil {
		err = asInput(err)
	}
	if err == nil {
		err = edit.Editable(set, command)
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

func (c *editRun) summarize(res *edit.Result) error {
	sum := res.Summary(c.edit, c.dryRun)
	if c.asJSON {
		return printJSON(c.app.stdout, sum)
	}
	if !c.app.quiet {
		sum.Print(c.app.stderr, c.inPlace, c.dryRun)
	}
	return nil
}
