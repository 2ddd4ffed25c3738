package check

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/lintcache"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema/rule"
)

// CacheLimit is how many bytes the cache has at most: the keys of some ten million rows.
const CacheLimit = 1 << 30

const (
	// CacheVariable names the folder of the cache in the environment, or is "off".
	CacheVariable = "RLPREP_CACHE"
	cacheOff      = "off"
)

// CacheDir returns the folder of the cache, "" where there is to be none.
func CacheDir() string {
	switch dir := os.Getenv(CacheVariable); dir {
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

// A Cache keeps what was found in files between runs. nil keeps nothing.
type Cache struct {
	store *lintcache.Store
	tool  string
	now   func() time.Time // files that changed after this are not kept
}

// OpenCache opens the cache in dir for this version of the tool. now is the clock that changes of files are compared with.
func OpenCache(dir, version string, now func() time.Time) (*Cache, error) {
	tool := toolIdentity(version)
	if tool == "" {
		return nil, fmt.Errorf("find the program's own file")
	}
	store, err := lintcache.Open(dir, CacheLimit)
	if err != nil {
		return nil, err
	}
	return &Cache{store, tool, now}, nil
}

// Close closes the cache. A nil Cache has nothing to close.
func (c *Cache) Close() {
	if c != nil {
		c.store.Close()
	}
}

// toolIdentity distinguishes this program from others that may find other things: its file, since a version that is being worked on is many programs.
func toolIdentity(version string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(self)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", version, info.Size(), info.ModTime().UnixNano())
}

// of returns the cache for the files of a set that are judged by these rules; nil: none.
func (c *Cache) of(set *source.Set, rules []*rule.Rule, env *rule.Env, trust bool) judge.Cache {
	if c == nil {
		return nil
	}
	options := fmt.Sprintf("%s\n%s %s %q %q %t %t %t\n", c.tool, env.Target, env.Rows, env.KnownAgents, env.KnownSources, env.CheckPaths, env.Launch != nil, trust)
	for _, r := range rules {
		options += r.ID + " "
	}
	return &setCache{store: c.store, files: set.Files(), options: options, now: c.now()}
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
	return fmt.Sprintf("%q %q %q %s\n%s\n%s", f.Name, f.Split, f.Format, source.Absolute(f.Name), stamp, c.options), settled
}

// Load implements judge.Cache.
func (c *setCache) Load(file, size int, each func(marks []byte)) judge.CachedFile {
	key, _ := c.key(file)
	if key == "" {
		return nil
	}
	if e := c.store.Load(key, size, each); e != nil {
		return e
	}
	return nil
}

// Create implements judge.Cache.
func (c *setCache) Create(file int) judge.CacheWriter {
	key, settled := c.key(file)
	if key == "" || !settled {
		return nil
	}
	if w := c.store.Create(key); w != nil {
		return w
	}
	return nil
}
