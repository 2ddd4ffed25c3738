package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/killpoint"
)

// journalName is the file of .OUT.rlprep that says what is left to do to put new files into an existing OUT.
const journalName = "journal.json"

// A journal is durable before the first file moves; the next start does what is left of it.
type journal struct {
	Stage  string   // the private place, below .OUT.rlprep, that the files come from
	Put    []string // files to move from Stage/out into OUT; the manifest, which is last, is not among them
	Remove []string // files of OUT that go before the manifest comes
}

// Replace is Finalize into an OUT that exists and has the manifest base: m takes the place of the splits that it has, what else is
// in OUT stays. It returns the manifest that OUT has now.
//
// Where the file system can exchange two directories, a reader sees all that was or all that is new. Elsewhere the files are renamed one
// by one, and a run that is killed meanwhile is completed by the next start.
func (d *Dir) Replace(final []string, m, base *Manifest) (*Manifest, error) {
	if err := d.lastNames(final); err != nil {
		return nil, err
	}
	now, err := ReadManifest(filepath.Join(d.out, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &againError{fmt.Sprintf("%s: it was removed while this run was at work: run the same command again", d.out)}
	}
	if err != nil {
		return nil, err
	}
	if now.DatasetSHA256 != base.DatasetSHA256 {
		return nil, &againError{fmt.Sprintf("%s: another run has changed it meanwhile: start again", d.out)}
	}
	j := journal{Stage: filepath.Base(d.stage)}
	merged := base.Merge(m)
	if err := d.moves(&j, m, base); err != nil {
		return nil, err
	}
	dir := filepath.Join(d.stage, "out")
	if err := merged.write(dir); err != nil {
		return nil, err
	}
	killpoint.At("before-exchange")
	done, err := d.exchange(dir, append(slices.Clone(j.Remove), j.Put...))
	if err != nil {
		return nil, err
	}
	if !done {
		b, err := json.Marshal(j)
		if err != nil {
			return nil, err
		}
		if err := WriteFile(filepath.Join(d.privateDir, journalName), b); err != nil {
			return nil, err
		}
		if err := complete(d.out, d.privateDir, &j); err != nil {
			return nil, err
		}
	}
	return merged, d.Abandon()
}

// InTheWay returns an error where a file in out, a data set with the manifest base, keeps one of names from being written for splits: it is not listed
// as theirs, or is no file.
func InTheWay(out string, base *Manifest, splits, names []string) error {
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(out, name))
		if err != nil {
			continue
		}
		if !slices.ContainsFunc(base.Shards, func(s FileEntry) bool { return s.Name == name && slices.Contains(splits, s.Split) }) {
			return &inTheWayError{fmt.Sprintf("%s: %s exists, and its manifest does not list it in a split that is replaced: move it away, or name a new directory with -o", out, name)}
		}
		if !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0 {
			return &inTheWayError{fmt.Sprintf("%s: %s is no regular file: move it away, or name a new directory with -o", out, name)}
		}
	}
	return nil
}

// An inTheWayError says that a file of the user's is where ours would go.
type inTheWayError struct{ text string }

func (e *inTheWayError) Error() string { return e.text }

// ExitCode is 2: nothing changes by itself.
func (e *inTheWayError) ExitCode() int { return 2 }

// moves fills in what comes and what goes.
func (d *Dir) moves(j *journal, m, base *Manifest) error {
	old := map[string]bool{}
	for _, s := range base.Shards {
		if m.has(s.Split) {
			old[s.Name] = true
		}
	}
	for _, s := range m.Shards {
		j.Put = append(j.Put, s.Name)
	}
	var splits []string
	for _, s := range m.Splits {
		splits = append(splits, s.Name)
	}
	if err := InTheWay(d.out, base, splits, j.Put); err != nil {
		return err
	}
	for _, name := range j.Put {
		delete(old, name)
	}
	for _, s := range base.Shards {
		if old[s.Name] && s.Name == filepath.Base(s.Name) {
			j.Remove = append(j.Remove, s.Name)
		}
	}
	return nil
}

// exchange swaps OUT and dir in one step, with all files of OUT but those in gone linked into dir; it reports whether that could
// be done.
func (d *Dir) exchange(dir string, gone []string) (bool, error) {
	entries, err := os.ReadDir(d.out)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Name() == ManifestName || slices.Contains(gone, e.Name()) {
			continue
		}
		if e.IsDir() || os.Link(filepath.Join(d.out, e.Name()), filepath.Join(dir, e.Name())) != nil {
			return false, nil
		}
	}
	if !sameOwner(dir, d.out) || SyncDir(dir) != nil || exchange(dir, d.out) != nil {
		return false, nil
	}
	killpoint.At("after-exchange")
	return true, errors.Join(SyncDir(filepath.Dir(d.out)), SyncDir(d.stage))
}

// complete does what is left of a journal.
func complete(out, home string, j *journal) error {
	from := filepath.Join(home, filepath.Base(j.Stage), "out")
	for _, name := range j.Put {
		if err := moveIn(from, out, name); err != nil {
			return err
		}
		killpoint.At("between-renames")
	}
	for _, name := range j.Remove {
		if err := os.Remove(filepath.Join(out, filepath.Base(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := SyncDir(out); err != nil {
		return err
	}
	killpoint.At("before-last-rename")
	if err := moveIn(from, out, ManifestName); err != nil {
		return err
	}
	if err := SyncDir(out); err != nil {
		return err
	}
	killpoint.At("before-journal-goes")
	return errors.Join(os.Remove(filepath.Join(home, journalName)), SyncDir(home))
}

// moveIn renames a file into another directory; one that is no more where it was is there.
func moveIn(from, to, name string) error {
	name = filepath.Base(name)
	if _, err := os.Lstat(filepath.Join(from, name)); errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(filepath.Join(to, name))
		return err
	}
	err := rename(filepath.Join(from, name), filepath.Join(to, name))
	if errors.Is(err, syscall.EXDEV) {
		return copyIn(from, to, name)
	}
	return err
}

// rename is os.Rename, but for tests of file systems that refuse renames across directories.
func rename(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) && killpoint.Refused("rename-across") {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
	}
	return os.Rename(from, to)
}

// intoPlace renames dir to out. An empty directory at out gives way, and dir gets its mode, owner and group; anything else at out stays.
func intoPlace(dir, out string) error {
	if info, err := os.Lstat(out); err == nil && info.IsDir() {
		sameOwner(dir, out)
		if err := os.Remove(out); err != nil {
			return err
		}
	}
	return rename(dir, out)
}

// copyIn is a move for file systems that refuse renames across directories: a copy under a hidden name, then a rename.
func copyIn(from, to, name string) error {
	hidden := filepath.Join(to, hiddenName(name, ".part"))
	if err := copyFile(filepath.Join(from, name), hidden); err != nil {
		os.Remove(hidden)
		return err
	}
	if err := os.Rename(hidden, filepath.Join(to, name)); err != nil {
		return err
	}
	return os.Remove(filepath.Join(from, name))
}

func copyFile(from, to string) error {
	in, err := infile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// publish renames a directory to OUT. Where renames across directories are refused its files are copied to a hidden directory
// beside OUT first.
func (d *Dir) publish(dir string) error {
	err := intoPlace(dir, d.out)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	beside := stagedCopy(d.out)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(beside), os.Mkdir(beside, 0o777)); err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyFile(filepath.Join(dir, e.Name()), filepath.Join(beside, e.Name())); err != nil {
			return err
		}
	}
	if err := SyncDir(beside); err != nil {
		return err
	}
	return os.Rename(beside, d.out)
}

// stagedCopy is where appear copies to.
func stagedCopy(out string) string {
	return filepath.Join(filepath.Dir(out), hiddenName(filepath.Base(out), ".rlprep.new"))
}

// Recover completes what a run that was killed left of its renames into out. It does nothing where there is nothing to do.
func Recover(out string) error {
	out, err := resolvePath(out)
	if err != nil {
		return err
	}
	h := privateDirOf(out)
	b, err := infile.ReadFile(filepath.Join(h, journalName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := takeLock(h)
	if err != nil {
		return err
	}
	return errors.Join(recoverLocked(out, h, b), l.release())
}

// recoverLocked does the journal b, unless another process has done it before the lock was taken.
func recoverLocked(out, h string, b []byte) error {
	if _, err := os.Stat(filepath.Join(h, journalName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var j journal
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(h, journalName), err)
	}
	return complete(out, h, &j)
}

// resolvePath is out, absolute and with no links, so that what is beside it is on its file system.
func resolvePath(out string) (string, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		return real, nil
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(out)); err == nil {
		return filepath.Join(dir, filepath.Base(out)), nil
	}
	return out, nil
}
