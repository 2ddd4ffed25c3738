package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/rlprep/rlprep/internal/infile"
)

// cacheTag marks the cache for programs that back up (https://bford.info/cachedir/): the first line is the standard's.
const cacheTag = `Signature: 8a477f597d28d172789f06886806bc55
# This directory holds what can be fetched again from a Hugging Face Hub.
`

func folderName(a Address) string { return "datasets--" + strings.ReplaceAll(a.Repo, "/", "--") }

// dir is the place of a dataset in the cache.
func (c *Client) dir(a Address, parts ...string) string {
	return filepath.Join(append([]string{c.Cache, folderName(a)}, parts...)...)
}

// readRef returns the commit that the cache last saw a revision at, "" for none.
func (c *Client) readRef(a Address) string {
	b, err := infile.ReadFile(c.dir(a, "refs", filepath.FromSlash(a.revision())))
	if commit := strings.TrimSpace(string(b)); err == nil && commitHash.MatchString(commit) {
		return commit
	}
	return ""
}

// treeFile is the cache's list of a commit's files.
type treeFile struct {
	Format int              `json:"format_version"`
	Files  map[string]entry `json:"files"`
}

// readTree returns the list of all files of a commit that the cache has, and whether it has one.
func (c *Client) readTree(s *Snapshot) (map[string]entry, bool) {
	b, err := infile.ReadFile(c.dir(s.Address, "trees", s.Commit+".json"))
	if err != nil {
		return nil, false
	}
	var t treeFile
	if json.Unmarshal(b, &t) != nil || t.Format != 1 {
		return nil, false // a later format: the list is fetched again
	}
	for p, e := range t.Files {
		if safePath(p) != nil || !blobHash.MatchString(e.BlobID) || e.SHA256 != "" && !blobHash.MatchString(e.SHA256) {
			return nil, false
		}
	}
	return t.Files, t.Files != nil
}

// pointer is where a file of a snapshot stands in the cache.
func (f *File) pointer() string {
	s := f.Snapshot
	return s.c.dir(s.Address, "snapshots", s.Commit, filepath.FromSlash(f.Path))
}

// Cached returns where the cache has the file, and whether it has it, whole.
func (f *File) Cached() (string, bool) {
	p := f.pointer()
	info, err := os.Stat(p)
	return p, err == nil && info.Mode().IsRegular() && (f.Size < 0 || info.Size() == f.Size)
}

// cachedFile returns the file of that path where the cache has it, else nil.
func (s *Snapshot) cachedFile(p string) *File {
	f := &File{Snapshot: s, Path: p, Size: -1}
	local, ok := f.Cached()
	if !ok {
		return nil
	}
	if to, err := os.Readlink(local); err == nil && blobHash.MatchString(filepath.Base(to)) {
		f.ETag = filepath.Base(to)
	}
	if info, err := os.Stat(local); err == nil {
		f.Size = info.Size()
	}
	return f
}

// inCache returns the files at and below path that the cache has, where no list says what there is: which may be some only,
// so shards that say how many they are must be there all.
func (s *Snapshot) inCache(below string) ([]*File, error) {
	root := s.c.dir(s.Address, "snapshots", s.Commit)
	var out []*File
	err := fs.WalkDir(os.DirFS(root), or(below, "."), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if f := s.cachedFile(p); f != nil {
			out = append(out, f)
		}
		return nil
	})
	at := s.Address
	at.Path = below
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if len(out) == 0 {
		return nil, s.c.notCached(at, fmt.Sprintf("commit %.12s", s.Commit))
	}
	if lost := missing(out); lost != "" && out[0].Path != below {
		return nil, s.c.notCached(at, path.Base(lost))
	}
	return out, nil
}

var privateNames atomic.Int64

// replace writes a small file whole: under a name of its own, then by a rename.
func replace(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d-%d.tmp", name, os.Getpid(), privateNames.Add(1))
	err := os.WriteFile(tmp, b, 0o666)
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// save writes what the cache knows of a snapshot beside its files: its list, where that is whole, and what the revision
// stands for. The first file is there by then, so nobody finds a ref to nothing.
func (s *Snapshot) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree != nil && !s.treeSaved {
		b, err := json.MarshalIndent(treeFile{1, s.tree}, "", " ")
		if err != nil {
			return err
		}
		if err := replace(s.c.dir(s.Address, "trees", s.Commit+".json"), b); err != nil {
			return err
		}
		s.treeSaved = true
	}
	if s.Address.revision() != s.Commit && !s.refSaved {
		if s.c.readRef(s.Address) != s.Commit {
			if err := replace(s.c.dir(s.Address, "refs", filepath.FromSlash(s.Address.revision())), []byte(s.Commit)); err != nil {
				return err
			}
		}
		s.refSaved = true
	}
	return nil
}

// link makes the file of a snapshot stand for its blob.
func (f *File) link(blob string) error {
	p := f.pointer()
	if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
		return err
	}
	to, err := filepath.Rel(filepath.Dir(p), blob)
	if err != nil {
		return err
	}
	if have, err := os.Readlink(p); err == nil && have == to {
		return nil
	}
	if !f.Snapshot.c.Copies {
		tmp := fmt.Sprintf("%s.%d-%d.tmp", p, os.Getpid(), privateNames.Add(1))
		if os.Symlink(to, tmp) == nil {
			err := os.Rename(tmp, p)
			if err != nil {
				os.Remove(tmp)
			}
			return err
		}
	}
	return os.Rename(blob, p) // no links here: the file itself
}

// tag marks the cache as one, as far as that can be done.
func (c *Client) tag() {
	name := filepath.Join(c.Cache, "CACHEDIR.TAG")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		_ = replace(name, []byte(cacheTag)) // only backups mind
	}
}
