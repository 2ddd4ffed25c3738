// Package hub reads datasets from a Hugging Face Hub, or a mirror of one, over HTTP. Files are verified and kept in the
// Hub's own cache, in the layout that huggingface_hub writes (2.4.0, file_download.py, _tree_cache.py), so that Python finds
// what rlprep fetched and rlprep what Python did:
//
//	HF_HUB_CACHE/datasets--OWNER--NAME/blobs/ETAG              a file's bytes; ETAG is its sha256 (LFS) or its git sha1
//	HF_HUB_CACHE/datasets--OWNER--NAME/blobs/ETAG.incomplete   a download that is not finished, and is taken up again
//	HF_HUB_CACHE/datasets--OWNER--NAME/snapshots/COMMIT/PATH   a link to the blob
//	HF_HUB_CACHE/datasets--OWNER--NAME/refs/REVISION           the commit that a branch or a tag was last seen at
//	HF_HUB_CACHE/datasets--OWNER--NAME/trees/COMMIT.json       the list of all files of a commit
//	HF_HUB_CACHE/.locks/datasets--OWNER--NAME/ETAG.lock        held by who downloads the blob
package hub

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rlprep/rlprep/internal/infile"
)

// A Client talks to one Hub. Its methods may be called from several goroutines at once; its fields must not be changed then.
type Client struct {
	Endpoint string // "https://huggingface.co", with no slash at the end
	Token    string // sent to Endpoint and to no other host; "": none
	Cache    string // directory of the cache
	Offline  bool   // take what the cache has and send nothing
	Copies   bool   // put files, not links, into snapshots

	Idle     time.Duration // a server that sends nothing for so long is taken for dead
	MinRate  int64         // in bytes a second: a server that sends less over Window is given up; 0: any rate will do
	Window   time.Duration
	Answer   time.Duration // an answer of the API must end within this time
	Attempts int           // how often in a row a request may fail before the error is final
	Backoff  time.Duration // wait before the second attempt; doubled before each after it, at most 20 s

	Notice   func(string)                        // told what the user should know of: retries, what is taken from the cache; nil: nobody
	Progress func(path string, done, size int64) // told how far the download of a file is, in bytes; nil: nobody

	// Whole says how the current command is made to fetch files whole, for a server that does not send parts of them; "": it cannot be.
	Whole string

	http *http.Client
	list limits

	mu        sync.Mutex
	snapshots map[string]*Snapshot // by "OWNER/NAME@REVISION": a branch is looked up once a run
}

// minRateVariable names the variable of the environment for Client.MinRate.
const minRateVariable = "RLPREP_HUB_MIN_RATE"

// New returns a Client as the environment has it, by the variables of huggingface_hub (2.4.0, constants.py): HF_ENDPOINT,
// HF_TOKEN, HF_TOKEN_PATH, HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HOME, XDG_CACHE_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE,
// HF_HUB_DOWNLOAD_TIMEOUT, HF_HUB_DISABLE_SYMLINKS and their older names, and by RLPREP_HUB_MIN_RATE. getenv is os.Getenv, but for tests.
func New(getenv func(string) string) (*Client, error) {
	c := &Client{
		Endpoint: strings.TrimRight(or(getenv("HF_ENDPOINT"), "https://huggingface.co"), "/"),
		Offline:  isTrue(or(getenv("HF_HUB_OFFLINE"), getenv("TRANSFORMERS_OFFLINE"))),
		Copies:   isTrue(getenv("HF_HUB_DISABLE_SYMLINKS")),
		Idle:     10 * time.Second, Attempts: 8, Backoff: 500 * time.Millisecond,
		MinRate: 8 << 10, Window: 30 * time.Second, Answer: 2 * time.Minute,
		http: newHTTP(), list: listLimits,
		snapshots: map[string]*Snapshot{},
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &Error{Kind: Refused, Message: fmt.Sprintf("HF_ENDPOINT=%q: expected a URL such as https://huggingface.co", c.Endpoint)}
	}
	if t := getenv("HF_HUB_DOWNLOAD_TIMEOUT"); t != "" {
		s, err := strconv.Atoi(t)
		if err != nil || s <= 0 {
			return nil, &Error{Kind: Refused, Message: fmt.Sprintf("HF_HUB_DOWNLOAD_TIMEOUT=%q: expected a number of seconds", t)}
		}
		c.Idle = time.Duration(s) * time.Second
	}
	if r := getenv(minRateVariable); r != "" {
		n, err := strconv.ParseInt(r, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return nil, &Error{Kind: Refused, Message: fmt.Sprintf("%s=%q: expected a number of bytes a second, 0 for any rate", minRateVariable, r)}
		}
		c.MinRate = n
	}
	home := getenv("HF_HOME")
	if home == "" {
		caches := getenv("XDG_CACHE_HOME")
		if caches == "" {
			caches = filepath.Join(or(getenv("HOME"), "."), ".cache")
		}
		home = filepath.Join(caches, "huggingface")
	}
	home = expand(home, getenv)
	c.Cache = expand(or(getenv("HF_HUB_CACHE"), or(getenv("HUGGINGFACE_HUB_CACHE"), filepath.Join(home, "hub"))), getenv)
	if !isTrue(getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		c.Token = strings.TrimSpace(or(getenv("HF_TOKEN"), getenv("HUGGING_FACE_HUB_TOKEN")))
		if c.Token == "" {
			b, err := infile.ReadFile(expand(or(getenv("HF_TOKEN_PATH"), filepath.Join(home, "token")), getenv))
			if err == nil { // no file: no token
				c.Token = strings.TrimSpace(string(b))
			}
		}
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &Error{Kind: Refused, Message: "HF_TOKEN: holds characters that no token has"}
	}
	return c, nil
}

// Close gives idle connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// expand replaces ~ and variables at the beginning of, and in, a path, as huggingface_hub does.
func expand(path string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = getenv("HOME") + rest
	}
	return os.Expand(path, func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return "$" + name
	})
}

func isTrue(s string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(s))
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (c *Client) notice(format string, args ...any) {
	if c.Notice != nil {
		c.Notice(fmt.Sprintf(format, args...))
	}
}

// host is how messages call the Hub.
func (c *Client) host() string {
	_, host, _ := strings.Cut(c.Endpoint, "://")
	return host
}

// A Kind is what an Error is about.
type Kind uint8

// The kinds of errors.
const (
	Network Kind = iota // the Hub cannot be reached, or its answers are broken: another attempt may help
	Refused             // no such dataset, revision or file, no permission, an address that is none: another attempt does not help
	Damaged             // what came, or what the cache has, is not what the Hub lists
)

// An Error is a file that cannot be had from the Hub.
type Error struct {
	Kind    Kind
	Message string // "hf://datasets/OWNER/NAME: what happened: what helps"
	Err     error  // nil: none below
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the exit status that fits: 2 where another attempt does not help, else 3.
func (e *Error) ExitCode() int {
	if e.Kind == Refused {
		return 2
	}
	return 3
}
