package hub

import (
	"cmp"
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

	c         *Client
	mu        sync.Mutex
	tree      map[string]entry // all files; nil: not listed
	treeSaved bool             // the list is in the cache
	refSaved  bool             // the ref is in the cache
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
	var sha string
	_, _, err := c.get(ctx, question{about: a, url: c.api(a, "revision", url.PathEscape(a.revision())), most: maxInfo, read: readSHA(&sha)})
	if unreachable(err) {
		if commit := c.readRef(a); commit != "" {
			c.notice("%v; taking commit %.12s from the cache", err, commit)
			return commit, nil
		}
	}
	if err != nil {
		return "", err
	}
	if !commitHash.MatchString(sha) {
		return "", &Error{Network, fmt.Sprintf("%s: %s names no commit (%q): is HF_ENDPOINT a Hub?", a, c.host(), cut(sha)), nil}
	}
	return sha, nil
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

// A question is one request to the API.
type question struct {
	about Address
	url   string
	body  []byte // posted; nil: the request is a GET
	most  int64  // bytes that the answer may have
	read  func(*json.Decoder) error
}

// get asks the API and has its answer, JSON, read as it comes. It returns the size of what was read, and the address of the next page, "" where
// there is none.
func (c *Client) get(ctx context.Context, q question) (n int64, next string, err error) {
	err = c.retry(ctx, q.about.String(), nil, func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, c.Answer, errLong)
		defer cancel()
		n, next, err = c.answer(ctx, q)
		return err
	})
	return n, next, err
}

func (c *Client) answer(ctx context.Context, q question) (n int64, next string, err error) {
	method, header := http.MethodGet, http.Header{}
	if q.body != nil {
		method = http.MethodPost
		header.Set("Content-Type", "application/json")
	}
	res, err := c.send(ctx, method, q.url, header, q.body)
	if err != nil {
		return 0, "", c.explain(q.about, err)
	}
	defer res.close()
	m := &metered{r: res.body, most: q.most}
	m.json = json.NewDecoder(m)
	err = q.read(m.json)
	var final *Error
	switch {
	case m.n > q.most:
		return m.n, "", &Error{Network, fmt.Sprintf("%s: %s answers with more than %d bytes", q.about, c.host(), q.most), nil}
	case m.err != nil && m.err != io.EOF:
		return m.n, "", c.broken(ctx, res.Request.URL, m.err)
	case errors.As(err, &final):
		return m.n, "", err
	case err != nil:
		return m.n, "", odd("%s answers with text that is not the expected JSON: %w", c.host(), err)
	}
	_, _ = io.CopyN(io.Discard, m, 256<<10) // so that the connection can be used again
	next, err = nextPage(res)
	return m.n, next, err
}

// maxValue is the largest value in an answer that is read as a whole.
const maxValue = 1 << 20

// A metered reader counts bytes and keeps the error of the reader below. It fails beyond its limit, and where its decoder is within a value
// that is larger than maxValue.
type metered struct {
	r       io.Reader
	n, most int64
	err     error
	json    *json.Decoder
}

// Read implements io.Reader.
func (m *metered) Read(b []byte) (int, error) {
	if m.n > m.most {
		return 0, io.ErrUnexpectedEOF
	}
	if m.n-m.json.InputOffset() > maxValue {
		return 0, fmt.Errorf("a value of more than %d bytes", maxValue)
	}
	n, err := m.r.Read(b[:min(len(b), 64<<10)]) // so that little is read ahead of the value
	m.n += int64(n)
	if err != nil {
		m.err = err
	}
	return n, err
}

// maxInfo is the largest description of a dataset; it names all files.
const maxInfo = 64 << 20

// readSHA reads the commit out of a description of a dataset, and no further.
func readSHA(to *string) func(*json.Decoder) error {
	return func(d *json.Decoder) error {
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return cmp.Or(err, fmt.Errorf("%v, expected an object", t))
		}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if key == "sha" {
				return d.Decode(to)
			}
			if err := skipValue(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// skipValue reads a value and keeps nothing of it.
func skipValue(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > 100 {
				return errors.New("values are nested more than 100 deep")
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
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

// List returns the files at and below path, sorted by path: the file itself, or those in a folder, or all for "". A path that
// the dataset does not have gives none.
func (s *Snapshot) List(ctx context.Context, path string) ([]*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		s.tree, s.treeSaved = s.c.readTree(s)
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
