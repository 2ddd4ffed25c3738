package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// An ownFolder is the folder of a script: all that the script sees of this machine's files. Symbolic links that lead out of it are
// outside.
type ownFolder struct {
	dir, real string // as named, and without symbolic links; "": there is none
}

func newOwnFolder(dir string) ownFolder {
	f := ownFolder{dir: dir, real: dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && dir != "" {
		f.real = real
	}
	return f
}

// errOutside is about a path that is not looked at.
var errOutside = errors.New("not read: it lies outside the script's own folder")

// rel returns path relative to the folder.
func (o ownFolder) rel(path string) (string, error) {
	if o.dir == "" {
		return "", errors.New("not read: the script has no folder")
	}
	for _, dir := range []string{o.dir, o.real} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", errOutside
}

// use calls f with the folder and a path in it. The error is errOutside where a symbolic link leads out.
func (o ownFolder) use(path string, f func(root *os.Root, rel string) error) error {
	rel, err := o.rel(path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(o.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = f(root, rel)
	var p *fs.PathError
	if errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes") {
		return errOutside
	}
	return err
}

// stat is os.Stat, or os.Lstat, in the folder.
func (o ownFolder) stat(path string, follow bool) (info fs.FileInfo, err error) {
	err = o.use(path, func(root *os.Root, rel string) (err error) {
		if follow {
			info, err = root.Stat(rel)
		} else {
			info, err = root.Lstat(rel)
		}
		return err
	})
	return info, err
}

// read returns a file of the folder.
func (o ownFolder) read(path string) (text []byte, err error) {
	err = o.use(path, func(root *os.Root, rel string) error {
		info, err := root.Stat(rel)
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return errors.New("not read: not a regular file")
		case info.Size() > maxScript:
			return fmt.Errorf("not read: %d bytes are too many", info.Size())
		}
		text, err = root.ReadFile(rel)
		return err
	})
	return text, err
}

// list is os.ReadDir in the folder.
func (o ownFolder) list(path string) (entries []fs.DirEntry, err error) {
	err = o.use(path, func(root *os.Root, rel string) error {
		entries, err = fs.ReadDir(root.FS(), filepath.ToSlash(rel))
		return err
	})
	return entries, err
}

// own reads a file below the script's folder.
func (sh *shell) own(path string) ([]byte, error) {
	text, err := sh.folder.read(path)
	if err == nil && sh.script.Opened != nil {
		sh.script.Opened(path)
	}
	return text, err
}

// unknown notes that path is not looked at, and returns what the script gets.
func (sh *shell) unknown(ctx context.Context, path string) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.note(interp.HandlerCtx(ctx).Pos, "%s is outside the script's own folder: unknown, taken as missing", path)
	return fs.ErrNotExist
}

// stat answers tests of files: [ -f x ], [[ -d x ]], and cd.
func (sh *shell) stat(ctx context.Context, path string, follow bool) (fs.FileInfo, error) {
	info, err := sh.folder.stat(path, follow)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	sh.mu.Lock()
	entered := sh.entered[filepath.Clean(path)]
	sh.mu.Unlock()
	if entered {
		return entry(path), nil
	}
	return nil, sh.unknown(ctx, path)
}

// access answers [ -r x ], -w and -x. What cd was given may be entered.
func (sh *shell) access(ctx context.Context, path string, mode interp.AccessMode) error {
	if info, err := sh.stat(ctx, path, true); err != nil {
		return err
	} else if _, assumed := info.(entry); assumed {
		return nil
	}
	return interp.DefaultAccessHandler()(ctx, path, mode)
}

// readDir lists a folder for a pattern.
func (sh *shell) readDir(ctx context.Context, path string) ([]fs.DirEntry, error) {
	sh.mu.Lock()
	sh.globs++
	over := sh.globs > maxGlobs
	sh.mu.Unlock()
	if over {
		return nil, fs.ErrPermission
	}
	entries, err := sh.folder.list(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return entries, err
	}
	if slices.ContainsFunc(sh.scripts(), starred) {
		_ = sh.unknown(ctx, path)
	}
	return nil, nil // so that the pattern stays as it is written
}

// scripts are the files that are interpreted so far.
func (sh *shell) scripts() []*syntax.File {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return slices.Clone(sh.files)
}

// starred reports whether words of a script are patterns that are meant to be: [console] is a list.
func starred(f *syntax.File) bool {
	found := false
	words := func(list []*syntax.Word) {
		for _, w := range list {
			if w == nil {
				continue
			}
			for _, p := range w.Parts {
				if l, ok := p.(*syntax.Lit); ok && strings.ContainsAny(l.Value, "*?") {
					found = true
				}
			}
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			words(n.Args)
		case *syntax.WordIter:
			words(n.Items)
		case *syntax.ArrayElem:
			words([]*syntax.Word{n.Value})
		}
		return !found
	})
	return found
}

// enter notes that cd goes to a folder that is not looked at; where the launch runs it is there. sh.mu is held.
func (sh *shell) enter(ctx context.Context, args []string) {
	hc := interp.HandlerCtx(ctx)
	to := hc.Env.Get("HOME").String()
	if len(args) > 1 {
		to = args[len(args)-1]
	}
	if to == "-" {
		to = hc.Env.Get("OLDPWD").String()
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(hc.Dir, to)
	}
	if _, err := sh.folder.rel(to); err != nil {
		sh.entered[filepath.Clean(to)] = true
	}
}

// An entry is a folder that is taken to be there.
type entry string

// The methods of fs.FileInfo.
func (e entry) Name() string           { return filepath.Base(string(e)) }
func (e entry) Size() int64            { return 0 }
func (e entry) Mode() fs.FileMode      { return fs.ModeDir | 0o755 }
func (e entry) ModTime() (t time.Time) { return t }
func (e entry) IsDir() bool            { return true }
func (e entry) Sys() any               { return nil }

// looksUp reports whether the shell would look for a program of that name in the folders of PATH.
func (sh *shell) looksUp(name string) bool {
	if interp.IsBuiltin(name) {
		return false
	}
	for _, f := range sh.files {
		found := false
		syntax.Walk(f, func(n syntax.Node) bool {
			if d, ok := n.(*syntax.FuncDecl); ok && d.Name != nil && d.Name.Value == name {
				found = true
			}
			return !found
		})
		if found {
			return false
		}
	}
	return true
}

// maySource notes that the script may read the file that it sources, where that lies below its own folder.
func (sh *shell) maySource(ctx context.Context, args []string) {
	if len(args) < 2 {
		return
	}
	hc := interp.HandlerCtx(ctx)
	path := args[1]
	if !filepath.IsAbs(path) {
		path = filepath.Join(hc.Dir, path)
	}
	path = filepath.Clean(path)
	text, err := sh.own(path)
	if errors.Is(err, fs.ErrNotExist) {
		return // bash does not find it either
	}
	if err != nil {
		sh.note(hc.Pos, "source %s: %v; values that it sets are missing", args[1], err)
		return
	}
	sh.sources[path] = true
	if f, err := parseScript(path, text); err == nil {
		sh.files = append(sh.files, f)
	}
}

// realpath answers realpath(1) and readlink(1): links are followed in the script's own folder only.
func (sh *shell) realpath(hc interp.HandlerContext, args []string) error {
	for _, p := range operands(args) {
		if !filepath.IsAbs(p) {
			p = filepath.Join(hc.Dir, p)
		}
		p = filepath.Clean(p)
		if _, err := sh.folder.stat(p, true); err == nil {
			if real, err := filepath.EvalSymlinks(p); err == nil {
				p = real
			}
		}
		fmt.Fprintln(hc.Stdout, p)
	}
	return nil
}
