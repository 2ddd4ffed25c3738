package shard

import (
	"bytes"
	"context"
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

// editsName is the journal of edits that are not in the manifest yet.
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
	pending map[string]FileEntry // journaled, and not said to be done
}

// EditsNames returns the files of dir that Edits write: none where dir has no manifest of ours.
func EditsNames(dir string) []string {
	if _, err := ReadManifest(filepath.Join(dir, ManifestName)); err != nil {
		return nil
	}
	return []string{filepath.Join(dir, ManifestName), filepath.Join(dir, editsName)}
}

// OpenEdits begins edits of files in dir. It returns nil where there is no manifest of ours: the name is a common one. While another run edits files
// of dir it waits, as a Hold does.
func OpenEdits(ctx context.Context, dir string) (*Edits, error) {
	m, err := ReadManifest(filepath.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errForeign) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &Edits{dir: dir, m: m}
	if err := patiently(ctx, func() error { return e.begin(filepath.Join(dir, editsName)) }); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return e, nil
}

// begin takes the lock, which is the journal's, and reads what the run before left.
func (e *Edits) begin(name string) (err error) {
	for {
		if e.journal, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666); err != nil {
			return err
		}
		if err = tryLock(e.journal); err == nil && !isNamed(e.journal, name) {
			e.journal.Close()
			continue
		}
		if err == nil { // only now does nobody else write it
			e.m, err = ReadManifest(filepath.Join(e.dir, ManifestName))
		}
		if err == nil {
			err = e.catchUp()
		}
		if err != nil {
			e.journal.Close()
		}
		return err
	}
}

// CatchUp writes the manifest of dir where a run that was killed had replaced files and not said so; it does nothing where there is
// nothing to say.
func CatchUp(ctx context.Context, dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, editsName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e, err := OpenEdits(ctx, dir)
	if e == nil || err != nil {
		return err
	}
	return e.Close()
}

// catchUp completes what a killed run left in its journal.
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
		var f FileEntry
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
func (e *Edits) Lists(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at(name) >= 0
}

// at is the place of a file in the manifest, -1: it is not in it. mu is held.
func (e *Edits) at(name string) int {
	return slices.IndexFunc(e.m.Shards, func(s FileEntry) bool { return s.Name == name })
}

// Replacing journals that a listed file is about to become one of these rows, row groups, size and hash, by edit. It returns
// the entry to hand to Done when that has happened.
func (e *Edits) Replacing(name string, rows int64, groups int, sha256 string, bytes int64, edit string) (FileEntry, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.m.Shards[e.at(name)]
	f.Rows, f.RowGroups, f.SHA256, f.Bytes = rows, groups, sha256, bytes
	f.Edits = append(slices.Clone(f.Edits), edit)
	b, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	if e.pending == nil {
		e.pending = map[string]FileEntry{}
	}
	e.pending[name] = f
	_, err = e.journal.Write(append(b, '\n'))
	return f, errors.Join(err, e.journal.Sync())
}

// Done enters a file that has been replaced.
func (e *Edits) Done(f FileEntry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.pending, f.Name)
	e.m.Shards[e.at(f.Name)] = f
	e.changed = true
}

// enterReplaced enters the files that were replaced although an error followed: the folder could not be synced, say.
func (e *Edits) enterReplaced() {
	for name, f := range e.pending {
		if sum, n, err := hashFile(filepath.Join(e.dir, name)); err == nil && sum == f.SHA256 && n == f.Bytes {
			e.Done(f)
		}
	}
}

// Close writes the manifest and removes the journal.
func (e *Edits) Close() error {
	e.enterReplaced()
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
