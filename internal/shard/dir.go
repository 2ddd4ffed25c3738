// Package shard makes output files durable and visible: whole or absent. Everything is written under private names in
// .OUT.rlprep beside OUT, and a new OUT appears by one rename.
//
//	.OUT.rlprep/lock                held by a run that has all of OUT
//	.OUT.rlprep/door                held for an instant by a process that takes the lock, or becomes a member
//	.OUT.rlprep/PLANHASH/members/   a file, held, for each process that does tasks of the plan beside others
//	.OUT.rlprep/PLANHASH/out/       the shards, under their names; becomes OUT
//	.OUT.rlprep/PLANHASH/rec/       a record a task that is done, its spilled keys and its rejects; a claim a task that a member does
package shard

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rlprep/rlprep/internal/filelock"
	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/killpoint"
)

// ManifestName is the name of the manifest in OUT.
const ManifestName = "manifest.json"

// A Dir is an output directory in the making.
type Dir struct {
	out        string // OUT
	privateDir string // .OUT.rlprep
	stage      string // .OUT.rlprep/PLANHASH
	names      []string
	lock       *lock          // nil of a member
	member     *filelock.Lock // nil of a run that has all of OUT
	fresh      map[int]bool   // tasks whose shard was hashed by this process, so its bytes are known to be right
}

// privateDirOf returns the private directory of out.
func privateDirOf(out string) string {
	return filepath.Join(filepath.Dir(out), hiddenName(filepath.Base(out), ".rlprep"))
}

// privateDirError says why the private place could not be made.
func privateDirError(home string, err error) error {
	if st, serr := os.Lstat(home); serr == nil && !st.IsDir() {
		return &againError{fmt.Sprintf("%s is a file, and unfinished output is kept in a folder of this name: move it away and run the same command again", home)}
	}
	return &noFolderError{err}
}

// A noFolderError says that the private place cannot be made. It may be fs.ErrNotExist, as in /proc, where nothing can be made.
type noFolderError struct{ err error }

func (e *noFolderError) Error() string {
	return fmt.Sprintf("make a folder for unfinished output: %v: name another directory with -o", e.err)
}

// Unwrap returns the system's error.
func (e *noFolderError) Unwrap() error { return e.err }

// Private returns the folders beside out whose content is written, replaced and removed while out is made.
func Private(out string) ([]string, error) {
	out, err := resolvePath(out)
	if err != nil {
		return nil, err
	}
	return []string{privateDirOf(out), stagedCopy(out)}, nil
}

// Replaced returns the files of out, a data set with the manifest m, that are replaced or removed where its splits are written again.
func (m *Manifest) Replaced(out string, splits []string) []string {
	files := []string{filepath.Join(out, ManifestName)}
	for _, s := range m.Shards {
		if slices.Contains(splits, s.Split) && s.Name == filepath.Base(s.Name) {
			files = append(files, filepath.Join(out, s.Name))
		}
	}
	return files
}

// Open takes the lock of out and makes, or reuses, the private place of the plan. The error of a lock that is held says
// by whom; members that do tasks of any plan of out count. Work of other plans that never came to an end is removed.
func Open(out, planHash string, names []string) (*Dir, error) {
	out, err := resolvePath(out)
	if err != nil {
		return nil, err
	}
	d := &Dir{out: out, privateDir: privateDirOf(out), names: names, fresh: map[int]bool{}}
	d.stage = filepath.Join(d.privateDir, planHash)
	if d.lock, err = takeLock(d.privateDir); err != nil {
		return nil, err
	}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(err, d.lock.release())
	}
	return d, nil
}

func (d *Dir) prepare() error {
	if b, err := infile.ReadFile(filepath.Join(d.privateDir, journalName)); err == nil {
		if err := recoverLocked(d.out, d.privateDir, b); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(d.privateDir)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(stagedCopy(d.out)); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != filepath.Base(d.stage) {
			if err := os.RemoveAll(filepath.Join(d.privateDir, e.Name())); err != nil {
				return err
			}
		}
	}
	return d.makeStage()
}

// makeStage makes the folders of the private place of the plan.
func (d *Dir) makeStage(more ...string) error {
	for _, sub := range append([]string{"out", "rec"}, more...) {
		if err := os.MkdirAll(filepath.Join(d.stage, sub), 0o777); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the lock back, or ends the membership. What was done stays for the next attempt.
func (d *Dir) Close() error {
	if d.member != nil {
		return d.leave()
	}
	return d.lock.release()
}

// Abandon removes the private place: nothing is left beside OUT.
func (d *Dir) Abandon() error {
	return errors.Join(os.RemoveAll(d.stage), d.lock.remove())
}

// TempDir is a directory for temporary files, on the file system of the output.
func (d *Dir) TempDir() string { return filepath.Join(d.stage, "rec") }

func (d *Dir) shardPath(task int) string { return filepath.Join(d.stage, "out", d.names[task]) }

func (d *Dir) recPath(task int, ext string) string {
	return filepath.Join(d.stage, "rec", fmt.Sprintf("%05d.%s", task, ext))
}

// stored is what a record file holds: the pipeline's record and what proves that its files are whole.
type stored struct {
	Empty   bool
	Bytes   int64
	SHA256  string
	Spill   int64
	Rejects int64
	Record  json.RawMessage
}

// Record returns the record of a task whose files are there whole, nil for none. A shard that another process left is read through once: only the
// very bytes count. A member sees to the sizes alone, since the run that makes OUT visible reads it.
func (d *Dir) Record(task int) ([]byte, error) {
	b, err := infile.ReadFile(d.recPath(task, "json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s stored
	if json.Unmarshal(b, &s) != nil || !sizeIs(d.recPath(task, "keys"), s.Spill) || !sizeIs(d.recPath(task, "rejects"), s.Rejects) {
		return nil, nil
	}
	if d.member != nil {
		if !s.Empty && !sizeIs(d.shardPath(task), s.Bytes) {
			return nil, nil
		}
		return s.Record, nil
	}
	if !s.Empty {
		sum, n, err := hashFile(d.shardPath(task))
		if err != nil || n != s.Bytes || sum != s.SHA256 {
			return nil, nil
		}
	}
	d.fresh[task] = true
	return s.Record, nil
}

func sizeIs(name string, want int64) bool {
	st, err := os.Stat(name)
	return (err == nil && st.Size() == want) || (err != nil && want == 0)
}

// OpenSpill opens the spilled keys of a task that is done.
func (d *Dir) OpenSpill(task int) (*os.File, error) { return infile.Open(d.recPath(task, "keys")) }

// Create begins the shard of a task under a private name; what an earlier attempt left of it is removed.
func (d *Dir) Create(task int) (*File, error) {
	f, err := os.Create(filepath.Join(d.stage, "out", fmt.Sprintf("%05d.part", task)))
	if err != nil {
		return nil, err
	}
	for _, ext := range []string{"json", "keys", "rejects"} {
		if err := os.Remove(d.recPath(task, ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &File{stream: newStream(f), dir: d, task: task}, nil
}

// A File is a shard that is being built. It is written by its methods Write and ReadFrom; what fails may be told by a later call of one of them, or
// by Publish.
type File struct {
	*stream
	dir     *Dir
	task    int
	spill   *os.File
	rejects *os.File
	done    bool
}

// Name is the private name of the file.
func (s *File) Name() string { return s.f.Name() }

// Spill is the file for the task's keys, made at the first call.
func (s *File) Spill() (*os.File, error) { return s.side(&s.spill, "keys") }

// Rejects is the file for the rows left out, made at the first call.
func (s *File) Rejects() (*os.File, error) { return s.side(&s.rejects, "rejects") }

func (s *File) side(f **os.File, ext string) (*os.File, error) {
	var err error
	if *f == nil {
		*f, err = os.Create(s.dir.recPath(s.task, ext))
	}
	return *f, err
}

// Publish makes the shard, unless it is empty, durable: count, fsync, rename, fsync the directory; then, in the same way, the
// record, made from the shard's size and hash.
func (s *File) Publish(empty bool, record func(bytes int64, sha256 string) ([]byte, error)) error {
	s.done = true
	var st stored
	var err error
	if st.Spill, err = closeSide(s.spill); err != nil {
		return err
	}
	if st.Rejects, err = closeSide(s.rejects); err != nil {
		return err
	}
	part, name := s.f.Name(), s.dir.shardPath(s.task)
	st.Empty = empty
	if empty {
		err = errors.Join(s.end(), s.f.Close(), os.Remove(part))
	} else {
		st.SHA256, st.Bytes, err = s.finish()
		err = errors.Join(err, s.f.Close())
	}
	if err != nil {
		return err
	}
	killpoint.At("before-publish")
	if !empty {
		if err := os.Rename(part, name); err != nil {
			return err
		}
	}
	if err := SyncDir(filepath.Dir(name)); err != nil {
		return err
	}
	killpoint.At("between-publish-and-record")
	if st.Record, err = record(st.Bytes, st.SHA256); err != nil {
		return err
	}
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	if s.dir.member == nil {
		s.dir.fresh[s.task] = true
	}
	return WriteFile(s.dir.recPath(s.task, "json"), b)
}

func closeSide(f *os.File) (int64, error) {
	if f == nil {
		return 0, nil
	}
	n, err := f.Seek(0, io.SeekEnd)
	return n, errors.Join(err, f.Sync(), f.Close())
}

// Discard removes what was written. After Publish it does nothing.
func (s *File) Discard() {
	if s.done {
		return
	}
	s.done = true
	_ = s.end()
	for _, f := range []*os.File{s.f, s.spill, s.rejects} {
		if f != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}
}

// WriteFile writes a file whole or not at all: a private name in the same directory, fsync, rename, fsync the directory.
func WriteFile(name string, b []byte) error {
	p, err := NewPartFile(name)
	if err != nil {
		return err
	}
	if _, err = p.Write(b); err == nil {
		err = p.Sync()
	}
	if err != nil {
		return errors.Join(err, p.Discard())
	}
	return p.Rename()
}

func hashFile(name string) (string, int64, error) {
	f, err := infile.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.CopyBuffer(h, bufio.NewReaderSize(f, 1<<20), make([]byte, 1<<20))
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// Finalize gives the shards their last names, writes the manifest and makes OUT appear by one rename. final has the last
// name of each task's shard, "" for one that has none.
func (d *Dir) Finalize(final []string, m *Manifest) error {
	if err := d.lastNames(final); err != nil {
		return err
	}
	killpoint.At("before-manifest")
	dir := filepath.Join(d.stage, "out")
	if err := m.write(dir); err != nil {
		return err
	}
	killpoint.At("before-rename")
	if err := d.publish(dir); err != nil {
		return cannotPublish(d.out, err, "the work is kept")
	}
	if err := SyncDir(filepath.Dir(d.out)); err != nil {
		return err
	}
	killpoint.At("after-rename")
	return d.Abandon()
}

// cannotPublish says why out could not appear, and what helps.
func cannotPublish(out string, err error, kept string) error {
	if errors.Is(err, syscall.EBUSY) {
		return fmt.Errorf("publish %s: it is a mount point, or another program uses it: name a directory in it with -o (%w; %s)", out, err, kept)
	}
	if _, serr := os.Lstat(out); serr == nil {
		return &againError{fmt.Sprintf("publish %s: another program made it while this run was at work, and it is left as it is: move it away and run the same command again (%s)", out, kept)}
	}
	return fmt.Errorf("publish %s: %w: run the same command again (%s)", out, err, kept)
}

// lastNames gives the shards in the private place their last names, and removes what else is there.
func (d *Dir) lastNames(final []string) error {
	if err := d.check(final); err != nil {
		return err
	}
	dir := filepath.Join(d.stage, "out")
	for i, name := range final {
		if name == "" || name == d.names[i] {
			continue
		}
		if err := os.Rename(d.shardPath(i), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return d.sweep(dir, final)
}

// check sees that every shard was published or hashed by this process, and is there.
func (d *Dir) check(final []string) error {
	for i, name := range final {
		if name == "" {
			continue
		}
		if !d.fresh[i] {
			return fmt.Errorf("%s: shard was not published", d.names[i])
		}
		if _, err := os.Stat(d.shardPath(i)); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what an attempt that was killed left among the shards.
func (d *Dir) sweep(dir string, final []string) error {
	want := map[string]bool{}
	for _, n := range final {
		want[n] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !want[e.Name()] {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rejects concatenates the rejected rows of all tasks, in order, to w.
func (d *Dir) Rejects(w io.Writer) error {
	for i := range d.names {
		f, err := infile.Open(d.recPath(i, "rejects"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Existing says what stands at out: nothing, an empty directory, or a data set with its manifest (nil where it has none).
func Existing(out string) (exists bool, m *Manifest, err error) {
	st, err := os.Stat(out)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	if !st.IsDir() {
		return true, nil, fmt.Errorf("%s: is a file, not a directory; name another directory with -o", out)
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return false, nil, err
	}
	if len(entries) == 0 {
		if isMount(out, st) {
			return true, nil, fmt.Errorf("%s is a mount point, and a data set appears by one rename: name a directory in it with -o", out)
		}
		return false, nil, nil
	}
	m, err = ReadManifest(filepath.Join(out, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil, nil
	}
	return true, m, err
}

// Tidy removes the private place beside a data set that is finished, left by a run that was killed right after its rename.
func Tidy(out string) error {
	out, err := resolvePath(out)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(stagedCopy(out)); err != nil {
		return err
	}
	h := privateDirOf(out)
	if _, err := os.Stat(h); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l, err := takeLock(h)
	if err != nil {
		return nil // somebody is at work there
	}
	entries, err := os.ReadDir(h)
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, os.RemoveAll(filepath.Join(h, e.Name())))
		}
	}
	return errors.Join(err, l.remove())
}

// Name returns the name of a shard: "train.parquet", or "train-00000-of-00004.parquet".
func Name(split string, i, of int) string {
	if of <= 1 {
		return split + ".parquet"
	}
	return NameOf(split, i, of)
}

// NameOf returns the numbered name of a shard, also of a single one: "train-00000-of-00001.parquet".
func NameOf(split string, i, of int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.parquet", split, i, of)
}

// Final returns the last names of shards when those that are empty ("") are left out: the others of their split are
// renumbered. numbered gives a single shard a number too.
func Final(splits []string, empty []bool, numbered bool) []string {
	count := map[string]int{}
	for i, s := range splits {
		if !empty[i] {
			count[s]++
		}
	}
	next := map[string]int{}
	out := make([]string, len(splits))
	for i, s := range splits {
		if empty[i] {
			continue
		}
		if out[i] = Name(s, next[s], count[s]); numbered {
			out[i] = NameOf(s, next[s], count[s])
		}
		next[s]++
	}
	return out
}

// PlanHash names the private place of a plan.
func PlanHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
