// Package doctor finds out what a bug report should say of a machine, and prints it on one screen. It holds no secrets.
package doctor

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/lintcache"
	"github.com/rlprep/rlprep/internal/machine"
	"github.com/rlprep/rlprep/internal/project"
)

// A Tool is what "rlprep version" says of the program.
type Tool struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Target   string `json:"target"` // what data is checked against by default
}

// A Diagnosis is what doctor prints: what a bug report should say of the machine. It holds no secrets.
type Diagnosis struct {
	Rlprep  Tool     `json:"rlprep"`
	System  System   `json:"system"`
	Folder  Folder   `json:"folder"`
	Hub     Hub      `json:"hub"`
	Cache   Cache    `json:"cache"`
	Project *Project `json:"project"` // null: there is none
	Python  *Python  `json:"python"`  // null: there is none
}

// A System is the machine and what the process may use of it; sizes are in bytes, 0 where there is no limit or nothing is known.
type System struct {
	Kernel      string  `json:"kernel,omitempty"`
	CPUs        int     `json:"cpus"`
	CPULimit    float64 `json:"cpu_limit"`    // of the cgroup
	Workers     int     `json:"workers"`      // that run at once
	Memory      int64   `json:"memory"`       // of the machine
	MemoryLimit int64   `json:"memory_limit"` // of the cgroup
	MemoryAim   int64   `json:"memory_aim"`   // below which the collector stays
	OpenFiles   uint64  `json:"open_files"`
}

// A Hub is what the environment says of the Hub.
type Hub struct {
	Endpoint string `json:"endpoint,omitempty"`
	Token    bool   `json:"token"` // whether one is set
	Offline  bool   `json:"offline"`
	Proxy    bool   `json:"proxy"` // whether one is set
	Cache    string `json:"cache,omitempty"`
	Writable bool   `json:"cache_writable"`
	Fault    string `json:"fault,omitempty"`
}

// A Cache is what lint has kept of earlier runs.
type Cache struct {
	Dir     string `json:"dir"` // "": off
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
}

// A Project is the file that lint would keep to here.
type Project struct {
	File     string `json:"file"`
	Datasets int    `json:"datasets"`
	Fault    string `json:"fault,omitempty"`
}

// Options say what is examined.
type Options struct {
	Dir    string // the folder whose file system is tried; required
	Python string // the Python that is asked for its packages; "": python3 or python on the PATH
	Tool   Tool   // what runs
}

// Examine finds out what a bug report should say. It writes to o.Dir, and removes it again. What it cannot find out is said in the result; its error
// is that of ctx.
func Examine(ctx context.Context, o Options) (*Diagnosis, error) {
	d := &Diagnosis{Rlprep: o.Tool, System: thisSystem(), Folder: tryFolder(o.Dir), Hub: hubSettings(os.Getenv), Cache: cacheState(), Project: projectState(ctx)}
	d.Python = askPython(ctx, o.Python, pythonPatience)
	return d, ctx.Err()
}

func thisSystem() System {
	s := System{Kernel: machine.Kernel(), CPUs: runtime.NumCPU(), CPULimit: machine.CPULimit(os.DirFS("/")), Workers: runtime.GOMAXPROCS(0), Memory: machine.Memory(os.DirFS("/")), OpenFiles: machine.OpenFiles()}
	if n := machine.MemoryLimit(os.DirFS("/")); n < math.MaxInt64 {
		s.MemoryLimit = n
	}
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 { // -1 only asks
		s.MemoryAim = n
	}
	return s
}

// hubSettings are what the environment says of the Hub; getenv is os.Getenv, but for tests.
func hubSettings(getenv func(string) string) Hub {
	c, err := hub.New(getenv)
	if err != nil {
		text := err.Error()
		if v := getenv("HF_ENDPOINT"); v != "" { // it may hold a password
			text = strings.ReplaceAll(text, v, "…")
		}
		return Hub{Fault: text}
	}
	defer c.Close()
	h := Hub{Token: c.Token != "", Offline: c.Offline, Cache: c.Cache, Writable: writable(c.Cache)}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		h.Proxy = h.Proxy || getenv(name) != ""
	}
	if u, err := url.Parse(c.Endpoint); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		h.Endpoint = u.String()
	}
	return h
}

// writable reports whether files can be made in dir, or in the nearest folder above it that exists.
func writable(dir string) bool {
	for {
		f, err := os.CreateTemp(dir, ".rlprep-*")
		if err == nil {
			f.Close()
			return os.Remove(f.Name()) == nil
		}
		up := filepath.Dir(dir)
		if !os.IsNotExist(err) || up == dir {
			return false
		}
		dir = up
	}
}

func cacheState() Cache {
	c := Cache{Dir: check.CacheDir()}
	if _, err := os.Stat(c.Dir); c.Dir == "" || err != nil {
		return c
	}
	if store, err := lintcache.Open(c.Dir, check.CacheLimit); err == nil {
		c.Entries, c.Bytes = store.Size()
	}
	return c
}

func projectState(ctx context.Context) *Project {
	name, err := project.Find(".")
	if name == "" && err == nil {
		return nil
	}
	out := &Project{File: name}
	var file *project.File
	if err == nil {
		file, err = readProject(ctx, name)
	}
	if err != nil {
		out.Fault, _, _ = strings.Cut(err.Error(), "\n")
		return out
	}
	out.Datasets = len(file.Datasets)
	return out
}

func readProject(ctx context.Context, name string) (*project.File, error) {
	text, err := infile.ReadAll(ctx, name)
	if err != nil {
		return nil, err
	}
	return project.Parse(filepath.ToSlash(name), text)
}

// Print writes the diagnosis as a page for people.
func (d *Diagnosis) Print(w io.Writer) {
	p := page{w}
	b, s := d.Rlprep, d.System
	words := []string{b.Version, b.Go, b.Platform}
	if b.Commit != "" {
		words = append(words, "commit "+b.Commit[:min(12, len(b.Commit))])
	}
	p.line("rlprep", append(words, "checks against "+b.Target)...)
	limit := "no limit of a cgroup"
	if s.CPULimit > 0 {
		limit = fmt.Sprintf("the cgroup allows %.3g", s.CPULimit)
	}
	p.line("system", slices.DeleteFunc([]string{s.Kernel, amount.Of(s.CPUs, "CPU"), limit, amount.Of(s.Workers, "worker"), openFilesText(s.OpenFiles)}, func(w string) bool { return w == "" })...)
	p.line("memory", sizeOr(s.Memory, "size not known"), sizeOr(s.MemoryLimit, "no limit of a cgroup", "limit of the cgroup "), sizeOr(s.MemoryAim, "GOMEMLIMIT not set", "kept below "))
	d.Folder.print(p)
	d.Hub.print(p)
	if d.Cache.Dir == "" {
		p.line("cache", "off")
	} else {
		p.line("cache", d.Cache.Dir, fmt.Sprintf("%d files kept", d.Cache.Entries), amount.Bytes(d.Cache.Bytes))
	}
	switch {
	case d.Project == nil:
		p.line("project", "no "+project.FileName+" here or above")
	case d.Project.Fault != "":
		p.line("project", d.Project.Fault)
	default:
		p.line("project", d.Project.File, amount.Of(d.Project.Datasets, "data set"))
	}
	d.Python.print(p)
}

func openFilesText(n uint64) string {
	if n == 0 {
		return ""
	}
	return amount.Thousands(int64(min(n, math.MaxInt64))) + " open files"
}

// sizeOr is a size behind what is said before it, or none where it is 0.
func sizeOr(n int64, none string, before ...string) string {
	if n == 0 {
		return none
	}
	return strings.Join(before, "") + amount.Bytes(n)
}

func (h *Hub) print(p page) {
	if h.Fault != "" {
		p.line("hub", h.Fault)
		return
	}
	words := []string{h.Endpoint, "token " + set(h.Token), "proxy " + set(h.Proxy), "cache " + h.Cache}
	if !h.Writable {
		words[3] += " (cannot be written)"
	}
	if h.Offline {
		words = append(words, "offline")
	}
	p.line("hub", words...)
}

func set(is bool) string {
	if is {
		return "set"
	}
	return "not set"
}
