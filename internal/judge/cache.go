package judge

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// A Cache stores what rules found in a file, for later runs that only check. An entry that it returns must be for the same rows, the
// same rules in the same order, and an Env that differs in Launch at most: its answers are verified here. It has no influence
// on what a run finds and may forget any entry.
type Cache interface {
	// Load returns the entry of a file, with records of size bytes; nil where there is none. On the way it shows each the marks of
	// the records, 8 bytes each in little-endian order, many at a time, even where it returns nil in the end.
	Load(file, size int, each func(marks []byte)) CachedFile
	// Create begins a new entry for a file; nil: the file is not cached.
	Create(file int) CacheWriter
}

// A CachedFile is the entry of a file: blocks of records, each with a mark, and a head. Its methods may be called from several
// goroutines at once.
type CachedFile interface {
	io.Closer
	Head() []byte
	Blocks() int
	// Marks and Records read those of a block into b, which is made longer if need be.
	Marks(block int, b []byte) ([]byte, error)
	Records(block int, b []byte) ([]byte, error)
}

// A CacheWriter takes the records of a new entry. Commit stores it, with its head; Discard forgets it.
type CacheWriter interface {
	Write(record []byte, mark uint64)
	Commit(head []byte)
	Discard()
}

// ErrCache says that an entry of the Cache turned out to be damaged: the run must be repeated without it.
var ErrCache = errors.New("stored by an earlier run")

// A cachedHead is an entry without its hits. It is not JSON, which would change text that is not UTF-8.
type cachedHead struct {
	Rows     int64
	Answers  map[string]string // of Env.Launch
	Findings []savedEntry
}

// bytes writes the head: the number of rows, and the rest where there is any.
func (h *cachedHead) bytes() ([]byte, error) {
	b := bytes.NewBuffer(binary.AppendVarint(nil, h.Rows))
	if len(h.Answers)+len(h.Findings) == 0 {
		return b.Bytes(), nil
	}
	err := gob.NewEncoder(b).Encode(h)
	return b.Bytes(), err
}

// read reads what bytes wrote.
func (h *cachedHead) read(text []byte) error {
	in := bytes.NewReader(text)
	rows, err := binary.ReadVarint(in)
	if err == nil && in.Len() > 0 {
		err = gob.NewDecoder(in).Decode(h)
	}
	h.Rows = rows
	return err
}

// Caching is the use of a Cache in one run.
type Caching struct {
	cache   Cache
	keys    *Keys
	answers *answers // of Env.Launch; nil: there is none
	open    int      // files of the Cache that are held open
	file    int      // that is being written, from 1; 0: none
	to      CacheWriter
	rows    int64
	found   *Findings
}

// maxOpen is how many files of a Cache are held open; the hits of others are copied.
const maxOpen = 256

// NewCaching returns the use of a Cache by rules, which it changes so that the answers of Env.Launch are noted.
func NewCaching(c Cache, rules *Rules, keys *Keys) *Caching {
	out := &Caching{cache: c, keys: keys}
	if rules.Env.Launch != nil {
		out.answers = &answers{launch: rules.Env.Launch, given: map[string]string{}}
		env := *rules.Env
		env.Launch = out.answers
		rules.Env = &env
	}
	return out
}

// Load takes what is cached of files, in order, and reports which those are. use is called for each of them.
func (c *Caching) Load(files []int, use func(rows int64, found []Entry)) (map[int]bool, error) {
	done := map[int]bool{}
	for some := range slices.Chunk(files, maxOpen) { // so that no more are open at once
		for i, f := range c.loadAll(some) {
			ok, err := c.load(some[i], f, use)
			if err != nil {
				return nil, err
			}
			done[some[i]] = ok
		}
	}
	return done, nil
}

// loadAll loads the entries of files, several at a time.
func (c *Caching) loadAll(files []int) []CachedFile {
	out := make([]CachedFile, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(c.keys.workers, len(files)) {
		wg.Go(func() {
			adder := c.keys.sieve.Adder()
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				out[i] = c.cache.Load(files[i], hitSize, func(marks []byte) {
					for ; len(marks) > 0; marks = marks[8:] {
						if m := binary.LittleEndian.Uint64(marks); m != judgeAlways {
							adder.Add(m) // one too many only means that a key is looked at more closely
						}
					}
				})
			}
			adder.Flush()
		})
	}
	wg.Wait()
	return out
}

// load takes the entry of a file (nil: none) and reports whether it can be used.
func (c *Caching) load(file int, f CachedFile, use func(int64, []Entry)) (bool, error) {
	if f == nil {
		return false, nil
	}
	var head cachedHead
	if err := head.read(f.Head()); err != nil || !c.answers.same(head.Answers) {
		return false, f.Close()
	}
	entries := make([]Entry, len(head.Findings))
	for i, s := range head.Findings {
		var err error
		if entries[i], err = s.entry(); err != nil {
			return false, f.Close()
		}
	}
	use(head.Rows, entries)
	hits := emitted{cached: f, file: file}
	if c.open == maxOpen {
		defer f.Close()
		return true, hits.each(c.keys.spill)
	}
	c.open++
	c.keys.open = append(c.keys.open, f)
	c.keys.emitted = append(c.keys.emitted, hits)
	return true, nil
}

// Add adds what some rows of a file gave; nil: they cannot be cached. Files come one after the other, their rows in order.
func (c *Caching) Add(file int, rows int64, found *Found) {
	if c.file != file+1 {
		c.file, c.to, c.rows, c.found = file+1, c.cache.Create(file), 0, NewFindings()
	}
	if found == nil {
		c.Discard()
	}
	if c.to == nil {
		return
	}
	c.rows += rows
	c.found.Merge(found.Entries)
	for b := range slices.Chunk(found.Hits, hitSize) {
		c.to.Write(b, mark(b, c.keys.singletons))
	}
}

// Commit ends the entry of the file that Add was called for last; unchanged returns an error where that file has changed meanwhile.
func (c *Caching) Commit(unchanged func(file int) error) {
	if c.to == nil {
		return
	}
	head := cachedHead{Rows: c.rows, Answers: c.answers.clone()}
	for _, e := range c.found.Entries {
		head.Findings = append(head.Findings, e.saved())
	}
	text, err := head.bytes()
	if err != nil || unchanged(c.file-1) != nil {
		c.Discard()
		return
	}
	c.to.Commit(text)
	c.to = nil
}

// Discard forgets an entry that was not committed.
func (c *Caching) Discard() {
	if c.to != nil {
		c.to.Discard()
		c.to = nil
	}
}
