package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Manifest says what a data set was made from and what is in it. It has no path, clock or host, so equal input and options
// give equal bytes.
type Manifest struct {
	Format        int               `json:"format"`
	Tool          string            `json:"tool"`
	Version       string            `json:"version"`
	Recipe        string            `json:"recipe,omitempty"`
	Options       map[string]string `json:"options"`
	Inputs        []InputFile       `json:"inputs"`
	Splits        []SplitRows       `json:"splits"`
	Shards        []ShardFile       `json:"shards"`
	DatasetSHA256 string            `json:"dataset_sha256"`
}

// An InputFile is a file that was read; Name is its base name. Source is its address where it came from a Hub, which does not make
// it another file.
type InputFile struct {
	Split  string `json:"split"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Source string `json:"source,omitempty"`
}

// A SplitRows counts the rows of a split.
type SplitRows struct {
	Name    string           `json:"name"`
	RowsIn  int64            `json:"rows_in"`
	Rows    int64            `json:"rows"`
	Dropped map[string]int64 `json:"dropped"`
}

// A ShardFile is a file of the data set.
type ShardFile struct {
	Name      string           `json:"name"`
	Split     string           `json:"split"`
	Rows      int64            `json:"rows"`
	RowGroups int              `json:"row_groups"`
	Bytes     int64            `json:"bytes"`
	SHA256    string           `json:"sha256"`
	Dropped   map[string]int64 `json:"dropped"`
	Edits     []string         `json:"edits,omitempty"` // what was done to the file since: "add agent_name=tool_agent"
}

// DatasetHash is the sha256 over "sha256  name" lines of the shards, in the order of their names.
func DatasetHash(shards []ShardFile) string {
	lines := make([]string, len(shards))
	byName := slices.Clone(shards)
	slices.SortFunc(byName, func(a, b ShardFile) int { return strings.Compare(a.Name, b.Name) })
	for i, s := range byName {
		lines[i] = s.SHA256 + "  " + s.Name + "\n"
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

func (m *Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

var errForeign = errors.New("not a manifest of rlprep")

// ReadManifest reads a manifest.json.
func ReadManifest(name string) (*Manifest, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var of struct {
		Tool   string `json:"tool"`
		Format int    `json:"format"`
	}
	if json.Unmarshal(b, &of) != nil || of.Tool != "rlprep" {
		return nil, fmt.Errorf("%s: %w", name, errForeign)
	}
	if of.Format != 1 {
		return nil, fmt.Errorf("%s: of a later version of rlprep (format %d)", name, of.Format)
	}
	m := &Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// SamePlan reports whether both manifests come from the same tool, recipe, options and inputs.
func (m *Manifest) SamePlan(o *Manifest) bool {
	return m.edited() == "" && m.Version == o.Version && m.Recipe == o.Recipe && maps.Equal(m.Options, o.Options) && sameInputs(m.Inputs, o.Inputs)
}

// edited names a file that was edited since, and how; "" where none was.
func (m *Manifest) edited() string {
	for _, s := range m.Shards {
		if len(s.Edits) > 0 {
			return s.Name + ": " + strings.Join(s.Edits, "; ")
		}
	}
	return ""
}

func sameInputs(a, b []InputFile) bool {
	return slices.EqualFunc(a, b, func(x, y InputFile) bool {
		y.Source = x.Source
		return x == y
	})
}

// Difference says in what the plan of o differs from that of m.
func (m *Manifest) Difference(o *Manifest) string {
	switch {
	case m.edited() != "":
		return "edited since, " + m.edited()
	case m.Recipe != o.Recipe:
		return fmt.Sprintf("recipe %s, not %s", m.Recipe, o.Recipe)
	case !maps.Equal(m.Options, o.Options):
		all := maps.Clone(m.Options)
		maps.Copy(all, o.Options)
		for _, k := range slices.Sorted(maps.Keys(all)) {
			if m.Options[k] != o.Options[k] {
				return "another --" + k
			}
		}
	case !sameInputs(m.Inputs, o.Inputs):
		return "other input files"
	}
	return fmt.Sprintf("made by version %s", m.Version)
}

// A Difference is a file that is not as its manifest says.
type Difference struct {
	Name    string
	Message string
}

// Verify hashes the files of a data set and returns what differs from its manifest.
func Verify(dir string) (*Manifest, []Difference, error) {
	m, err := ReadManifest(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, nil, err
	}
	var out []Difference
	known := map[string]bool{}
	for _, s := range m.Shards {
		known[s.Name] = true
		if s.Name != filepath.Base(s.Name) {
			out = append(out, Difference{s.Name, "the manifest names a file outside the directory"})
			continue
		}
		sum, n, err := hashFile(filepath.Join(dir, s.Name))
		switch {
		case os.IsNotExist(err):
			out = append(out, Difference{s.Name, "missing"})
		case err != nil:
			return nil, nil, err
		case n != s.Bytes:
			out = append(out, Difference{s.Name, fmt.Sprintf("%d bytes, the manifest says %d", n, s.Bytes)})
		case sum != s.SHA256:
			out = append(out, Difference{s.Name, "sha256 differs from the manifest"})
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".parquet") && !known[e.Name()] {
			out = append(out, Difference{e.Name(), "not in the manifest"})
		}
	}
	if DatasetHash(m.Shards) != m.DatasetSHA256 {
		out = append(out, Difference{ManifestName, "dataset_sha256 is not that of the shards listed"})
	}
	return m, out, nil
}
