package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// limits bound the list of a dataset's files: no dataset that can be trained on comes near them, and a list without end meets them soon.
type limits struct {
	entries int           // files and folders
	bytes   int64         // of all pages
	pages   int           // the Hub puts 1,000 entries into a page
	time    time.Duration // for all pages
}

var listLimits = limits{entries: 500_000, bytes: 256 << 20, pages: 2_000, time: 30 * time.Minute}

// A listed is an element of the Hub's answers.
type listed struct {
	Type string `json:"type"`
	Path string `json:"path"`
	OID  string `json:"oid"`
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"lfs"`
	Xet string `json:"xetHash"`
}

// entry checks what the Hub says, of which file names will be made.
func (l *listed) entry(a Address) (entry, error) {
	e := entry{Size: l.Size, BlobID: l.OID, Xet: l.Xet}
	if l.LFS != nil {
		e.SHA256, e.LFSSize = strings.TrimPrefix(l.LFS.OID, "sha256:"), l.LFS.Size
	}
	err := safePath(l.Path)
	switch {
	case err != nil:
	case e.Size < 0, e.LFSSize < 0:
		err = fmt.Errorf("%s has a size of %d bytes", l.Path, min(e.Size, e.LFSSize))
	case !blobHash.MatchString(e.BlobID), l.LFS != nil && (!blobHash.MatchString(e.SHA256) || len(e.SHA256) != 64):
		err = fmt.Errorf("%s has no hash (%q)", l.Path, cut(e.BlobID+" "+e.SHA256))
	}
	if err != nil {
		return e, &Error{Damaged, fmt.Sprintf("%s: the list of its files cannot be trusted: %v", a, err), nil}
	}
	return e, nil
}

// wholePages is how many pages of the list of a whole dataset are taken to find what is in a folder: such a list is kept, and
// answers later runs with no network. Larger datasets are asked for the folder alone.
const wholePages = 10

// ask asks the Hub for the files at and below path, and says whether the answer has all files of the dataset.
func (s *Snapshot) ask(ctx context.Context, path string) (found map[string]entry, all bool, err error) {
	at := s.Address
	at.Path = path
	if path != "" {
		paths, err := json.Marshal(map[string]any{"paths": []string{path}, "expand": false})
		if err != nil {
			return nil, false, err
		}
		l := &list{s: s, at: at, found: map[string]entry{}, only: path}
		if _, _, err := s.c.get(ctx, question{about: at, url: s.c.api(at, "paths-info", s.Commit), body: paths, most: maxInfo, read: l.read}); err != nil {
			return nil, false, err
		}
		if !l.folder {
			return l.found, false, nil
		}
		if found, err = s.askTree(ctx, at, "", wholePages); found != nil || err != nil {
			return found, true, err
		}
	}
	found, err = s.askTree(ctx, at, path, 0)
	return found, path == "", err
}

// A list is what is known of a dataset's files, page by page.
type list struct {
	s      *Snapshot
	at     Address
	only   string // take this path alone; "": all
	found  map[string]entry
	folder bool // only is no file

	entries, pages int // read
	bytes          int64
}

// read reads a page, entry by entry.
func (l *list) read(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(err, fmt.Errorf("%v, expected a list", t))
	}
	for d.More() {
		var e listed
		if err := d.Decode(&e); err != nil {
			return err
		}
		if l.entries++; l.entries > l.s.c.list.entries {
			return l.tooLong("has more than %d entries", l.s.c.list.entries)
		}
		if err := l.add(&e); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// add keeps a file.
func (l *list) add(e *listed) error {
	if l.only != "" && e.Path != l.only {
		return nil
	}
	if e.Type != "file" {
		l.folder = true
		return nil
	}
	kept, err := e.entry(l.s.Address)
	if err == nil {
		l.found[e.Path] = kept
	}
	return err
}

// tooLong is the error of a list that meets a limit.
func (l *list) tooLong(format string, args ...any) error {
	help := ""
	if l.at.Path == "" {
		help = fmt.Sprintf(": name a folder or a file of it (%s/FOLDER)", l.at)
	}
	return &Error{Network, fmt.Sprintf("%s: the list of its files %s%s", l.at, fmt.Sprintf(format, args...), help), nil}
}

// askTree asks for all files below a folder; nil where they take more pages than most (0: any number).
func (s *Snapshot) askTree(ctx context.Context, at Address, folder string, most int) (map[string]entry, error) {
	next := s.c.api(at, "tree", s.Commit)
	if folder != "" {
		next += "/" + escapePath(folder)
	}
	next += "?recursive=true&expand=false"
	most = cmp.Or(most, s.c.list.pages+1)
	l := &list{s: s, at: at, found: map[string]entry{}}
	start := time.Now()
	for seen := map[string]bool{}; next != ""; {
		switch {
		case seen[next]:
			return nil, l.tooLong("never ends: page %s comes twice", cut(next))
		case l.pages >= s.c.list.pages:
			return nil, l.tooLong("has more than %d pages", s.c.list.pages)
		case l.pages >= most:
			return nil, nil
		case time.Since(start) > s.c.list.time:
			return nil, l.tooLong("takes more than %v", s.c.list.time)
		}
		seen[next] = true
		l.pages++
		before := l.entries
		n, more, err := s.c.get(ctx, question{about: at, url: next, most: s.c.list.bytes - l.bytes, read: func(d *json.Decoder) error {
			l.entries = before // of an attempt that failed
			return l.read(d)
		}})
		if l.bytes += n; l.bytes > s.c.list.bytes {
			return nil, l.tooLong("has more than %d MiB", s.c.list.bytes>>20)
		}
		if err != nil {
			return nil, err
		}
		next = more
	}
	return l.found, nil
}

func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
