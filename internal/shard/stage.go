package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Stage is a directory that is being built whose files need no records: they are written under a private place beside it and
// appear together, by one rename.
type Stage struct {
	out  string
	new  string // what becomes out
	top  string // the outermost directory that was made for it
	lock *lock
}

// NewStage takes the lock of out, which must not exist or be an empty directory, and makes its private place, empty.
func NewStage(out string) (*Stage, error) {
	abs, err := resolvePath(out)
	if err != nil {
		return nil, err
	}
	s := &Stage{out: abs, new: filepath.Join(privateDirOf(abs), "out"), top: privateDirOf(abs)}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.top = dir
	}
	if s.lock, err = takeLock(privateDirOf(abs)); err != nil {
		return nil, err
	}
	if err = os.RemoveAll(s.new); err == nil {
		err = os.Mkdir(s.new, 0o777)
	}
	if err != nil {
		return nil, errors.Join(err, s.lock.release())
	}
	return s, nil
}

// Path returns where the file is written that will be rel in the directory.
func (s *Stage) Path(rel string) string { return filepath.Join(s.new, rel) }

// Publish gives the directory its name. Its files must be durable.
func (s *Stage) Publish() error {
	err := intoPlace(s.new, s.out)
	if err == nil {
		err = SyncDir(filepath.Dir(s.out))
	}
	if err != nil {
		return errors.Join(cannotPublish(s.out, err, "nothing is kept"), s.Abandon())
	}
	return s.lock.remove()
}

// Abandon removes the private place, and the directories that were made to hold it.
func (s *Stage) Abandon() error {
	err := errors.Join(os.RemoveAll(s.new), s.lock.remove())
	for dir := filepath.Dir(s.out); len(dir) >= len(s.top); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // it is another's by now
		}
	}
	return err
}
