package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rlprep/rlprep/internal/parquetio"
)

// A Difference is a file, or an entry of the manifest, that is not as the manifest says.
type Difference struct {
	Name    string
	Message string
}

// Verify reads the files of a data set, each once, and returns what differs from its manifest.
func Verify(dir string) (*Manifest, []Difference, error) {
	m, err := ReadManifest(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, nil, err
	}
	var out []Difference
	times := map[string]int{}
	for _, s := range m.Shards {
		times[s.Name]++
	}
	known := map[string]bool{}
	for _, s := range m.Shards {
		if known[s.Name] {
			continue
		}
		known[s.Name] = true
		if n := times[s.Name]; n > 1 {
			out = append(out, Difference{s.Name, fmt.Sprintf("the manifest names it %d times: its rows are counted as often", n)})
		}
		message, err := s.check(dir)
		if err != nil {
			return nil, nil, err
		}
		if message != "" {
			out = append(out, Difference{s.Name, message})
		}
	}
	beside, err := unnamed(dir, known)
	return m, append(append(out, beside...), m.contradictions()...), err
}

// check says in what the file of s differs from s; "" in nothing.
func (s FileEntry) check(dir string) (string, error) {
	if s.Name == "" || s.Name == "." || s.Name == ".." || strings.Contains(s.Name, "\x00") {
		return "the manifest has this as the name of a file, and it cannot be one", nil
	}
	if s.Name != filepath.Base(s.Name) {
		return "the manifest names a file outside its directory: it was not read", nil
	}
	name := filepath.Join(dir, s.Name)
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENAMETOOLONG):
		return "missing", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return "a directory, and the manifest has it as a file", nil
	case !info.Mode().IsRegular():
		return "not a regular file: it was not read", nil
	}
	sum, n, err := hashFile(name)
	switch {
	case err != nil:
		return "", err
	case n != s.Bytes:
		return fmt.Sprintf("%d bytes, the manifest says %d", n, s.Bytes), nil
	case sum != s.SHA256:
		return "sha256 differs from the manifest", nil
	}
	return s.checkFooter(name)
}

// checkFooter compares what s says of rows with the footer of its file.
func (s FileEntry) checkFooter(name string) (string, error) {
	f, err := parquetio.Open(name)
	var format *parquetio.FormatError
	switch {
	case errors.As(err, &format):
		return "sha256 is as the manifest says, but " + format.Err.Error(), nil
	case err != nil:
		return "", err
	}
	defer f.Close()
	if f.NumRows() != s.Rows {
		return fmt.Sprintf("%d rows, the manifest says %d", f.NumRows(), s.Rows), nil
	}
	if n := len(f.RowGroups()); n != s.RowGroups {
		return fmt.Sprintf("%d row groups, the manifest says %d", n, s.RowGroups), nil
	}
	return "", nil
}

// unnamed returns the Parquet files of dir that are not known.
func unnamed(dir string, known map[string]bool) (out []Difference, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".parquet") && !known[e.Name()] {
			out = append(out, Difference{e.Name(), "not in the manifest"})
		}
	}
	return out, err
}

// contradictions are what the manifest says in two ways.
func (m *Manifest) contradictions() (out []Difference) {
	rows := map[string]int64{}
	for _, s := range m.Shards {
		rows[s.Split] += s.Rows
	}
	for _, s := range m.Splits {
		if s.Rows != rows[s.Name] {
			out = append(out, Difference{ManifestName, fmt.Sprintf("split %s has %d rows, its shards have %d", s.Name, s.Rows, rows[s.Name])})
		}
		delete(rows, s.Name)
	}
	for _, s := range m.Shards {
		if _, left := rows[s.Split]; left {
			out = append(out, Difference{ManifestName, fmt.Sprintf("%s is of split %s, which is not listed", s.Name, s.Split)})
			delete(rows, s.Split)
		}
	}
	if DatasetHash(m.Shards) != m.DatasetSHA256 {
		out = append(out, Difference{ManifestName, "dataset_sha256 is not that of the shards listed"})
	}
	return out
}
