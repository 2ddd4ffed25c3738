package hub

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Scheme is how addresses on a Hub begin.
const Scheme = "hf://"

// An Address is a place on a Hub: hf://datasets/OWNER/NAME[@REVISION][/PATH].
type Address struct {
	Repo     string // "OWNER/NAME"
	Revision string // a branch, a tag or a commit; "": none was named, which means main
	Path     string // a file, a folder or a pattern; "": the whole dataset
}

var (
	repoName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$`)
	commitHash = regexp.MustCompile(`^[0-9a-f]{40}$`)
	blobHash   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// Parse reads an address. Revisions with slashes are taken as huggingface_hub does: refs/pr/N and refs/convert/NAME as they
// are, others with %2F.
func Parse(s string) (Address, error) {
	bad := func(format string, args ...any) (Address, error) {
		return Address{}, &Error{Kind: Refused, Message: fmt.Sprintf("%s: %s (expected hf://datasets/OWNER/NAME[@REVISION]/PATH)", printable(s), fmt.Sprintf(format, args...))}
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(s, Scheme), "/"), "/")
	if !strings.HasPrefix(s, Scheme) || parts[0] != "datasets" {
		return bad("only datasets can be read")
	}
	if len(parts) < 3 {
		return bad("no dataset is named")
	}
	name, revision, hasRevision := strings.Cut(parts[2], "@")
	rest := parts[3:]
	if revision == "refs" && len(rest) >= 2 && (rest[0] == "pr" || rest[0] == "convert") {
		revision, rest = strings.Join(append([]string{revision}, rest[:2]...), "/"), rest[2:]
	}
	revision, err := url.PathUnescape(revision)
	if err != nil || hasRevision && (revision == "" || safePath(revision) != nil) {
		return bad("%q is no revision", revision)
	}
	for _, n := range []string{parts[1], name} {
		if !repoName.MatchString(n) || strings.Contains(n, "--") || strings.Contains(n, "..") {
			return bad("%q is no name of a user or a dataset", n)
		}
	}
	a := Address{Repo: parts[1] + "/" + name, Revision: revision, Path: strings.Join(rest, "/")}
	if a.Path != "" {
		if err := safePath(a.Path); err != nil {
			return bad("%v", err)
		}
	}
	return a, nil
}

// String returns the address.
func (a Address) String() string {
	s := Scheme + "datasets/" + a.Repo
	switch {
	case strings.HasPrefix(a.Revision, "refs/pr/"), strings.HasPrefix(a.Revision, "refs/convert/"):
		s += "@" + a.Revision
	case a.Revision != "":
		s += "@" + url.PathEscape(a.Revision)
	}
	if a.Path != "" {
		s += "/" + a.Path
	}
	return s
}

// revision is the one to ask the Hub for.
func (a Address) revision() string { return or(a.Revision, "main") }

// safePath returns an error for what must never become a file's name below the cache.
func safePath(p string) error {
	if len(p) > 1024 {
		return fmt.Errorf("a path of %d bytes", len(p))
	}
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == 0xfffd }) {
		return fmt.Errorf("%q holds characters that no path may have", p)
	}
	for _, part := range strings.Split(p, "/") {
		switch {
		case part == "", part == ".", part == "..":
			return fmt.Errorf("%q is no path inside a dataset", p)
		case len(part) > 255:
			return fmt.Errorf("a file's name of %d bytes", len(part))
		}
	}
	return nil
}

// printable is s without what would act on a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
