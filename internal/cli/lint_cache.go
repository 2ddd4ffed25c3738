package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/lintcache"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

const (
	// cacheVariable names the folder of the cache, or is cacheOff.
	cacheVariable = "RLPREP_CACHE"
	cacheOff      = "off"
	// cacheLimit is how many bytes the cache has at most: the keys of some ten million rows.
	cacheLimit = 1 << 30
)

// cacheDir returns the folder of the cache, "" where there is to be none.
func cacheDir() string {
	switch dir := os.Getenv(cacheVariable); dir {
	case "":
	case cacheOff:
		return ""
	default:
		return filepath.Join(dir, "lint")
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "rlprep", "lint")
}

// A lintCache is the cache of one run.
type lintCache struct {
	off   bool
	store *lintcache.Store
	tool  string
}

// cacheClock is when a file must have been changed before to be kept; a test has it run ahead.
var cacheClock = time.Now

func (c *lintCache) register(f *pflag.FlagSet) {
	f.BoolVar(&c.off, "no-cache", false, "read all rows anew, and keep nothing for the next run")
}

// open opens the cache for a run that reads rows. Without one, rows are read.
func (c *lintCache) open(l *lint) {
	dir := cacheDir()
	if c.off || dir == "" || l.schemaOnly || l.limit > 0 {
		return
	}
	c.tool = toolIdentity()
	if store, err := lintcache.Open(dir, cacheLimit); err == nil && c.tool != "" {
		c.store = store
	} else if l.verbose && err != nil {
		fmt.Fprintf(l.app.stderr, "no cache: %v\n", err)
	}
}

func (c *lintCache) close() {
	if c.store != nil {
		c.store.Close()
	}
}

// toolIdentity tells this program from others that may find other things: its file, since a version that is being worked on is many programs.
func toolIdentity() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(self)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", version(), info.Size(), info.ModTime().UnixNano())
}

// of returns the cache for the files of a set that are judged by these rules; nil: none.
func (c *lintCache) of(set *source.Set, rules []*rule.Rule, env *rule.Env) pipeline.Cache {
	if c.store == nil {
		return nil
	}
	options := fmt.Sprintf("%s\n%s %s %q %q %t %t\n", c.tool, env.Target, env.Rows, env.KnownAgents, env.KnownSources, env.CheckPaths, env.Lookup != nil)
	for _, r := range rules {
		options += r.ID + " "
	}
	return &setCache{store: c.store, files: set.Files(), options: options, now: cacheClock()}
}

// A setCache is the cache of the files of one set, as the pipeline wants it.
type setCache struct {
	store   *lintcache.Store
	files   []*source.File
	options string
	now     time.Time
}

// key is all that what is kept of a file depends on: the file, what it is called, and the options. It is "" where the file cannot be known
// again; settled says that a later change of it would show.
func (c *setCache) key(file int) (key string, settled bool) {
	f := c.files[file]
	stamp, settled := f.Stamp(c.now)
	if stamp == "" {
		return "", false
	}
	return fmt.Sprintf("%q %q %q %s\n%s\n%s", f.Name, f.Split, f.Format, absolute(f.Name), stamp, c.options), settled
}

// Load implements pipeline.Cache.
func (c *setCache) Load(file, size int, each func(marks []byte)) pipeline.Kept {
	key, _ := c.key(file)
	if key == "" {
		return nil
	}
	if e := c.store.Load(key, size, each); e != nil {
		return e
	}
	return nil
}

// Create implements pipeline.Cache.
func (c *setCache) Create(file int) pipeline.Keeper {
	key, settled := c.key(file)
	if key == "" || !settled {
		return nil
	}
	if w := c.store.Create(key); w != nil {
		return w
	}
	return nil
}
