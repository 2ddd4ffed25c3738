package source

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/parquetio"
)

// RemoteScheme is how names that Spec.Remote finds begin.
const RemoteScheme = "hf://"

// A Remote finds datasets that are elsewhere.
type Remote interface {
	// List returns the files at and below name, sorted by Path, and how the name divides: root, which ends in a slash and
	// which every Path is below, and the rest. A pattern in name matches nothing: List is asked for what is before it.
	List(ctx context.Context, name string) (root, rest string, files []*RemoteFile, err error)
}

// A RemoteFile is a file of a Remote. Its functions may be called from several goroutines at once.
type RemoteFile struct {
	Path    string // below the root of its dataset
	Size    int64  // in bytes; -1: not known
	SHA256  string // that it must have, hexadecimal; "": not known
	Address string // where it is, at its version, however it was named
	Dataset string // and Version: what it belongs to
	Version string

	Cached   func() (path string, ok bool)                      // where it is on this machine, if it is
	Fetch    func(ctx context.Context) (path string, err error) // brings it there
	ReaderAt func(ctx context.Context) io.ReaderAt              // reads parts of it in place; Size must be known
}

// remote returns the files that a name of Spec.Remote stands for.
func (n *namer) remote(arg string) ([]candidate, error) {
	literal, _ := beforeMeta(arg)
	root, rest, files, err := n.spec.Remote.List(n.ctx, literal)
	if err != nil {
		return nil, err
	}
	byName := map[string]*RemoteFile{}
	var rels, others []string
	pattern := strings.TrimSuffix(strings.TrimPrefix(arg, literal), "/")
	for _, f := range files {
		byName[root+f.Path] = f
		if ok, err := below(f.Path, rest, pattern); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", arg, err)
		} else if !ok {
			continue
		}
		if s, _ := suffix(f.Path); s == unknownFormat || slices.Contains(notData, f.Path[strings.LastIndexByte(f.Path, '/')+1:]) && f.Path != rest {
			others = append(others, f.Path)
			continue
		}
		rels = append(rels, f.Path)
	}
	var out []candidate
	switch {
	case pattern == "" && len(files) == 1 && files[0].Path == rest:
		out = []candidate{{name: root + rest, split: splitOfName(rest)}}
	case len(rels) == 0:
		return nil, n.noneThere(arg, literal, rest, others)
	case pattern != "":
		for _, rel := range rels {
			out = append(out, candidate{name: root + rel, glob: true, split: splitOfName(rel)})
		}
	default:
		if out, err = n.inRemoteFolder(root, rest, rels); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].remote = byName[out[i].name]
	}
	return out, nil
}

// inRemoteFolder assigns the files of a folder to splits, as those of one on this machine: by their names below it.
func (n *namer) inRemoteFolder(root, folder string, rels []string) ([]candidate, error) {
	if folder != "" {
		root, folder = root+folder+"/", folder+"/"
	}
	under := make([]string, len(rels))
	for i, rel := range rels {
		under[i] = strings.TrimPrefix(rel, folder)
	}
	return n.inFolder(root, under)
}

// beforeMeta returns the folders of a name before its first pattern, and whether it has one.
func beforeMeta(name string) (string, bool) {
	if !hasMeta(name) {
		return strings.TrimSuffix(name, "/"), false
	}
	parts := strings.Split(name, "/")
	i := slices.IndexFunc(parts, hasMeta)
	return strings.Join(parts[:i], "/"), true
}

// below reports whether path, of a file in folder, matches what stands behind the folder in a pattern; "" matches all that no
// listing hides.
func below(path, folder, pattern string) (bool, error) {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, folder), "/")
	pattern = strings.TrimPrefix(pattern, "/")
	want := strings.Split(pattern, "/")
	for i, seg := range strings.Split(rel, "/") {
		if hidden(seg) && !(i < len(want) && strings.HasPrefix(want[i], seg[:1])) {
			return path == folder, nil
		}
	}
	if pattern == "" {
		return true, nil
	}
	return matchGlob(pattern, rel)
}

// noneThere says that a name stands for no file, and what may have been meant.
func (n *namer) noneThere(arg, literal, rest string, others []string) error {
	if hasMeta(arg) {
		return fmt.Errorf("pattern %q: no file matches%s", arg, had(others))
	}
	if len(others) > 0 {
		return fmt.Errorf("%s: no file here can be read: what can be is %s%s", arg, understood, had(others))
	}
	if rest == "" {
		return fmt.Errorf("%s: the dataset has no files", arg)
	}
	_, _, all, err := n.spec.Remote.List(n.ctx, strings.TrimSuffix(literal, "/"+rest))
	if err != nil {
		return err
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Path)
	}
	if near := nearest(rest, names); near != "" {
		return fmt.Errorf("%s: %w; did you mean %s?", arg, fs.ErrNotExist, strings.TrimSuffix(literal, rest)+near)
	}
	return fmt.Errorf("%s: %w in this dataset%s", arg, fs.ErrNotExist, had(names))
}

func had(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it has %s)", few(names))
}

// oneVersion returns an error where files of one dataset are of two versions: their rows would be mixed.
func (n *namer) oneVersion(found []candidate) error {
	first := map[string]candidate{}
	for _, c := range found {
		if c.remote == nil || n.spec.Lenient {
			continue
		}
		if other, ok := first[c.remote.Dataset]; ok && other.remote.Version != c.remote.Version {
			return fmt.Errorf("%s and %s are of two revisions (%.12s, %.12s): name one of them", other.name, c.name, other.remote.Version, c.remote.Version)
		}
		first[c.remote.Dataset] = c
	}
	return nil
}

// fetch brings a file to this machine; done says that it was opened where it is.
func (o *opener) fetch(ctx context.Context, f *File) (done bool, err error) {
	if byName, _ := suffix(f.Name); o.spec.Peek && byName == parquetFormat && f.remote.Size >= 0 {
		if _, ok := f.remote.Cached(); !ok {
			p, err := parquetio.OpenAt(f.Name, f.remote.ReaderAt(ctx), f.remote.Size)
			return true, f.setParquet(p, err)
		}
	}
	f.path, err = f.remote.Fetch(ctx)
	return false, err
}
