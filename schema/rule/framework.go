package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// A Framework is a program that loads the data and trains on it: its versions, the kinds of rows that it takes, how its launches
// are read, and its rules. A framework is a folder of schema/ that registers it with Register and its rules with Add:
//
//	var framework = rule.Register(rule.Framework{Name: "verl", …})
//
//	var _ = framework.Add(rule.Rule{ID: "RL101", …})
//
// What every framework has in common, because they all load data with the same library, is a Framework without Versions
// (schema/hf): it is no target, and its rules apply to every target.
type Framework struct {
	Name     string                         // as users write it before the '@': "verl"
	Versions []Version                      // that are known, oldest first; the last one is meant where users name none
	Default  bool                           // data is checked against its last version where users name no target
	Kinds    []Rows                         // of rows that it takes; the first is meant where the columns do not show it
	Launch   *Profile                       // how its launches are read; nil: they are not
	Unread   func(Target, schema.Path) bool // whether a version reads a field of the rows nowhere; nil: it may read all
	Python   string                         // its package, which 'rlprep doctor' looks for; "": none
}

// A Version is one version of a framework.
type Version struct {
	Name     string   // "0.9"
	Trainers []string // that it has, the default first: "v1", "v0"; none: it has one, without a name
}

// A Kind names what rows are for: a rule looks only at rows of its kind. Frameworks say which kinds they take (Framework.Kinds); these
// are the names that several of them share. Any, of a rule: it looks at rows of every kind.
type Kind string

// The kinds that several frameworks have.
const (
	Any        Kind = ""
	RL         Kind = "rl"         // a prompt, and what scores the answers
	SFT        Kind = "sft"        // messages to be imitated
	Preference Kind = "preference" // prompt, chosen, rejected
)

// String returns the name, "any" for Any.
func (k Kind) String() string { return cmp.Or(string(k), "any") }

// Rows are one kind of rows that a framework takes.
type Rows struct {
	Kind Kind
	Is   func(*schema.Schema) bool // whether columns are of this kind; nil: they do not show it
}

var frameworks = map[string]*Framework{}

// Register registers a framework. It panics on one without a name or with a name that is taken, and on a second default.
func Register(f Framework) *Framework {
	if f.Name == "" || frameworks[f.Name] != nil {
		panic("rule: framework's name is missing or taken: " + f.Name)
	}
	for _, other := range frameworks {
		if f.Default && other.Default {
			panic("rule: two frameworks are the default: " + f.Name + ", " + other.Name)
		}
	}
	frameworks[f.Name] = &f
	return &f
}

// Frameworks returns every framework that can be a target: the default first, then by name.
func Frameworks() (out []*Framework) {
	for _, f := range frameworks {
		if len(f.Versions) > 0 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *Framework) int {
		switch {
		case a.Default:
			return -1
		case b.Default:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// Add registers a rule of the framework; it is called in the variable declaration of the rule's file. It panics on a rule without
// an id or with one that is taken.
func (f *Framework) Add(r Rule) *Rule {
	if r.ID == "" || registry[r.ID] != nil {
		panic("rule: id missing or taken: " + r.ID)
	}
	r.Framework = f
	registry[r.ID] = &r
	return &r
}

// target returns the framework's version of that name with its default trainer; the zero Target where it has no such version.
func (f *Framework) target(version string) Target {
	for _, v := range f.Versions {
		if v.Name == version {
			return Target{Framework: f.Name, Version: v.Name, Trainer: v.trainer()}
		}
	}
	return Target{}
}

func (v Version) trainer() string {
	if len(v.Trainers) == 0 {
		return ""
	}
	return v.Trainers[0]
}

// Latest returns the last version of the framework; the zero Target of one that is no target.
func (f *Framework) Latest() Target {
	if len(f.Versions) == 0 {
		return Target{}
	}
	return f.target(f.Versions[len(f.Versions)-1].Name)
}

// Targets returns every target of the framework: its versions with their default trainers, oldest first, then those with another one.
func (f *Framework) Targets() (out []Target) {
	for _, v := range f.Versions {
		out = append(out, f.target(v.Name))
	}
	for _, v := range f.Versions {
		for i := 1; i < len(v.Trainers); i++ {
			out = append(out, Target{f.Name, v.Name, v.Trainers[i]})
		}
	}
	return out
}

// covers reports whether the framework's rules apply to a target.
func (f *Framework) covers(t Target) bool {
	return f == nil || len(f.Versions) == 0 || f.Name == t.Framework
}

// names lists its targets: "verl@0.5 to verl@0.9, verl@0.9-v0".
func (f *Framework) names() string {
	s := f.Name + "@" + f.Versions[0].Name
	if n := len(f.Versions); n > 1 {
		s += " to " + f.Latest().String()
	}
	for _, t := range f.Targets()[len(f.Versions):] {
		s += ", " + t.String()
	}
	return s
}

// trainers says which trainers there are: "v0; v1 from verl@0.9 on".
func (f *Framework) trainers() string {
	var names, out []string
	for i, v := range f.Versions {
		for _, name := range v.Trainers {
			if slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			if i > 0 {
				name += " from " + f.Name + "@" + v.Name + " on"
			}
			out = append(out, name)
		}
	}
	return strings.Join(out, "; ")
}

// A Target is a framework, its version and, where that has several, its trainer: "verl@0.9", "verl@0.9-v0" for the older trainer.
type Target struct {
	Framework string
	Version   string
	Trainer   string // "v0", "v1"; "" of a version with one trainer
}

// DefaultTarget is what data is checked against where nothing else is said: the last version of the default framework. It is the
// zero Target where there is none.
func DefaultTarget() Target {
	for _, f := range Frameworks() {
		if f.Default {
			return f.Latest()
		}
	}
	return Target{}
}

// TargetNames lists what ParseTarget takes: "verl@0.5 to verl@0.9, verl@0.9-v0".
func TargetNames() string {
	var all []string
	for _, f := range Frameworks() {
		all = append(all, f.names())
	}
	return strings.Join(all, ", ")
}

// ParseTarget reads "verl@0.9", "verl@0.9-v0" or "verl", which is its last version. A patch release counts as its minor version:
// "verl@0.9.1" is "verl@0.9".
func ParseTarget(s string) (Target, error) {
	name, version, named := strings.Cut(s, "@")
	version, trainer, _ := strings.Cut(version, "-")
	f := frameworks[name]
	if f == nil && !named && name != "" && '0' <= name[0] && name[0] <= '9' {
		if t, err := ParseTarget(DefaultTarget().Framework + "@" + s); err == nil {
			return Target{}, fmt.Errorf("unknown target %q; did you mean %s?", s, t)
		}
	}
	if f == nil || len(f.Versions) == 0 {
		return Target{}, fmt.Errorf("unknown target %q (%s)", s, TargetNames())
	}
	i := len(f.Versions) - 1
	if named {
		i = slices.IndexFunc(f.Versions, func(v Version) bool { return v.includes(version) })
	}
	if i < 0 {
		return Target{}, fmt.Errorf("unknown target %q (%s)", s, TargetNames())
	}
	t := f.target(f.Versions[i].Name)
	if trainer != "" {
		if !slices.Contains(f.Versions[i].Trainers, trainer) {
			return Target{}, fmt.Errorf("unknown trainer in target %q (%s)", s, cmp.Or(f.trainers(), f.Name+" has one trainer, without a name"))
		}
		t.Trainer = trainer
	}
	return t, nil
}

// includes reports whether a release belongs to the version: "0.9.1" to "0.9".
func (v Version) includes(release string) bool {
	rest, ok := strings.CutPrefix(release, v.Name)
	return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
}

// String returns what ParseTarget reads.
func (t Target) String() string {
	s := t.Framework + "@" + t.Version
	if f := frameworks[t.Framework]; f != nil && f.target(t.Version).Trainer != t.Trainer {
		s += "-" + t.Trainer
	}
	return s
}

// Index returns the place of the target's version among those of its framework; 0 where it is not known.
func (t Target) Index() int {
	if f := frameworks[t.Framework]; f != nil {
		return max(slices.IndexFunc(f.Versions, func(v Version) bool { return v.Name == t.Version }), 0)
	}
	return 0
}

// Within reports whether the target's version lies in versions, written as in Severity.Versions. The zero Target lies in "" alone.
func (t Target) Within(versions string) bool {
	for _, c := range strings.Fields(versions) {
		num := strings.TrimLeft(c, "<>=")
		d := compareVersions(t.Version, num)
		ok := t.Version != ""
		switch strings.TrimSuffix(c, num) {
		case "", "=":
			ok = ok && d == 0
		case ">=":
			ok = ok && d >= 0
		case "<=":
			ok = ok && d <= 0
		case "<":
			ok = ok && d < 0
		case ">":
			ok = ok && d > 0
		default:
			panic("rule: version constraint " + c)
		}
		if !ok {
			return false
		}
	}
	return true
}

// compareVersions compares "0.9" and "0.10", number by number.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errM := strconv.Atoi(x)
		n, errN := strconv.Atoi(y)
		if errM != nil || errN != nil {
			return strings.Compare(x, y)
		}
		return m - n
	})
}

// Unread reports whether the target's framework reads a field of the rows nowhere.
func (t Target) Unread(path schema.Path) bool {
	f := frameworks[t.Framework]
	return f != nil && f.Unread != nil && f.Unread(t, path)
}

// Profile returns how launches of the target's framework are read; nil where they are not.
func (t Target) Profile() *Profile {
	if f := frameworks[t.Framework]; f != nil {
		return f.Launch
	}
	return nil
}

// Kinds returns the names of the kinds of rows that the target's framework takes.
func (t Target) Kinds() (names []string) {
	if f := frameworks[t.Framework]; f != nil {
		for _, r := range f.Kinds {
			names = append(names, string(r.Kind))
		}
	}
	return names
}

// KindOf returns the kind of rows with such columns: the first that they show, else the framework's first.
func (t Target) KindOf(s *schema.Schema) Kind {
	f := frameworks[t.Framework]
	if f == nil || len(f.Kinds) == 0 {
		return Any
	}
	for _, r := range f.Kinds {
		if r.Is != nil && r.Is(s) {
			return r.Kind
		}
	}
	return f.Kinds[0].Kind
}

// KindOfLaunch returns the kind of rows that the program of a launch takes.
func (t Target) KindOfLaunch(l Launch) Kind {
	switch f := frameworks[t.Framework]; {
	case f == nil || len(f.Kinds) == 0:
		return Any
	case f.Launch == nil || f.Launch.Kind == nil:
		return f.Kinds[0].Kind
	default:
		return f.Launch.Kind(t, l)
	}
}

// CheckKind returns an error where the target's framework does not take rows of the kind. It takes Any.
func (t Target) CheckKind(k Kind) error {
	if k == Any || slices.Contains(t.Kinds(), string(k)) {
		return nil
	}
	return fmt.Errorf("%s takes no %s rows (%s)", t, k, alternatives(t.Kinds()))
}

// KindNames returns the names of the kinds of rows that some framework takes, those of the default framework first.
func KindNames() (names []string) {
	for _, f := range Frameworks() {
		for _, r := range f.Kinds {
			if !slices.Contains(names, string(r.Kind)) {
				names = append(names, string(r.Kind))
			}
		}
	}
	return names
}

// ParseKind reads the name of a kind of rows that some framework takes.
func ParseKind(s string) (Kind, error) {
	if names := KindNames(); !slices.Contains(names, s) {
		return Any, fmt.Errorf("%s: expected %s", s, alternatives(names))
	}
	return Kind(s), nil
}

// alternatives joins names: "rl, sft or preference".
func alternatives(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
