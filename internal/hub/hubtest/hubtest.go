// Package hubtest serves datasets on the loopback interface as a Hugging Face Hub does, and misbehaves where a test asks for
// it. That its good manners are a Hub's is held by the real huggingface_hub and datasets clients (testdata/conformance).
package hubtest

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Server is a Hub and, at another address, the store where it keeps large files.
type Server struct {
	URL      string // of the Hub: what HF_ENDPOINT is
	StoreURL string // of the store; the token must never get there

	PageSize int // files in a page of a list; default 1000

	hub, store *httptest.Server

	mu       sync.Mutex
	repos    map[string]*repo
	fault    func(*http.Request) *Fault
	requests []string // "GET /path" in order
	leaks    []string // requests with a token, elsewhere than at the Hub
	sent     int64    // bytes of bodies of files
}

// A File is a file of a dataset. Where Path is set the bytes are read from there, else they are Data.
type File struct {
	Data []byte
	Path string
	LFS  bool // kept in the store and known by its SHA-256, as Parquet is; else known by its git SHA-1
}

type repo struct {
	token    string // who may read; "": everybody
	gated    bool
	commits  map[string]map[string]*stored
	branches map[string]string
}

type stored struct {
	File
	size   int64
	sha1   string
	sha256 string
}

// New starts a server. Close ends it.
func New() *Server {
	s := &Server{PageSize: 1000, repos: map[string]*repo{}}
	s.hub = httptest.NewServer(s.handler(s.serveHub, true))
	s.store = httptest.NewServer(s.handler(s.serveStore, false))
	s.URL, s.StoreURL = s.hub.URL, s.store.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.hub.CloseClientConnections()
	s.store.CloseClientConnections()
	s.hub.Close()
	s.store.Close()
}

// Commit adds a commit with just these files to a dataset, "OWNER/NAME", and returns its hash. main and branches stand for it
// from then on.
func (s *Server) Commit(name string, files map[string]File, branches ...string) string {
	h := sha1.New()
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %q\n", keep(files[p]).sha1, p)
	}
	s.mu.Lock()
	fmt.Fprint(h, len(s.repo(name).commits))
	s.mu.Unlock()
	commit := hex.EncodeToString(h.Sum(nil))
	s.CommitAs(name, commit, files, branches...)
	return commit
}

// CommitAs is Commit with a hash of 40 digits that the caller chooses.
func (s *Server) CommitAs(name, commit string, files map[string]File, branches ...string) {
	kept := map[string]*stored{}
	for p, f := range files {
		kept[p] = keep(f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repo(name)
	r.commits[commit] = kept
	for _, b := range append(branches, "main") {
		r.branches[b] = commit
	}
}

// Restrict makes a dataset readable with token alone; gated says that it is public, with terms to accept.
func (s *Server) Restrict(name, token string, gated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repo(name)
	r.token, r.gated = token, gated
}

func (s *Server) repo(name string) *repo {
	if s.repos[name] == nil {
		s.repos[name] = &repo{commits: map[string]map[string]*stored{}, branches: map[string]string{}}
	}
	return s.repos[name]
}

func keep(f File) *stored {
	out := &stored{File: f, size: int64(len(f.Data))}
	if f.Path != "" {
		info, err := os.Stat(f.Path)
		if err != nil {
			panic(err) // the test named it
		}
		out.size = info.Size()
	}
	a, b := sha1.New(), sha256.New()
	fmt.Fprintf(a, "blob %d\x00", out.size)
	r, err := out.open()
	if err == nil {
		defer r.Close()
		_, err = io.Copy(io.MultiWriter(a, b), r)
	}
	if err != nil {
		panic(err)
	}
	out.sha1, out.sha256 = hex.EncodeToString(a.Sum(nil)), hex.EncodeToString(b.Sum(nil))
	return out
}

func (f *stored) open() (io.ReadSeekCloser, error) {
	if f.Path != "" {
		return os.Open(f.Path)
	}
	return nopCloser{strings.NewReader(string(f.Data))}, nil
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

// Misbehave has every request shown to f, which says what is to go wrong with it: nil for nothing.
func (s *Server) Misbehave(f func(*http.Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Requests returns what was asked since the last call, as "GET /path?query".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// Sent returns the bytes of files sent since the last call.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.sent
	s.sent = 0
	return n
}

// Leaks returns the requests that brought a token to where it does not belong.
func (s *Server) Leaks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaks
}

func (s *Server) handler(serve func(http.ResponseWriter, *http.Request), hub bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		if !hub && r.Header.Get("Authorization") != "" {
			s.leaks = append(s.leaks, r.URL.RequestURI())
		}
		var f *Fault
		if s.fault != nil {
			f = s.fault(r)
		}
		s.mu.Unlock()
		if f == nil {
			serve(w, r)
			return
		}
		f.serve(s, w, r, serve)
	})
}

// serveHub answers as the Hub does.
func (s *Server) serveHub(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	for i := range parts {
		if p, err := url.PathUnescape(parts[i]); err == nil {
			parts[i] = p
		}
	}
	switch {
	case len(parts) >= 4 && parts[0] == "api" && parts[1] == "datasets":
		s.serveAPI(w, r, parts[2]+"/"+parts[3], parts[4:])
	case len(parts) >= 6 && parts[0] == "datasets" && parts[3] == "resolve":
		s.serveResolve(w, r, parts[1]+"/"+parts[2], parts[4], strings.Join(parts[5:], "/"))
	case len(parts) >= 7 && parts[0] == "api" && parts[1] == "resolve-cache":
		s.serveSmall(w, r, parts[3]+"/"+parts[4], parts[5], strings.Join(parts[6:], "/"))
	default:
		fail(w, http.StatusNotFound, "", "Not Found")
	}
}

func fail(w http.ResponseWriter, code int, name, message string) {
	if name != "" {
		w.Header().Set("X-Error-Code", name)
	}
	w.Header().Set("X-Error-Message", message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// find returns the files of a dataset at a revision, and the commit; it has answered where there are none.
func (s *Server) find(w http.ResponseWriter, r *http.Request, name, revision string) (map[string]*stored, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	re := s.repos[name]
	token, hasToken := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case re == nil && !hasToken:
		fail(w, http.StatusUnauthorized, "RepoNotFound", "Invalid username or password.")
		return nil, ""
	case re == nil:
		fail(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
		return nil, ""
	case re.token != "" && token != re.token && re.gated && hasToken:
		fail(w, http.StatusForbidden, "GatedRepo", "Access to dataset "+name+" is restricted and you are not in the authorized list. Visit the page to ask for access.")
		return nil, ""
	case re.token != "" && token != re.token && re.gated:
		fail(w, http.StatusUnauthorized, "GatedRepo", "Access to dataset "+name+" is restricted. You must have access to it and be authenticated to access it. Please log in.")
		return nil, ""
	case re.token != "" && token != re.token:
		fail(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
		return nil, ""
	}
	commit := revision
	if c, ok := re.branches[revision]; ok {
		commit = c
	}
	files := re.commits[commit]
	if files == nil {
		fail(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+revision)
		return nil, ""
	}
	return files, commit
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, name string, rest []string) {
	what, revision := "info", "main"
	if len(rest) > 0 {
		what = rest[0]
	}
	if len(rest) > 1 {
		revision = rest[1]
	}
	files, commit := s.find(w, r, name, revision)
	if files == nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch what {
	case "info", "revision":
		var siblings []map[string]any
		for _, p := range slices.Sorted(maps.Keys(files)) {
			siblings = append(siblings, map[string]any{"rfilename": p})
		}
		json.NewEncoder(w).Encode(map[string]any{"_id": "1", "id": name, "sha": commit, "private": false, "gated": false, "disabled": false,
			"author": path.Dir(name), "downloads": 0, "likes": 0, "tags": []string{}, "siblings": siblings,
			"lastModified": "2026-01-01T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z", "key": ""})
	case "tree":
		s.serveTree(w, r, files, strings.Join(rest[2:], "/"))
	case "paths-info":
		servePaths(w, r, files)
	default:
		fail(w, http.StatusNotFound, "", "Not Found")
	}
}

// describe is a file as lists have it.
func describe(p string, f *stored) map[string]any {
	d := map[string]any{"type": "file", "oid": f.sha1, "size": f.size, "path": p}
	if f.LFS {
		d["lfs"] = map[string]any{"oid": f.sha256, "size": f.size, "pointerSize": 130}
	}
	return d
}

// list is what a folder holds.
func list(files map[string]*stored, folder string, recursive bool) []map[string]any {
	var out []map[string]any
	seen := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		rest, ok := strings.CutPrefix(p, folder)
		if !ok {
			continue
		}
		for i, c := range rest {
			if dir := rest[:i]; c == '/' && i > 0 && !seen[dir] && (recursive || !strings.Contains(dir, "/")) {
				seen[dir] = true
				out = append(out, map[string]any{"type": "directory", "oid": strings.Repeat("0", 40), "size": 0, "path": folder + dir})
			}
		}
		if recursive || !strings.Contains(rest, "/") {
			out = append(out, describe(p, files[p]))
		}
	}
	return out
}

func (s *Server) serveTree(w http.ResponseWriter, r *http.Request, files map[string]*stored, folder string) {
	if folder != "" {
		folder += "/"
	}
	all := list(files, folder, r.URL.Query().Get("recursive") == "true" || r.URL.Query().Get("recursive") == "True")
	if len(all) == 0 && folder != "" {
		fail(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	from = min(max(from, 0), len(all))
	page := all[from:min(from+s.PageSize, len(all))]
	if from+s.PageSize < len(all) {
		q := r.URL.Query()
		q.Set("cursor", strconv.Itoa(from+s.PageSize))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.EscapedPath(), q.Encode()))
	}
	if page == nil {
		page = []map[string]any{}
	}
	json.NewEncoder(w).Encode(page)
}

func servePaths(w http.ResponseWriter, r *http.Request, files map[string]*stored) {
	var q struct {
		Paths []string `json:"paths"`
	}
	if r.Header.Get("Content-Type") == "application/json" {
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			fail(w, http.StatusBadRequest, "", err.Error())
			return
		}
	} else if err := r.ParseForm(); err == nil {
		q.Paths = r.Form["paths"]
	}
	out := []map[string]any{}
	for _, p := range q.Paths {
		p = strings.Trim(p, "/")
		if f := files[p]; f != nil {
			out = append(out, describe(p, f))
		} else if len(list(files, p+"/", true)) > 0 {
			out = append(out, map[string]any{"type": "directory", "oid": strings.Repeat("0", 40), "size": 0, "path": p})
		}
	}
	json.NewEncoder(w).Encode(out)
}

// serveResolve redirects large files to the store, small ones to another address of the Hub.
func (s *Server) serveResolve(w http.ResponseWriter, r *http.Request, name, revision, p string) {
	files, commit := s.find(w, r, name, revision)
	if files == nil {
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	f := files[p]
	if f == nil {
		fail(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	if !f.LFS {
		to := &url.URL{Path: "/api/resolve-cache/datasets/" + name + "/" + commit + "/" + p}
		w.Header().Set("Location", to.EscapedPath()+"?etag=%22"+f.sha1+"%22")
		w.Header().Set("X-Linked-Size", strconv.FormatInt(f.size, 10))
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	w.Header().Set("X-Linked-Size", strconv.FormatInt(f.size, 10))
	w.Header().Set("X-Linked-Etag", `"`+f.sha256+`"`)
	w.Header().Set("Location", s.StoreURL+"/repos/"+f.sha256+"?X-Amz-Signature=1&name="+url.QueryEscape(name))
	w.WriteHeader(http.StatusFound)
}

func (s *Server) serveSmall(w http.ResponseWriter, r *http.Request, name, commit, p string) {
	files, commit := s.find(w, r, name, commit)
	if files == nil {
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	if f := files[p]; f != nil {
		s.serveFile(w, r, f, `"`+f.sha1+`"`)
		return
	}
	fail(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
}

// serveStore sends a large file. Its ETag is the store's own, as S3 makes them.
func (s *Server) serveStore(w http.ResponseWriter, r *http.Request) {
	sum := path.Base(r.URL.Path)
	s.mu.Lock()
	var f *stored
	for _, re := range s.repos {
		for _, files := range re.commits {
			for _, x := range files {
				if x.sha256 == sum && x.LFS {
					f = x
				}
			}
		}
	}
	s.mu.Unlock()
	if f == nil {
		http.Error(w, "NoSuchKey", http.StatusNotFound)
		return
	}
	etag := md5.Sum([]byte(sum))
	s.serveFile(w, r, f, `"`+hex.EncodeToString(etag[:])+`"`)
}

func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, f *stored, etag string) {
	in, err := f.open()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer in.Close()
	w.Header().Set("ETag", etag)
	w.Header().Set("Content-Type", "application/octet-stream")
	n := &counting{ResponseWriter: w}
	http.ServeContent(n, r, "", time.Time{}, in)
	s.mu.Lock()
	s.sent += n.n
	s.mu.Unlock()
}

type counting struct {
	http.ResponseWriter
	n int64
}

// Write implements io.Writer.
func (c *counting) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that files go out without a copy.
func (c *counting) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.ResponseWriter, r)
	c.n += n
	return n, err
}
