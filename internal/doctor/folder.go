package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rlprep/rlprep/internal/amount"
)

// tryFolder tries what the file system of dir can do, in a folder that it makes there and removes.
func tryFolder(dir string) Folder {
	f := Folder{Path: dir, Free: -1, Abilities: []Ability{}}
	if abs, err := filepath.Abs(dir); err == nil {
		f.Path = abs
	}
	f.System, f.Free = fileSystem(dir)
	home, err := os.MkdirTemp(dir, ".rlprep-doctor-*")
	if err != nil {
		f.Abilities = append(f.Abilities, Ability{Name: "write", Why: reasonOf(err)})
		return f
	}
	defer os.RemoveAll(home)
	for i, t := range append(trials, systemTrials...) {
		own := filepath.Join(home, fmt.Sprint(i))
		err := os.Mkdir(own, 0o700)
		if err == nil {
			err = t.try(own)
		}
		a := Ability{Name: t.name, Works: err == nil}
		if err != nil {
			a.Why = reasonOf(err)
		}
		f.Abilities = append(f.Abilities, a)
	}
	return f
}

// A Folder says what the file system of a folder can do.
type Folder struct {
	Path      string    `json:"path"`
	System    string    `json:"file_system,omitempty"`
	Free      int64     `json:"free"` // bytes; -1: not known
	Abilities []Ability `json:"abilities"`
}

// An Ability is one thing that a file system can do or not.
type Ability struct {
	Name  string `json:"name"`
	Works bool   `json:"works"`
	Why   string `json:"why,omitempty"` // where it does not
}

func (f *Folder) print(p page) {
	words := []string{f.Path}
	if f.System != "" {
		words = append(words, f.System)
	}
	if f.Free >= 0 {
		words = append(words, amount.Bytes(f.Free)+" free")
	}
	p.line("folder", words...)
	var yes, no []string
	for _, a := range f.Abilities {
		if a.Works {
			yes = append(yes, a.Name)
		} else {
			no = append(no, a.Name+" ("+a.Why+")")
		}
	}
	if len(yes) > 0 {
		yes[0] = "can: " + yes[0]
		p.line("", yes...)
	}
	if len(no) > 0 {
		no[0] = "cannot: " + no[0]
		p.line("", no...)
	}
}
