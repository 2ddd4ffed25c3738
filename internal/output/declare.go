package output

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/rlprep/rlprep/internal/overwrite"
	"github.com/rlprep/rlprep/internal/shard"
)

// DeclareFile says to g that a file which flag names will be written, under a private name first. The error is an *overwrite.Conflict.
func DeclareFile(g *overwrite.Guard, flag, name string) error {
	if err := g.Write(flag, name); err != nil {
		return err
	}
	return g.Write(flag, shard.PartName(name))
}

// DeclareDir says to g that the directory out, which flag names, will be made, or these files in it replaced. The error is an
// *overwrite.Conflict.
func DeclareDir(g *overwrite.Guard, flag, out string, files []string) error {
	if err := g.Write(flag, out); err != nil {
		return err
	}
	private, err := shard.Private(out)
	if err != nil {
		return err
	}
	for _, dir := range private {
		if err := g.Folder(flag, dir); err != nil {
			return err
		}
	}
	for _, name := range files {
		if err := g.Write(flag, name); err != nil {
			return err
		}
	}
	return nil
}

// WriteNamed writes a file that the user names, whole or not at all; what is no regular file is written into.
func WriteNamed(ctx context.Context, name string, text []byte) error {
	f, err := shard.NewNamed(ctx, name)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Publish()
}

// TempDir returns the nearest folder above out that exists: where temporary files go, on the file system of the output. "": there is none.
func TempDir(out string) string {
	dir := filepath.Dir(filepath.Clean(out))
	for {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
