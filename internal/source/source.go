// Package source finds the files that a user names, says what is in them before a row is read, and reads their rows in
// units. Parquet is read by internal/parquetio; JSON Lines, and JSON that is one array of objects, are read here.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Spec is what a user names. The zero value of each field is its everyday one.
type Spec struct {
	Args      []string   // files, folders, globs (with **), "-" for standard input
	FilesFrom string     // a file of such names, one a line; "-" for standard input; blank lines and lines with # are skipped
	Val       []string   // as Args, but validation data
	Splits    []SplitArg // splits to take, or with Glob what they are made of, from the one folder in Args (or the working directory)
	Layout    []SplitArg // where a recipe's dataset keeps its splits: in a folder where any matches, these count, not its names
	Embedded  []Embedded // files in memory, in place of Args

	// Fields returns the declared columns of a file in a line format; nil: they are inferred from all rows.
	Fields func(name string) []schema.Field

	// Types returns declared columns of a file in a line format; the columns that it lacks are inferred. Fields wins over it. Nil: none is declared.
	Types func(name string) []schema.Field

	// Lenient takes every file for what it is, as lint and edits of single columns do: a folder may mix formats, files
	// that belong to no split are taken too, a file that cannot be opened is left out and named in Set.Errors, and JSON text
	// that no UTF-8 can hold is handed on as it is.
	Lenient bool
	// SkipBroken takes a line of JSON Lines that is no object for a row that cannot be read: readers return it as a fault. Where columns are
	// inferred, File.Broken lists such lines. Without it the first one is an error of the file.
	SkipBroken bool
	Hash       bool      // have SHA256 of line formats computed while they are counted
	Limits     Limits    // of what is held in memory at once
	TempDir    string    // for what must be decompressed first; "": the system's
	Stdin      io.Reader // nil: there is none

	Named  func(name, path string) error // called with every file of this machine that was named, before the first is opened; an error ends Resolve; nil: nobody asks
	Remote Remote                        // finds what begins with RemoteScheme; nil: such names are files like others
	Peek   bool                          // footers are enough: Parquet files that Remote has elsewhere are read in place, and nothing of them is kept
}

// Limits bound what is in memory at once. Zero: the default.
type Limits struct {
	Value int64 // bytes of one value in Parquet; a page may have four times as many
	Line  int64 // bytes of one line in JSON Lines, or of one object in an array
}

// The defaults of Limits.
const (
	DefaultMaxValue = parquetio.DefaultMaxValue
	DefaultMaxLine  = 256 << 20
)

func (l Limits) value() int64 { return cmp.Or(l.Value, DefaultMaxValue) }
func (l Limits) line() int64  { return cmp.Or(l.Line, DefaultMaxLine) }

// An Embedded is a file in memory, Parquet or in a line format. Its name says its split, as those of files do, where Split is "".
type Embedded struct {
	Name  string
	Data  []byte // not copied
	Split string
}

// A Set is the files that a Spec names, open.
type Set struct {
	Splits []Split  // train, validation, test, then others by name; with Layout or globs in Splits, in their order
	Unused []string // files beside the data that belong to no split and were left out; to be told
	Twice  []string // Lenient: files that were named twice and are taken once; to be told
	Errors []error  // Lenient: files that could not be opened
}

// A Split is the files of one split, sorted by their names' bytes.
type Split struct {
	Name  string
	Files []*File
}

// Rows returns the number of rows in all files of the split.
func (s Split) Rows() int64 {
	n := int64(0)
	for _, f := range s.Files {
		n += f.Rows
	}
	return n
}

// Files returns all files, split by split; the Index of each is its place here.
func (s *Set) Files() []*File {
	var out []*File
	for _, split := range s.Splits {
		out = append(out, split.Files...)
	}
	return out
}

// Bytes is the size of all files.
func (s *Set) Bytes() (n int64) {
	for _, f := range s.Files() {
		n += f.Bytes
	}
	return n
}

// Trained returns the files that are trained on. A file is also trained on where it is validation data and train has its path.
func (s *Set) Trained(train []string) (files []*rule.File) {
	for _, f := range s.Files() {
		if !f.Val || slices.Contains(train, f.Path()) {
			files = append(files, f.File)
		}
	}
	return files
}

// UnknownKeys returns the unknown keys of all files, as far as their rows were read.
func (s *Set) UnknownKeys() []UnknownKey {
	var out []UnknownKey
	for _, f := range s.Files() {
		out = append(out, f.UnknownKeys()...)
	}
	return out
}

// Split returns the split of that name, and whether there is one.
func (s *Set) Split(name string) (Split, bool) {
	i := slices.IndexFunc(s.Splits, func(sp Split) bool { return sp.Name == name })
	if i < 0 {
		return Split{}, false
	}
	return s.Splits[i], true
}

// Close closes all files and removes what was spooled.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.Files() {
		errs = append(errs, f.shut())
	}
	return errors.Join(errs...)
}

func (f *File) shut() error {
	var errs []error
	if f.Parquet != nil {
		errs = append(errs, f.Parquet.Close())
	}
	if f.spool != nil {
		f.spool.Close() // read only by now
		if f.named {
			errs = append(errs, os.Remove(f.spool.Name()))
		}
		f.spool = nil
	}
	return errors.Join(errs...)
}

// Resolve finds the files of spec, assigns them to splits and reads their footers, or counts their lines. A file that is
// damaged is a *FormatError; every other error is about what was named.
func Resolve(ctx context.Context, spec Spec) (*Set, error) {
	n := namer{ctx: ctx, spec: &spec}
	found, err := n.all()
	if err != nil {
		return nil, err
	}
	if err := spec.announce(found); err != nil {
		return nil, err
	}
	set := &Set{Unused: n.unused, Twice: n.twice}
	set.Splits = group(found, splitOrder(&spec))
	if err := set.openAll(ctx, &opener{&spec}); err != nil {
		set.Close()
		return nil, err
	}
	set.number()
	return set, nil
}

// Name calls Spec.Named with the files of spec, and opens none.
func Name(ctx context.Context, spec Spec) error {
	n := namer{ctx: ctx, spec: &spec}
	found, err := n.all()
	if err != nil {
		return err
	}
	return spec.announce(found)
}

// announce calls Named.
func (s *Spec) announce(found []candidate) error {
	if s.Named == nil {
		return nil
	}
	for _, c := range found {
		if c.path == "" {
			continue
		}
		if err := s.Named(c.name, c.path); err != nil {
			return err
		}
	}
	return nil
}

// number gives the files their places in the set and their rows those in the split.
func (s *Set) number() {
	for i, f := range s.Files() {
		f.Index = i
	}
	for _, split := range s.Splits {
		first := int64(0)
		for _, f := range split.Files {
			f.SplitRow = first
			first += f.Rows
		}
	}
}

// Divide makes n sets of the files of s: each file goes to the set and the split that of says. What stands in Unused and Errors stays with s,
// which has no files any more.
func (s *Set) Divide(n int, of func(*File) (set int, split string)) []*Set {
	out := make([]*Set, n)
	for i := range out {
		out[i] = &Set{}
	}
	for _, f := range s.Files() {
		at, split := of(f)
		f.Val = f.Val && split == f.Split || split == "validation" || split == "test"
		f.Split = split
		set := out[at]
		i := slices.IndexFunc(set.Splits, func(o Split) bool { return o.Name == split })
		if i < 0 {
			i = len(set.Splits)
			set.Splits = append(set.Splits, Split{Name: split})
		}
		set.Splits[i].Files = append(set.Splits[i].Files, f)
	}
	for _, set := range out {
		slices.SortStableFunc(set.Splits, func(a, b Split) int {
			return cmp.Or(cmp.Compare(splitRank(a.Name), splitRank(b.Name)), strings.Compare(a.Name, b.Name))
		})
		set.number()
	}
	s.Splits = nil
	return out
}

// Join returns the files of several sets as one, each split under the name that name gives it; sets have no files any more. Splits of one name
// become one split.
func Join(sets []*Set, name func(set int, split string) string) *Set {
	out := &Set{}
	for i, s := range sets {
		out.Unused, out.Twice, out.Errors = append(out.Unused, s.Unused...), append(out.Twice, s.Twice...), append(out.Errors, s.Errors...)
		for _, sp := range s.Splits {
			to := name(i, sp.Name)
			at := slices.IndexFunc(out.Splits, func(o Split) bool { return o.Name == to })
			if at < 0 {
				at = len(out.Splits)
				out.Splits = append(out.Splits, Split{Name: to})
			}
			for _, f := range sp.Files {
				f.Split = to
				out.Splits[at].Files = append(out.Splits[at].Files, f)
			}
		}
		s.Splits = nil
	}
	out.number()
	return out
}

// Reopen reads the facts of the files again after they have been replaced. They are local files.
func (s *Set) Reopen(ctx context.Context) error {
	for _, f := range s.Files() {
		if err := f.shut(); err != nil {
			return err
		}
		f.Parquet, f.RowGroups, f.ArrowFault = nil, nil, ""
		if err := (&opener{spec: &Spec{Lenient: true}}).open(ctx, f); err != nil {
			return err
		}
	}
	s.number()
	return nil
}

// splitOrder returns the names of splits whose order was given.
func splitOrder(spec *Spec) []string {
	var out []string
	for _, list := range [][]SplitArg{spec.Splits, spec.Layout} {
		for _, s := range list {
			if s.Glob != "" {
				out = append(out, s.Name)
			}
		}
	}
	return out
}

// group sorts files into splits.
func group(found []candidate, order []string) []Split {
	var out []Split
	for _, c := range found {
		i := slices.IndexFunc(out, func(s Split) bool { return s.Name == c.split })
		if i < 0 {
			i = len(out)
			out = append(out, Split{Name: c.split})
		}
		f := &File{File: &rule.File{Name: c.name, Split: c.split, Val: c.val, Glob: c.glob, Bytes: int64(len(c.memory))}, path: c.path, memory: c.memory, remote: c.remote}
		if f.remote != nil {
			f.Bytes = max(f.remote.Size, 0)
		}
		out[i].Files = append(out[i].Files, f)
	}
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order) + splitRank(name)
	}
	slices.SortFunc(out, func(a, b Split) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), strings.Compare(a.Name, b.Name))
	})
	for _, s := range out {
		slices.SortStableFunc(s.Files, func(a, b *File) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

// openAll opens all files, several at a time. The error returned is that of the first file in order.
func (s *Set) openAll(ctx context.Context, o *opener) error {
	files := s.Files()
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, f := range files {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			errs[i] = o.open(ctx, f)
		}()
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := map[*File]bool{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if !o.spec.Lenient {
			return err
		}
		s.Errors = append(s.Errors, err)
		failed[files[i]] = true
		_ = files[i].shut() // the error that matters is noted
	}
	for i := range s.Splits {
		s.Splits[i].Files = slices.DeleteFunc(s.Splits[i].Files, func(f *File) bool { return failed[f] })
	}
	s.Splits = slices.DeleteFunc(s.Splits, func(sp Split) bool { return len(sp.Files) == 0 })
	return nil
}

// noSource is the error for a Spec that names nothing.
func noSource() error { return fmt.Errorf("no files named") }
