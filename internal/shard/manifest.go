package shard

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
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
	Shards        []FileEntry       `json:"shards"`
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

// A SplitRows counts the rows of a split. Plan is there where the split was made by another recipe, version or options than the
// manifest's own, by a run that added it or was added to.
type SplitRows struct {
	Name    string           `json:"name"`
	RowsIn  int64            `json:"rows_in"`
	Rows    int64            `json:"rows"`
	Dropped map[string]int64 `json:"dropped"`
	Plan    *Plan            `json:"plan,omitempty"`
}

// A Plan is what a split was made by.
type Plan struct {
	Version string            `json:"version"`
	Recipe  string            `json:"recipe,omitempty"`
	Options map[string]string `json:"options"`
}

func (p Plan) equal(o Plan) bool {
	return p.Version == o.Version && p.Recipe == o.Recipe && maps.Equal(p.Options, o.Options)
}

// A FileEntry is the line of a manifest for a file of the data set.
type FileEntry struct {
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
func DatasetHash(shards []FileEntry) string {
	lines := make([]string, len(shards))
	byName := slices.Clone(shards)
	slices.SortFunc(byName, func(a, b FileEntry) int { return strings.Compare(a.Name, b.Name) })
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

// write writes the manifest of dir.
func (m *Manifest) write(dir string) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, ManifestName), b)
}

var errForeign = errors.New("not a manifest of rlprep")

// ReadManifest reads a manifest.json.
func ReadManifest(name string) (*Manifest, error) {
	b, err := infile.ReadFile(name)
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

// own is the plan of the splits that have none of their own.
func (m *Manifest) own() Plan { return Plan{m.Version, m.Recipe, m.Options} }

// plan is what a split was made by.
func (m *Manifest) plan(split string) Plan {
	for _, s := range m.Splits {
		if s.Name == split && s.Plan != nil {
			return *s.Plan
		}
	}
	return m.own()
}

// has reports whether the data set has a split.
func (m *Manifest) has(split string) bool {
	return slices.ContainsFunc(m.Splits, func(s SplitRows) bool { return s.Name == split })
}

// inputs are the files that a split was made from.
func (m *Manifest) inputs(split string) []InputFile {
	var out []InputFile
	for _, f := range m.Inputs {
		if f.Split == split {
			out = append(out, f)
		}
	}
	return out
}

// wanted are the splits that a manifest of what is to be made names: those of its inputs.
func (m *Manifest) wanted() []string {
	var out []string
	for _, f := range m.Inputs {
		if !slices.Contains(out, f.Split) {
			out = append(out, f.Split)
		}
	}
	return out
}

// SamePlan reports whether every split that o is to make is in m already, made by the same tool, recipe, options and inputs.
func (m *Manifest) SamePlan(o *Manifest) bool {
	return !slices.ContainsFunc(o.wanted(), func(split string) bool { return !m.has(split) || m.differs(o, split) != "" })
}

// Clash names the first split of m that o would make otherwise, and in what it differs; "" for none.
func (m *Manifest) Clash(o *Manifest) (split, difference string) {
	for _, split := range o.wanted() {
		if m.has(split) {
			if d := m.differs(o, split); d != "" {
				return split, d
			}
		}
	}
	return "", ""
}

// edited names a file of a split that was edited since, and how; "" where none was.
func (m *Manifest) edited(split string) string {
	for _, s := range m.Shards {
		if s.Split == split && len(s.Edits) > 0 {
			return s.Name + ": " + strings.Join(s.Edits, "; ")
		}
	}
	return ""
}

// differs says in what the plan of o for a split differs from that of m; "" where it does not.
func (m *Manifest) differs(o *Manifest, split string) string {
	a, b := m.plan(split), o.plan(split)
	switch {
	case m.edited(split) != "":
		return "edited since, " + m.edited(split)
	case a.Recipe != b.Recipe:
		return fmt.Sprintf("recipe %s, not %s", a.Recipe, b.Recipe)
	case !maps.Equal(a.Options, b.Options):
		all := maps.Clone(a.Options)
		maps.Copy(all, b.Options)
		for _, k := range slices.Sorted(maps.Keys(all)) {
			x, given := a.Options[k]
			if y, asked := b.Options[k]; x != y || given != asked {
				if k == "pipeline" {
					return "another version of the pipeline file"
				}
				return "another --" + k
			}
		}
	case !sameInputs(m.inputs(split), o.inputs(split)):
		return "other input files"
	case a.Version != b.Version:
		return fmt.Sprintf("made by version %s", a.Version)
	}
	return ""
}

// Merge returns m with the splits of o in place of its own of these names, and beside its others.
func (m *Manifest) Merge(o *Manifest) *Manifest {
	out := *o
	out.Inputs, out.Splits, out.Shards = slices.Clone(o.Inputs), slices.Clone(o.Splits), slices.Clone(o.Shards)
	for _, f := range m.Inputs {
		if !o.has(f.Split) {
			out.Inputs = append(out.Inputs, f)
		}
	}
	for _, s := range m.Splits {
		if o.has(s.Name) {
			continue
		}
		if p := m.plan(s.Name); p.equal(o.own()) {
			s.Plan = nil
		} else {
			s.Plan = &p
		}
		out.Splits = append(out.Splits, s)
	}
	for _, f := range m.Shards {
		if !o.has(f.Split) {
			out.Shards = append(out.Shards, f)
		}
	}
	// The order is that of a run that makes all splits at once.
	slices.SortStableFunc(out.Inputs, func(a, b InputFile) int { return bySplit(a.Split, b.Split) })
	slices.SortStableFunc(out.Splits, func(a, b SplitRows) int { return bySplit(a.Name, b.Name) })
	slices.SortStableFunc(out.Shards, func(a, b FileEntry) int { return bySplit(a.Split, b.Split) })
	out.DatasetSHA256 = DatasetHash(out.Shards)
	return &out
}

// bySplit orders splits as sources do: train, validation, test, then others by name.
func bySplit(a, b string) int {
	rank := func(s string) int {
		if i := slices.Index([]string{"train", "validation", "test"}, s); i >= 0 {
			return i
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

func sameInputs(a, b []InputFile) bool {
	return slices.EqualFunc(a, b, func(x, y InputFile) bool {
		y.Source = x.Source
		return x == y
	})
}
