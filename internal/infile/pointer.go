package infile

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// Pointer returns what to say of a file that only points to the data, and how to fetch that; "" where head begins no such file. The forms are those of
// Git LFS (which git-xet uses too), of XetHub, of DVC and of git-annex.
func Pointer(name string, head []byte) string {
	is := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(head, []byte(p)) })
	}
	switch {
	case is("version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"):
		return "a Git LFS pointer, not the data: fetch it with: git lfs pull --include=" + filepath.Base(name)
	case is("# xet version", "version https://xethub.com/"):
		return "a Xet pointer, not the data: fetch it with: git xet materialize " + name
	case strings.HasSuffix(name, ".dvc") && (is("outs:", "md5:") || bytes.Contains(head, []byte("\nouts:"))):
		return "a DVC file, not the data: fetch it with: dvc pull " + name + ", then name " + strings.TrimSuffix(name, ".dvc")
	case is("outs:\n"), is("md5: ") && bytes.Contains(head, []byte("\nouts:")):
		return "a DVC file, not the data: fetch it with: dvc pull"
	case is("/annex/objects/"):
		return "a git-annex pointer, not the data: fetch it with: git annex get " + name
	}
	return ""
}
