package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/schema"
)

// A candidate is a file that was named, not yet opened.
type candidate struct {
	name   string // as the user named it
	path   string
	split  string // "": its name says none
	glob   bool
	val    bool
	folder bool // came out of a folder
	memory []byte
	remote *RemoteFile
}

// notData are files in a dataset's folder that have the suffix of data and hold none. The first are HF datasets' list
// (data_files.py), the others are written by save_to_disk and by us.
var notData = []string{"README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "manifest.json"}

// A namer turns names into candidates.
type namer struct {
	ctx    context.Context // for Spec.Remote; a namer lives for one call of Resolve
	spec   *Spec
	unused []string
	twice  []string
}

// all returns every file that the spec names, with its split.
func (n *namer) all() ([]candidate, error) {
	args, err := n.args()
	if err != nil {
		return nil, err
	}
	var found []candidate
	globs := slices.ContainsFunc(n.spec.Splits, func(s SplitArg) bool { return s.Glob != "" })
	switch {
	case n.spec.Embedded != nil:
		for _, e := range n.spec.Embedded {
			data := e.Data
			if data == nil {
				data = []byte{}
			}
			found = append(found, candidate{name: e.Name, memory: data, split: or(e.Split, splitOfName(e.Name))})
		}
	case globs:
		if found, err = n.splitGlobs(args); err != nil {
			return nil, err
		}
	case len(args) == 0 && len(n.spec.Val) == 0:
		return nil, noSource()
	}
	if !globs || slices.ContainsFunc(n.spec.Splits, func(s SplitArg) bool { return s.Glob == "" }) {
		more, err := n.expandAll(args)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if found, err = n.choose(found); err != nil {
		return nil, err
	}
	vals, err := n.expandAll(n.spec.Val)
	if err != nil {
		return nil, err
	}
	for i := range vals {
		vals[i].val = true
		if vals[i].split != "test" {
			vals[i].split = "validation"
		}
	}
	found = append(found, vals...)
	if err := n.oneVersion(found); err != nil {
		return nil, err
	}
	taken := make(map[string]bool, len(found))
	for i := range found {
		taken[found[i].name] = true
		found[i].val = found[i].val || found[i].split == "validation" || found[i].split == "test"
	}
	n.unused = slices.DeleteFunc(n.unused, func(name string) bool { return taken[name] })
	return n.distinct(found)
}

// args returns the names given on the command line and in a list.
func (n *namer) args() ([]string, error) {
	if n.spec.FilesFrom == "" {
		return n.spec.Args, nil
	}
	var in io.Reader
	if n.spec.FilesFrom == "-" {
		if slices.Contains(n.spec.Args, "-") {
			return nil, errors.New("standard input cannot be both the list of files and a file")
		}
		if in = n.spec.Stdin; in == nil {
			return nil, errors.New("read the list of files: there is no standard input here")
		}
	} else {
		f, err := infile.Stream(n.ctx, n.spec.FilesFrom)
		if err != nil {
			return nil, fmt.Errorf("read the list of files: %w", NotThere(n.spec.FilesFrom, err))
		}
		defer f.Close()
		in = f
	}
	out := slices.Clone(n.spec.Args)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name := strings.TrimSpace(strings.TrimPrefix(lines.Text(), string(bom)))
		if name != "" && !strings.HasPrefix(name, "#") {
			out = append(out, name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the list of files %s: %w", n.spec.FilesFrom, reason(err))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the list of files %s names none", n.spec.FilesFrom)
	}
	return out, nil
}

// expandAll expands names.
func (n *namer) expandAll(args []string) ([]candidate, error) {
	var out []candidate
	for i, arg := range args {
		found, err := n.expand(arg)
		if err != nil {
			return nil, blankInName(args[i:], err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// blankInName adds to the error about the first name that, with the names after it, it is a file or folder whose name has blanks.
func blankInName(args []string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for n := 2; n <= len(args); n++ {
		name := strings.Join(args[:n], " ")
		if _, serr := os.Stat(name); serr == nil {
			return fmt.Errorf("%s: %w; a name with blanks needs quotes: '%s'", args[0], fs.ErrNotExist, name)
		}
	}
	return err
}

// expand returns the files that one name stands for. An existing file counts for more than a pattern.
func (n *namer) expand(arg string) ([]candidate, error) {
	if arg == "-" {
		return []candidate{{name: arg}}, nil
	}
	if arg == "" {
		return nil, errors.New("a file's name is empty")
	}
	if n.spec.Remote != nil && strings.HasPrefix(arg, RemoteScheme) {
		return n.remote(arg)
	}
	if scheme, _, ok := strings.Cut(arg, "://"); ok && slices.Contains([]string{"s3", "gs", "az", "abfs", "http", "https", "ftp"}, scheme) {
		return nil, fmt.Errorf("%s: %s:// is not supported yet: download the file, or name a dataset of the Hub (%sdatasets/OWNER/NAME)", arg, scheme, RemoteScheme)
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return n.folder(arg)
	case err == nil:
		return []candidate{{name: arg, path: arg, split: splitOfName(filepath.ToSlash(arg))}}, nil
	case hasMeta(arg) && errors.Is(err, fs.ErrNotExist):
		return n.glob(arg)
	}
	return nil, NotThere(arg, err)
}

func (n *namer) glob(pattern string) ([]candidate, error) {
	names, folders, err := expandGlob(n.ctx, pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, reason(err))
	}
	var out []candidate
	var others []string
	for _, name := range names {
		if f, _ := suffix(name); f == unknownFormat && !isParquet(name) {
			others = append(others, name)
			continue
		}
		out = append(out, candidate{name: name, path: name, glob: true, split: splitOfName(name)})
	}
	switch {
	case len(out) > 0:
		n.unused = append(n.unused, others...)
		return out, nil
	case len(others) > 0:
		return nil, fmt.Errorf("pattern %q: none of the %d files that match can be read (the first is %s): what can be is %s", pattern, len(others), others[0], understood)
	case folders > 0:
		return nil, fmt.Errorf("pattern %q: no file matches, only folders: write %s/** for the files in them", pattern, strings.TrimSuffix(pattern, "/"))
	}
	return nil, fmt.Errorf("pattern %q: no file matches%s", pattern, nearPattern(pattern))
}

// nearPattern says what there is in the deepest folder that the pattern names as it is.
func nearPattern(pattern string) string {
	dir := ""
	for _, part := range strings.SplitAfter(filepath.ToSlash(pattern), "/") {
		if hasMeta(part) {
			break
		}
		dir += part
	}
	entries, err := os.ReadDir(or(dir, "."))
	if err != nil {
		return fmt.Sprintf(": there is no folder %s", dir)
	}
	var names []string
	for _, e := range entries {
		if f, _ := suffix(e.Name()); f != unknownFormat && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s has %s)", or(dir, "this folder"), few(names))
}

// few lists the first names.
func few(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

// isParquet reports whether the file begins as Parquet does.
func isParquet(name string) bool {
	f, err := infile.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(parquetMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == string(parquetMagic)
}

// folder returns the data files of a folder, with their splits.
func (n *namer) folder(arg string) ([]candidate, error) {
	root := strings.TrimSuffix(filepath.ToSlash(arg), "/") + "/"
	var rels, others []string
	err := walk(n.ctx, root, func(rel string) error {
		base := rel[strings.LastIndexByte(rel, '/')+1:]
		if f, _ := suffix(base); f != unknownFormat && !slices.Contains(notData, base) {
			rels = append(rels, rel)
		} else {
			others = append(others, rel)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: list: %w", arg, reason(err))
	}
	if len(rels) == 0 {
		return nil, emptyFolder(arg, others)
	}
	rels = preferred(rels)
	out, err := n.inFolder(root, rels)
	for i := range out {
		out[i].path = out[i].name
	}
	return out, err
}

// preferred leaves out the tables in CSV and the files of Arrow of a folder that has Parquet or JSON Lines: they are notes beside the data, or
// the same rows once more.
func preferred(rels []string) []string {
	main := slices.DeleteFunc(slices.Clone(rels), func(rel string) bool {
		f, _ := suffix(rel)
		return f == csvFormat || f == arrowFormat
	})
	if len(main) > 0 {
		return main
	}
	return rels
}

// inFolder assigns the files of a folder, by their names below root, to splits.
func (n *namer) inFolder(root string, rels []string) ([]candidate, error) {
	splits, err := splitsOfFolder(rels, n.spec.Layout)
	if err != nil {
		return nil, err
	}
	var out []candidate
	for _, rel := range rels {
		in := splits[rel]
		switch {
		case len(in) == 0 && !n.spec.Lenient:
			n.unused = append(n.unused, root+rel)
			continue
		case len(in) == 0:
			in = []string{""}
		case len(in) > 1 && !n.spec.Lenient:
			return nil, fmt.Errorf("%s: its name says split %s and split %s: say which by --split %s=%s", root+rel, in[0], in[1], in[0], rel)
		}
		out = append(out, candidate{name: root + rel, split: in[0], folder: true})
	}
	if !n.spec.Lenient {
		err = unmixed(root, out)
	}
	return out, err
}

func emptyFolder(arg string, others []string) error {
	if i := slices.IndexFunc(others, func(s string) bool { return strings.HasSuffix(s, ".dvc") }); i >= 0 {
		return fmt.Errorf("%s: no data in this folder, but %s: fetch it with: dvc pull", arg, others[i])
	}
	msg := fmt.Sprintf("%s: no file in this folder can be read: what can be is %s", arg, understood)
	if len(others) > 0 {
		msg += fmt.Sprintf(" (it has %s)", few(others))
	}
	if len(others) > 0 {
		return &FormatError{File: arg, Message: strings.TrimPrefix(msg, arg+": ")} // as of one such file
	}
	return errors.New(msg)
}

// unmixed returns an error where a split of a folder is there in two formats: they are probably the same rows.
func unmixed(root string, found []candidate) error {
	first := map[string]candidate{}
	for _, c := range found {
		other, ok := first[c.split]
		if !ok {
			first[c.split] = c
			continue
		}
		a, _ := suffix(other.name)
		b, _ := suffix(c.name)
		if a != b {
			return fmt.Errorf("%s: split %s is there as Parquet and as JSON Lines (%s, %s): say which by --split %s=%s", root, c.split,
				strings.TrimPrefix(other.name, root), strings.TrimPrefix(c.name, root), c.split, strings.TrimPrefix(c.name, root))
		}
	}
	return nil
}

// splitGlobs returns the files of the splits that were given with a glob.
func (n *namer) splitGlobs(args []string) ([]candidate, error) {
	if len(args) > 1 {
		return nil, errors.New("--split NAME=GLOB is taken from one folder, but more than one source is named")
	}
	root := ""
	switch {
	case len(args) == 1 && n.spec.Remote != nil && strings.HasPrefix(args[0], RemoteScheme):
		root = strings.TrimSuffix(args[0], "/") + "/"
	case len(args) == 1:
		if info, err := os.Stat(args[0]); err != nil {
			return nil, NotThere(args[0], err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("--split NAME=GLOB is taken from a folder, but %s is a file", args[0])
		}
		root = strings.TrimSuffix(filepath.ToSlash(args[0]), "/") + "/"
	}
	var out []candidate
	for _, s := range n.spec.Splits {
		if s.Glob == "" {
			continue
		}
		name := s.Glob
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, RemoteScheme) {
			name = root + strings.TrimPrefix(filepath.ToSlash(name), "./")
		}
		layout := n.spec.Layout
		n.spec.Layout = []SplitArg{{Name: s.Name, Glob: "**"}} // a folder that GLOB names is this split, whole
		found, err := n.expand(name)
		n.spec.Layout = layout
		if err != nil {
			return nil, fmt.Errorf("split %s: %w", s.Name, err)
		}
		for i := range found {
			found[i].split = s.Name
		}
		out = append(out, found...)
	}
	return out, nil
}

// choose leaves the splits that were asked for, and gives one to files whose names say none.
func (n *namer) choose(found []candidate) ([]candidate, error) {
	var wanted []string
	for _, s := range n.spec.Splits {
		wanted = append(wanted, s.Name)
	}
	rest := or(strings.Join(wanted, ","), "train")
	if len(wanted) > 1 {
		rest = "train"
	}
	alone := len(found) == 1 && !found[0].folder && len(wanted) == 1
	for i, c := range found {
		if alone || c.split == "" && !c.folder {
			found[i].split = rest
		}
	}
	if len(wanted) == 0 {
		return found, nil
	}
	var out []candidate
	taken := map[string]bool{}
	for _, w := range wanted {
		has := func(name string) bool {
			return slices.ContainsFunc(found, func(c candidate) bool { return c.split == name })
		}
		name := w
		if !has(name) {
			name = canonical(w)
		}
		if !has(name) {
			return nil, noSplit(w, found)
		}
		for _, c := range found {
			if key := c.split + "\x00" + c.name; c.split == name && !taken[key] {
				taken[key] = true
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func noSplit(name string, found []candidate) error {
	var have []string
	for _, c := range found {
		if c.split != "" && !slices.Contains(have, c.split) {
			have = append(have, c.split)
		}
	}
	msg := fmt.Sprintf("no split %q in what is named (splits: %s)", name, strings.Join(have, ", "))
	if near := schema.Nearest(name, have); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s: its files can be given by --split %s=GLOB", msg, name)
}

// distinct returns an error where a file is named twice, by whatever links.
// Where that is lenient, a file may be training and validation data, and one that is named twice as the same is taken once.
func (n *namer) distinct(found []candidate) ([]candidate, error) {
	seen := map[string]candidate{}
	var out []candidate
	for _, c := range found {
		key := c.name
		if c.remote != nil {
			key = c.remote.Address
		} else if c.path != "" {
			real, err := filepath.EvalSymlinks(c.path)
			if err != nil {
				return nil, NotThere(c.name, err)
			}
			if key, err = filepath.Abs(real); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		if n.spec.Lenient && c.val {
			key += "\x00validation"
		}
		if other, ok := seen[key]; ok {
			if n.spec.Lenient {
				n.twice = append(n.twice, c.name)
				continue
			}
			if other.name == c.name {
				return nil, fmt.Errorf("%s: named twice", c.name)
			}
			return nil, fmt.Errorf("%s and %s are the same file", other.name, c.name)
		}
		seen[key] = c
		out = append(out, c)
	}
	return out, nil
}

// NotThere returns an error that says why a named file cannot be read, and which name may have been meant. err is what opening it gave.
func NotThere(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, reason(err))
	}
	if target, linkErr := os.Readlink(name); linkErr == nil {
		if strings.Contains(filepath.ToSlash(target), "annex/objects/") {
			return fmt.Errorf("%s: a git-annex link, the data is not here: fetch it with: git annex get %s", name, name)
		}
		return fmt.Errorf("%s: a link to %s, which is not there", name, target)
	}
	if _, err := os.Stat(name + ".dvc"); err == nil {
		return fmt.Errorf("%s: not here, only %s.dvc is: fetch it with: dvc pull %s.dvc", name, name, name)
	}
	if slashed := strings.ReplaceAll(name, `\`, "/"); slashed != name && filepath.Separator == '/' {
		if _, err := os.Stat(slashed); err == nil {
			return fmt.Errorf("%s: %w: folders are separated by '/' here; did you mean %s?", name, fs.ErrNotExist, slashed)
		}
		return fmt.Errorf("%s: %w: folders are separated by '/' here, not by '\\'", name, fs.ErrNotExist)
	}
	dir, base := filepath.Split(name)
	entries, dirErr := os.ReadDir(or(dir, "."))
	if dirErr != nil {
		return fmt.Errorf("%s: %w: there is no folder %s", name, fs.ErrNotExist, strings.TrimSuffix(dir, "/"))
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := nearest(base, names); near != "" {
		return fmt.Errorf("%s: %w; did you mean %s?", name, fs.ErrNotExist, dir+near)
	}
	return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// nearest is schema.Nearest, or the name that differs only in its suffix.
func nearest(base string, names []string) string {
	if near := schema.Nearest(base, names); near != "" {
		return near
	}
	stem, _, _ := strings.Cut(base, ".")
	for _, n := range names {
		if s, _, _ := strings.Cut(n, "."); s == stem && stem != "" {
			return n
		}
	}
	return ""
}

// Absolute returns the absolute form of a name of this machine, with slashes; a name on a Hub is absolute.
func Absolute(name string) string {
	if strings.HasPrefix(name, RemoteScheme) {
		return name
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(abs)
}

// AllFolders reports whether all names, at least one, are folders of this machine.
func AllFolders(names []string) bool {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			return false
		}
	}
	return len(names) > 0
}
