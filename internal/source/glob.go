package source

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// hasMeta reports whether name holds a character that a pattern gives a meaning.
func hasMeta(name string) bool { return strings.ContainsAny(name, `*?[`) }

// Match reports whether the file name is what a user means by arg: its name, a folder above it, or a pattern. Both are written from the
// same place, with slashes.
func Match(arg, name string) bool {
	folder := strings.TrimSuffix(arg, "/") + "/"
	if arg == name || strings.HasPrefix(name, folder) {
		return true
	}
	ok, err := matchGlob(arg, name)
	return ok && err == nil
}

// matchGlob reports whether name, with slashes, matches pattern: * and ? stand for what holds no slash, ** for any number
// of folders.
func matchGlob(pattern, name string) (bool, error) {
	return matchSegments(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchSegments(pattern, name []string) (bool, error) {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(name) > 0, nil
			}
			for i := range name {
				if ok, err := matchSegments(pattern[1:], name[i:]); ok || err != nil {
					return ok, err
				}
			}
			return false, nil
		}
		if len(name) == 0 {
			return false, nil
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false, err
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0, nil
}

// hidden reports whether a listing leaves name out: hidden files, the private folders of unfinished outputs among them, and
// what begins with two underscores, as HF datasets does.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "__") }

// expandGlob returns the files that match pattern, named as pattern names them, sorted by byte; and how many folders match.
func expandGlob(ctx context.Context, pattern string) (files []string, folders int, err error) {
	g := globber{ctx: ctx}
	prefix, segments := "", strings.Split(filepath.ToSlash(pattern), "/")
	if segments[0] == "" {
		prefix, segments = "/", segments[1:]
	}
	if err := g.expand(prefix, segments); err != nil {
		return nil, 0, err
	}
	slices.Sort(g.files)
	return slices.Compact(g.files), g.folders, nil
}

type globber struct {
	ctx     context.Context // a globber lives for one call of expandGlob
	files   []string
	folders int
}

// expand matches segments below prefix, which is "" or ends in a slash.
func (g *globber) expand(prefix string, segments []string) error {
	seg, rest := segments[0], segments[1:]
	switch {
	case seg == "**":
		return walk(g.ctx, prefix, func(rel string) error {
			ok, err := matchSegments(segments, strings.Split(rel, "/"))
			if ok {
				g.files = append(g.files, prefix+rel)
			}
			return err
		})
	case !hasMeta(seg):
		return g.found(prefix+seg, rest)
	}
	if _, err := path.Match(seg, ""); err != nil {
		return err
	}
	entries, err := os.ReadDir(or(prefix, "."))
	if err != nil {
		return nil // no folder, no match
	}
	for _, e := range entries {
		if ok, _ := path.Match(seg, e.Name()); !ok || hidden(e.Name()) && !strings.HasPrefix(seg, e.Name()[:1]) {
			continue
		}
		if err := g.found(prefix+e.Name(), rest); err != nil {
			return err
		}
	}
	return nil
}

// found goes on from name, which matches so far.
func (g *globber) found(name string, rest []string) error {
	info, err := os.Stat(name)
	switch {
	case len(rest) > 0:
		if err == nil && info.IsDir() {
			return g.expand(name+"/", rest)
		}
	case err == nil && info.IsDir():
		g.folders++
	default: // a broken link too, so that it is named
		if _, err := os.Lstat(name); err == nil {
			g.files = append(g.files, name)
		}
	}
	return nil
}

// maxLooked is how many files and folders a walk looks at: data does not lie in whole disks. Tests have it smaller.
var maxLooked = 1_000_000

// notDisks are folders that show the system, and not what is on a disk. A walk that begins above them leaves them out.
var notDisks = []string{"/proc", "/sys", "/dev"}

// walk calls visit with every file below root, by its name from there, sorted by folder; hidden ones are left out. Links to
// folders are followed, but not into themselves. A folder that cannot be listed ends it: data may be in there.
func walk(ctx context.Context, root string, visit func(rel string) error) error {
	looked := 0
	var into func(rel string, above []string) error
	into = func(rel string, above []string) error {
		entries, err := os.ReadDir(or(root+rel, "."))
		if err != nil {
			return failed("folder %s cannot be listed (%v): name the other files, or make the folder readable", or(root+rel, "."), reason(err))
		}
		if looked += len(entries); looked > maxLooked {
			return fmt.Errorf("more than %d files and folders below %s: name a folder nearer to the data", maxLooked, or(root, "."))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, e := range entries {
			if hidden(e.Name()) {
				continue
			}
			name := rel + e.Name()
			isDir := e.IsDir()
			if e.Type()&os.ModeSymlink != 0 {
				if info, err := os.Stat(root + name); err == nil {
					isDir = info.IsDir()
				}
			}
			if !isDir {
				if err := visit(name); err != nil {
					return err
				}
				continue
			}
			real, err := filepath.EvalSymlinks(root + name)
			if err != nil || slices.Contains(above, real) || slices.Contains(notDisks, real) {
				continue
			}
			if err := into(name+"/", append(above[:len(above):len(above)], real)); err != nil {
				return err
			}
		}
		return nil
	}
	real, err := filepath.EvalSymlinks(or(root, "."))
	if err != nil {
		return nil // no folder, no files
	}
	return into("", []string{real})
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
