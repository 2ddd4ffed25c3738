// Package overwrite keeps a command from destroying what it reads. A Guard holds the files that one run reads and the places that it will write;
// it refuses an output that is one of the inputs, whatever the two are called, and two outputs that are one file. Every command declares both to its
// Guard before it writes the first byte.
//
// Files are told apart by what they are, not by their names: symbolic links, hard links, ./a beside d/../a and names that differ only in case on a
// file system that ignores case all lead to the same file.
package overwrite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Guard holds the inputs and outputs of one run, in whatever order they are declared. The zero Guard is ready. Its methods are for one goroutine.
type Guard struct {
	inputs  map[string][]place // several: hard links
	outputs map[string]place
	streams map[string]place
	folders map[string]place
	above   map[string]string // folder to the declared folder that holds it, "" for none; of inputs seen so far
	list    []place           // inputs by their resolved names, to be compared with folders that are declared later
}

// A place is a file or folder as the run names it.
type place struct {
	role string // "--rejects"; "--source"
	name string
	path string // resolved; "" for an open file
}

func (p place) String() string { return strings.TrimSpace(p.role + " " + p.name) }

// A Conflict says that an output would destroy an input, or another output.
type Conflict struct{ text string }

func (c *Conflict) Error() string { return c.text }

// ExitCode is 2: the command line names the wrong file.
func (c *Conflict) ExitCode() int { return 2 }

// Read declares that the run reads the file path, which its user calls name, for the sake of role ("--source", "map script").
func (g *Guard) Read(role, name, path string) error {
	id, info := identify(path)
	if info != nil && !info.Mode().IsRegular() {
		return nil // a folder's files are declared one by one; a device cannot be destroyed by writing to it
	}
	in := place{role, name, resolved(path)}
	for _, outputs := range []map[string]place{g.outputs, g.streams} {
		if out, ok := outputs[id]; ok && leads(out.path, id) {
			return clash(out, in)
		}
	}
	if len(g.folders) > 0 {
		if out, ok := g.holder(filepath.Dir(in.path)); ok {
			return lies(out, in)
		}
	}
	if !slices.Contains(g.inputs[id], in) {
		if g.inputs == nil {
			g.inputs = map[string][]place{}
		}
		g.inputs[id] = append(g.inputs[id], in)
		g.list = append(g.list, in)
	}
	return nil
}

// input returns the input that is the file id now. An input that another program has replaced since is not: systems give the number of a removed
// file to the next new one, which may be an output.
func (g *Guard) input(id string) (place, bool) {
	for _, in := range g.inputs[id] {
		if leads(in.path, id) {
			return in, true
		}
	}
	return place{}, false
}

// leads reports whether path is the file id now; so does a stream, which has no path.
func leads(path, id string) bool {
	if path == "" {
		return true
	}
	now, _ := identify(path)
	return now == id
}

// Write declares that the run makes or replaces the file path. What is no regular file (a device, a FIFO, a socket) is written into, and may be
// declared often.
func (g *Guard) Write(role, path string) error {
	return g.write(role, path, &g.outputs)
}

// Append declares that the run adds to the file path, which others may write to as well: of those that it reads it must be none.
func (g *Guard) Append(role, path string) error {
	id, info := identify(path)
	return g.appendTo(place{role: role, name: path, path: resolved(path)}, id, info)
}

// Stream is Append for an open file, such as standard output.
func (g *Guard) Stream(role string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return nil // it is closed: nothing can be written there
	}
	return g.appendTo(place{role: role}, identity(info), info)
}

func (g *Guard) appendTo(out place, id string, info fs.FileInfo) error {
	if id == "" || info != nil && !info.Mode().IsRegular() {
		return nil
	}
	if in, ok := g.input(id); ok {
		return clash(out, in)
	}
	put(&g.streams, id, out)
	return nil
}

func (g *Guard) write(role, path string, to *map[string]place) error {
	id, info := identify(path)
	if info != nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	out := place{role: role, name: path, path: resolved(path)}
	if in, ok := g.input(id); ok {
		return clash(out, in)
	}
	if other, ok := g.outputs[id]; ok && other != out && leads(other.path, id) {
		return &Conflict{fmt.Sprintf("%s and %s are the same file: give each output its own file", other, out)}
	}
	put(to, id, out)
	return nil
}

// Folder declares that the run may remove or replace whatever is in the folder path: its private place, or an output directory that is replaced whole.
func (g *Guard) Folder(role, path string) error {
	id, _ := identify(path)
	out := place{role: role, name: path}
	put(&g.folders, id, out)
	g.above = nil
	if in, ok := g.input(id); ok {
		return clash(out, in)
	}
	for _, in := range g.list {
		if out, ok := g.holder(filepath.Dir(in.path)); ok {
			return lies(out, in)
		}
	}
	return nil
}

// holder returns the declared folder that dir is or lies in.
func (g *Guard) holder(dir string) (place, bool) {
	if g.above == nil {
		g.above = map[string]string{}
	}
	id, known := g.above[dir]
	if !known {
		id, _ = identify(dir)
		if _, is := g.folders[id]; !is {
			id = ""
			if up := filepath.Dir(dir); up != dir {
				if _, ok := g.holder(up); ok {
					id = g.above[up]
				}
			}
		}
		g.above[dir] = id
	}
	out, ok := g.folders[id]
	return out, ok
}

// Within reports whether the file path is, or would be, somewhere in the folder dir.
func Within(path, dir string) bool {
	want, _ := identify(dir)
	for at := resolved(path); ; {
		up := filepath.Dir(at)
		if up == at {
			return false
		}
		if id, _ := identify(up); id == want {
			return true
		}
		at = up
	}
}

func put(m *map[string]place, id string, p place) {
	if *m == nil {
		*m = map[string]place{}
	}
	(*m)[id] = p
}

func clash(out, in place) error {
	return &Conflict{fmt.Sprintf("%s would overwrite %s, which this command reads (%s): name another output", out, in.name, in.role)}
}

func lies(out, in place) error {
	return &Conflict{fmt.Sprintf("%s would replace the folder that holds %s, which this command reads (%s): name another output, or move the input away", out, in.name, in.role)}
}

// identify returns what tells the file path from all others, and what is known of it; nil: it does not exist. A file that does not exist is told by
// the nearest folder above it that does, and the rest of its name.
func identify(path string) (id string, info fs.FileInfo) {
	if info, err := os.Stat(path); err == nil {
		return identityOf(path, info), info
	}
	dir, rest := existing(resolved(path))
	above, err := os.Stat(dir)
	if err != nil {
		return dir + string(filepath.Separator) + rest, nil
	}
	if ignoresCase(dir) {
		rest = strings.ToLower(rest)
	}
	return identityOf(dir, above) + string(filepath.Separator) + rest, nil
}

// identityOf is the identity of a file that exists, by its name where the system has no numbers for files.
func identityOf(path string, info fs.FileInfo) string {
	if id := identity(info); id != "" {
		return id
	}
	return resolved(path)
}

// existing cuts path, which is absolute, behind the nearest folder that exists.
func existing(path string) (dir, rest string) {
	for dir = path; ; {
		up := filepath.Dir(dir)
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || up == dir {
			return dir, rest
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}

// resolved is path, absolute, with the links on the way resolved as far as it exists. A link to what does not exist is followed, too: writing through
// it makes that file.
func resolved(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for range 40 {
		dir, rest := existing(abs)
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest)
		}
		target, err := os.Readlink(dir) // dir is a link that leads nowhere
		if err != nil {
			return abs
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(dir), target)
		}
		abs = filepath.Join(target, rest)
	}
	return abs
}

// ignoresCase reports whether names in dir that differ only in case are one file, as its own entries or, where it has none, its own name say.
func ignoresCase(dir string) bool {
	if f, err := os.Open(dir); err == nil {
		names, _ := f.Readdirnames(50)
		f.Close()
		for _, name := range names {
			if same, known := caseTwin(dir, name); known {
				return same
			}
		}
	}
	same, _ := caseTwin(filepath.Dir(dir), filepath.Base(dir))
	return same
}

// caseTwin reports whether the file name in dir is found by its name in the other case; known: the name has letters.
func caseTwin(dir, name string) (same, known bool) {
	other := strings.ToUpper(name)
	if other == name {
		other = strings.ToLower(name)
	}
	if other == name {
		return false, false
	}
	a, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return false, false
	}
	b, err := os.Lstat(filepath.Join(dir, other))
	return err == nil && os.SameFile(a, b), true
}
