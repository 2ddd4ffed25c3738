package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Snapshot is a dataset at one commit.
type Snapshot struct {
	Address Address // Path is ""
	Commit  string  // 40 hexadecimal digits

	c       *Client
	mu      sync.Mutex
	tree    map[string]entry // all files; nil: not listed
	kept    bool             // the list is in the cache
	written bool             // the ref is in the cache
}

// An entry is a file as the Hub lists it, in the form of the cache's list of a commit.
type entry struct {
	Size    int64  `json:"size"`
	BlobID  string `json:"blob_id"`
	SHA256  string `json:"lfs_sha256,omitempty"`
	LFSSize int64  `json:"lfs_size,omitempty"`
	Xet     string `json:"xet_hash,omitempty"`
}

// A File is a file of a Snapshot.
type File struct {
	Snapshot *Snapshot
	Path     string
	Size     int64  // in bytes; -1: not known, the cache has it and no list
	ETag     string // the name of its blob: its SHA-256 or its git SHA-1, hexadecimal; "": not known
}

// Address returns the file's address at its commit, whatever revision was named.
func (f *File) Address() string {
	return Address{Repo: f.Snapshot.Address.Repo, Revision: f.Snapshot.Commit, Path: f.Path}.String()
}

// SHA256 returns the SHA-256 that the file must have; "" where the Hub does not list it.
func (f *File) SHA256() string {
	if len(f.ETag) == 64 {
		return f.ETag
	}
	return ""
}

func (s *Snapshot) file(path string, e entry) *File {
	f := &File{Snapshot: s, Path: path, Size: e.Size, ETag: e.BlobID}
	if e.SHA256 != "" {
		f.ETag, f.Size = e.SHA256, e.LFSSize
	}
	return f
}

// Snapshot returns the dataset of a at the commit that its revision stands for now. It is looked up once for a Client, so a
// run never sees two. Where the Hub cannot be reached, it is the commit that the cache last saw.
func (c *Client) Snapshot(ctx context.Context, a Address) (*Snapshot, error) {
	a.Path = ""
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.snapshots[a.String()]; s != nil {
		return s, nil
	}
	s := &Snapshot{Address: a, c: c}
	var err error
	if s.Commit, err = c.commit(ctx, a); err != nil {
		return nil, err
	}
	c.snapshots[a.String()] = s
	return s, nil
}

// commit looks up what a revision stands for.
func (c *Client) commit(ctx context.Context, a Address) (string, error) {
	if commitHash.MatchString(a.Revision) {
		return a.Revision, nil
	}
	if c.Offline {
		if commit := c.readRef(a); commit != "" {
			return commit, nil
		}
		return "", c.notCached(a, "revision "+a.revision())
	}
	var info struct {
		SHA string `json:"sha"`
	}
	_, err := c.get(ctx, a, c.api(a, "revision", url.PathEscape(a.revision())), nil, &info)
	if unreachable(err) {
		if commit := c.readRef(a); commit != "" {
			c.notice("%v; taking commit %.12s from the cache", err, commit)
			return commit, nil
		}
	}
	if err != nil {
		return "", err
	}
	if !commitHash.MatchString(info.SHA) {
		return "", &Error{Network, fmt.Sprintf("%s: %s names no commit (%q): is HF_ENDPOINT a Hub?", a, c.host(), cut(info.SHA)), nil}
	}
	return info.SHA, nil
}

// unreachable reports whether err says that the Hub cannot be reached.
func unreachable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Network && errors.As(err, new(*transient))
}

func (c *Client) notCached(a Address, what string) error {
	return &Error{Refused, fmt.Sprintf("%s: %s is not in the cache (%s), and HF_HUB_OFFLINE is set", a, what, c.Cache), nil}
}

// api is the URL of a part of the Hub's API for a dataset.
func (c *Client) api(a Address, parts ...string) string {
	return c.Endpoint + "/api/datasets/" + a.Repo + "/" + strings.Join(parts, "/")
}

// get asks the API and decodes its answer, JSON, into out. body, where there is one, is posted. It returns the address of
// the next page, "" where there is none.
func (c *Client) get(ctx context.Context, a Address, address string, body []byte, out any) (next string, err error) {
	method, header := http.MethodGet, http.Header{}
	if body != nil {
		method = http.MethodPost
		header.Set("Content-Type", "application/json")
	}
	err = c.retry(ctx, a.String(), nil, func() error {
		res, err := c.send(ctx, method, address, header, body)
		if err != nil {
			return c.explain(a, err)
		}
		defer res.close()
		b, err := io.ReadAll(io.LimitReader(res.body, maxAnswer+1))
		if err != nil {
			return c.broken(ctx, res.Request.URL, err)
		}
		if len(b) > maxAnswer {
			return &Error{Network, fmt.Sprintf("%s: %s answers with more than %d bytes", a, c.host(), maxAnswer), nil}
		}
		if err := json.Unmarshal(b, out); err != nil {
			return &transient{err: fmt.Errorf("%s answers what is no JSON: %w", c.host(), err)}
		}
		next, err = nextPage(res)
		return err
	})
	return next, err
}

var linkNext = regexp.MustCompile(`<([^>]*)>\s*;[^,]*\brel="?next"?`)

// nextPage is the address in the Link header of a page, on the same host.
func nextPage(res *answer) (string, error) {
	m := linkNext.FindStringSubmatch(res.Header.Get("Link"))
	if m == nil {
		return "", nil
	}
	u, err := res.Request.URL.Parse(m[1])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", &Error{Network, fmt.Sprintf("%s: its next page is at %q, which is no address", res.Request.URL.Host, cut(m[1])), nil}
	}
	if u.Host != res.Request.URL.Host { // a mirror that hands on the Hub's own links
		u.Scheme, u.Host = res.Request.URL.Scheme, res.Request.URL.Host
	}
	return u.String(), nil
}

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

// List returns the files at and below path, sorted by path: the file itself, or those in a folder, or all for "". A path that
// the dataset does not have gives none.
func (s *Snapshot) List(ctx context.Context, path string) ([]*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		s.tree, s.kept = s.c.readTree(s)
	}
	if s.tree != nil {
		return s.below(s.tree, path), nil
	}
	if s.c.Offline {
		return s.inCache(path)
	}
	if s.Address.Revision == s.Commit && path != "" {
		if f := s.cachedFile(path); f != nil {
			return []*File{f}, nil // what is at a commit never changes
		}
	}
	found, all, err := s.ask(ctx, path)
	if unreachable(err) {
		if cached, cerr := s.inCache(path); cerr == nil {
			s.c.notice("%v; taking the files that the cache has", err)
			return cached, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if all {
		s.tree = found
	}
	return s.below(found, path), nil
}

// below returns the files of tree at and below path.
func (s *Snapshot) below(tree map[string]entry, path string) []*File {
	var out []*File
	for p, e := range tree {
		if path == "" || p == path || strings.HasPrefix(p, path+"/") {
			out = append(out, s.file(p, e))
		}
	}
	slices.SortFunc(out, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// wholePages is how many pages of the list of a whole dataset are taken to find what is in a folder: such a list is kept, and
// answers later runs with no network. Larger datasets are asked for the folder alone.
const wholePages = 10

// ask asks the Hub for the files at and below path, and says whether the answer has all files of the dataset.
func (s *Snapshot) ask(ctx context.Context, path string) (found map[string]entry, all bool, err error) {
	at := s.Address
	at.Path = path
	if path != "" {
		question, err := json.Marshal(map[string]any{"paths": []string{path}, "expand": false})
		if err != nil {
			return nil, false, err
		}
		var page []listed
		if _, err := s.c.get(ctx, at, s.c.api(at, "paths-info", s.Commit), question, &page); err != nil {
			return nil, false, err
		}
		page = slices.DeleteFunc(page, func(l listed) bool { return l.Path != path })
		if len(page) == 0 || page[0].Type == "file" {
			found = map[string]entry{}
			return found, false, s.take(found, page)
		}
		if found, err = s.askTree(ctx, at, "", wholePages); found != nil || err != nil {
			return found, true, err
		}
	}
	found, err = s.askTree(ctx, at, path, 0)
	return found, path == "", err
}

// take adds the files of a page to found.
func (s *Snapshot) take(found map[string]entry, page []listed) error {
	for _, l := range page {
		if l.Type != "file" {
			continue
		}
		e, err := l.entry(s.Address)
		if err != nil {
			return err
		}
		found[l.Path] = e
	}
	return nil
}

// askTree asks for all files below a folder; nil where they take more pages than most (0: any number).
func (s *Snapshot) askTree(ctx context.Context, at Address, folder string, most int) (map[string]entry, error) {
	found := map[string]entry{}
	next := s.c.api(at, "tree", s.Commit)
	if folder != "" {
		next += "/" + escapePath(folder)
	}
	next += "?recursive=true&expand=false"
	for seen := map[string]bool{}; next != ""; {
		if seen[next] {
			return nil, &Error{Network, fmt.Sprintf("%s: the list of its files never ends: page %s comes twice", at, cut(next)), nil}
		}
		if seen[next] = true; most > 0 && len(seen) > most {
			return nil, nil
		}
		var page []listed
		var err error
		if next, err = s.c.get(ctx, at, next, nil, &page); err != nil {
			return nil, err
		}
		if err := s.take(found, page); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

var numbered = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})([^/]*)$`)

// missing names a shard that a list which may have gaps lacks: of train-00000-of-00002 there must be two. "": none.
func missing(files []*File) string {
	have := map[string]bool{}
	for _, f := range files {
		have[f.Path] = true
	}
	for _, f := range files {
		m := numbered.FindStringSubmatch(f.Path)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[3])
		if err != nil {
			continue
		}
		for i := range n {
			if p := fmt.Sprintf("%s-%05d-of-%s%s", m[1], i, m[3], m[4]); !have[p] {
				return p
			}
		}
	}
	return ""
}
