package edit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/misuse"
)

// CheckBackup refuses a suffix that names no file beside the old one, or one that is read as data.
func CheckBackup(suffix string) error {
	switch {
	case suffix == "" || strings.ContainsAny(suffix, `/\`):
		return misuse.Errorf("--backup %q: expected the end of a file name, such as .bak", suffix)
	case strings.HasSuffix(suffix, ".parquet"), strings.HasSuffix(suffix, ".jsonl"), strings.HasSuffix(suffix, ".json"):
		return misuse.Errorf("--backup %s: a folder's %s files are data: choose another suffix, such as .bak", suffix, suffix)
	}
	return nil
}

// backup keeps the files that are about to be replaced, each under its name with the suffix. All names are checked before the first is made. A
// backup that a run made before it was interrupted is the same file, and stays.
func (c *run) backup() error {
	if c.Backup == "" {
		return nil
	}
	if err := CheckBackup(c.Backup); err != nil {
		return err
	}
	var names []string
	for _, t := range c.outputs {
		if t.done {
			continue
		}
		old, err := os.Lstat(t.Name + c.Backup)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			names = append(names, t.Name)
		case err != nil:
			return err
		case os.SameFile(old, t.Before):
			continue // an interrupted run made it
		default:
			return misuse.Errorf("%s exists: move it away, or give another --backup; nothing was changed", t.Name+c.Backup)
		}
		if err := c.Guard.Write("--backup", t.Name+c.Backup); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := linkOrCopy(name, name+c.Backup); err != nil {
			return fmt.Errorf("--backup: %w (nothing was changed)", err)
		}
	}
	return nil
}

// linkOrCopy makes a second name for a file, or a copy where the file system has no links. The file itself is replaced later, never written into.
func linkOrCopy(name, to string) (err error) {
	if os.Link(name, to) == nil {
		return nil
	}
	in, err := infile.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(to)
	}
	return err
}
