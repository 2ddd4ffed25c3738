package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// editsName is the journal of edits that the manifest does not tell of yet.
const editsName = ".manifest.json.edits"

// Edits keeps the manifest of a directory true while its files are replaced one by one. Each edit is journaled before the file
// gets its name; the manifest is written when all are done. A run that was killed between the two is caught up by the next
// Edits of the directory: a file whose hash is the journaled one was replaced.
type Edits struct {
	dir     string
	m       *Manifest
	mu      sync.Mutex
	journal *os.File
	changed bool
}

// OpenEdits begins edits of files in dir. It returns nil where there is no manifest of ours: the name is a common one.
func OpenEdits(dir string) (*Edits, error) {
	m, err := ReadManifest(filepath.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errForeign) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &Edits{dir: dir, m: m}
	name := filepath.Join(dir, editsName)
	for {
		if e.journal, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666); err != nil {
			return nil, err
		}
		if err = tryLock(e.journal); err != nil {
			break
		}
		if isNamed(e.journal, name) {
			err = e.catchUp()
			break
		}
		e.journal.Close()
	}
	if err != nil {
		e.journal.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// CatchUp writes the manifest of dir where a run that was killed had replaced files and not said so; it does nothing where there is
// nothing to say.
func CatchUp(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, editsName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e, err := OpenEdits(dir)
	if e == nil || err != nil {
		return err
	}
	return e.Close()
}

// catchUp takes up what a run that was killed journaled.
func (e *Edits) catchUp() error {
	b, err := io.ReadAll(e.journal)
	if err != nil {
		return err
	}
	if len(b) > 0 && !bytes.HasSuffix(b, []byte("\n")) { // cut short: what is written next begins a line
		if _, err := e.journal.WriteString("\n"); err != nil {
			return err
		}
	}
	for line := range bytes.Lines(b) {
		var f ShardFile
		if json.Unmarshal(line, &f) != nil || !e.Lists(f.Name) {
			continue // cut short: then its file was not replaced
		}
		sum, n, err := hashFile(filepath.Join(e.dir, f.Name))
		if err != nil {
			return err
		}
		if sum == f.SHA256 && n == f.Bytes {
			e.Done(f)
		}
	}
	return nil
}

// Lists reports whether the manifest names a file.
func (e *Edits) Lists(name string) bool { return e.at(name) >= 0 }

func (e *Edits) at(name string) int {
	return slices.IndexFunc(e.m.Shards, func(s ShardFile) bool { return s.Name == name })
}

// Replacing journals that a listed file is about to become one of these rows, row groups, size and hash, by edit. It returns
// the entry to hand to Done when that has happened.
func (e *Edits) Replacing(name string, rows int64, groups int, sha256 string, bytes int64, edit string) (ShardFile, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.m.Shards[e.at(name)]
	f.Rows, f.RowGroups, f.SHA256, f.Bytes = rows, groups, sha256, bytes
	f.Edits = append(slices.Clone(f.Edits), edit)
	b, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	_, err = e.journal.Write(append(b, '\n'))
	return f, errors.Join(err, e.journal.Sync())
}

// Done enters a file that has been replaced.
func (e *Edits) Done(f ShardFile) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.m.Shards[e.at(f.Name)] = f
	e.changed = true
}

// Close writes the manifest and removes the journal.
func (e *Edits) Close() error {
	if e.changed {
		e.m.DatasetSHA256 = DatasetHash(e.m.Shards)
		for i := range e.m.Splits {
			e.m.Splits[i].Rows = 0
			for _, s := range e.m.Shards {
				if s.Split == e.m.Splits[i].Name {
					e.m.Splits[i].Rows += s.Rows
				}
			}
		}
		b, err := e.m.encode()
		if err == nil {
			err = WriteFile(filepath.Join(e.dir, ManifestName), b)
		}
		if err != nil {
			return errors.Join(err, e.journal.Close())
		}
	}
	return errors.Join(os.Remove(e.journal.Name()), e.journal.Close())
}
