package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A trial tries one Ability in a folder of its own. A nil error says that it works.
type trial struct {
	name string
	try  func(dir string) error
}

// trials are tried in this order; those of the system follow.
var trials = []trial{
	{"rename over a file", func(dir string) error {
		if err := twoFiles(dir); err != nil {
			return err
		}
		return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	}},
	{"rename over an open file", func(dir string) error {
		if err := twoFiles(dir); err != nil {
			return err
		}
		f, err := os.Open(filepath.Join(dir, "b"))
		if err != nil {
			return err
		}
		defer f.Close()
		return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	}},
	{"fsync", func(dir string) error { return syncOf(filepath.Join(dir, "x"), os.O_CREATE|os.O_WRONLY) }},
	{"fsync of folders", func(dir string) error { return syncOf(dir, os.O_RDONLY) }},
	{"hard links", func(dir string) error {
		if err := twoFiles(dir); err != nil {
			return err
		}
		return os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "c"))
	}},
	{"symbolic links", func(dir string) error { return os.Symlink("a", filepath.Join(dir, "link")) }},
	{"names that differ in case", func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "case"), nil, 0o600); err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(dir, "CASE")); err == nil {
			return errors.New("they are one")
		}
		return nil
	}},
}

// twoFiles makes the files a and b, of some bytes.
func twoFiles(dir string) error {
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 64<<10), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func syncOf(name string, flag int) error {
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// reasonOf is an error without the names of files, which are our own.
func reasonOf(err error) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return strings.TrimSpace(err.Error())
}
