package cli

import (
	"cmp"
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
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/lintcache"
	"github.com/rlprep/rlprep/internal/project"
)

// A diagnosis is what doctor prints: what a bug report should say of the machine. It holds no secrets.
type diagnosis struct {
	Rlprep  toolVersion  `json:"rlprep"`
	System  systemInfo   `json:"system"`
	Folder  folderInfo   `json:"folder"`
	Hub     hubInfo      `json:"hub"`
	Cache   cacheInfo    `json:"cache"`
	Project *projectInfo `json:"project"` // null: there is none
	Python  *pythonInfo  `json:"python"`  // null: there is none
}

// A systemInfo is the machine and what the process may use of it; sizes are in bytes, 0 where there is no limit or nothing is known.
type systemInfo struct {
	Kernel      string  `json:"kernel,omitempty"`
	CPUs        int     `json:"cpus"`
	CPULimit    float64 `json:"cpu_limit"`    // of the cgroup
	Workers     int     `json:"workers"`      // that run at once
	Memory      int64   `json:"memory"`       // of the machine
	MemoryLimit int64   `json:"memory_limit"` // of the cgroup
	MemoryAim   int64   `json:"memory_aim"`   // below which the collector stays
	OpenFiles   uint64  `json:"open_files"`
}

// A folderInfo says what the file system of a folder can do.
type folderInfo struct {
	Path      string    `json:"path"`
	System    string    `json:"file_system,omitempty"`
	Free      int64     `json:"free"` // bytes; -1: not known
	Abilities []ability `json:"abilities"`
}

// An ability is one thing that a file system can do or not.
type ability struct {
	Name  string `json:"name"`
	Works bool   `json:"works"`
	Why   string `json:"why,omitempty"` // where it does not
}

type hubInfo struct {
	Endpoint string `json:"endpoint,omitempty"`
	Token    bool   `json:"token"` // whether one is set
	Offline  bool   `json:"offline"`
	Proxy    bool   `json:"proxy"` // whether one is set
	Cache    string `json:"cache,omitempty"`
	Writable bool   `json:"cache_writable"`
	Fault    string `json:"fault,omitempty"`
}

type cacheInfo struct {
	Dir     string `json:"dir"` // "": off
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
}

type projectInfo struct {
	File     string `json:"file"`
	Datasets int    `json:"datasets"`
	Fault    string `json:"fault,omitempty"`
}

func newDoctor(a *app) *cobra.Command {
	var asJSON bool
	var python string
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "say what a bug report should say of this machine",
		Long: `Prints one screen about the machine: versions, limits of memory, CPUs and open files, what the file system of DIR (default:
here) can do, the Hub's settings, the lint cache, and the Python packages that read our files. Nothing is sent, tokens are
not shown, and what is written to try DIR is removed.`,
		Example: `  rlprep doctor
  rlprep doctor /data/out
  rlprep doctor --json --python .venv/bin/python`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			d, err := diagnose(cmd.Context(), dir, python)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, d)
			}
			d.print(a.stdout)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object")
	cmd.Flags().StringVar(&python, "python", "", "the Python to ask for its packages (default: python3 or python on the PATH)")
	return cmd
}

func diagnose(ctx context.Context, dir, python string) (*diagnosis, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, usagef("%s: not a folder", dir)
	}
	d := &diagnosis{Rlprep: thisVersion(), System: thisSystem(), Folder: tryFolder(dir), Hub: hubSettings(os.Getenv), Cache: cacheState(), Project: projectState()}
	d.Python = askPython(ctx, python, pythonPatience)
	return d, ctx.Err()
}

func thisSystem() systemInfo {
	s := systemInfo{Kernel: kernel(), CPUs: runtime.NumCPU(), CPULimit: cpuLimit(os.DirFS("/")), Workers: runtime.GOMAXPROCS(0), Memory: memoryOfMachine(os.DirFS("/")), OpenFiles: openFiles()}
	if n := memoryLimit(os.DirFS("/")); n < math.MaxInt64 {
		s.MemoryLimit = n
	}
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 { // -1 only asks
		s.MemoryAim = n
	}
	return s
}

// hubSettings are what the environment says of the Hub; getenv is os.Getenv, but for tests.
func hubSettings(getenv func(string) string) hubInfo {
	c, err := hub.New(getenv)
	if err != nil {
		text := err.Error()
		if v := getenv("HF_ENDPOINT"); v != "" { // it may hold a password
			text = strings.ReplaceAll(text, v, "…")
		}
		return hubInfo{Fault: text}
	}
	defer c.Close()
	h := hubInfo{Token: c.Token != "", Offline: c.Offline, Cache: c.Cache, Writable: writable(c.Cache)}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		h.Proxy = h.Proxy || getenv(name) != ""
	}
	if u, err := url.Parse(c.Endpoint); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		h.Endpoint = u.String()
	}
	return h
}

// writable reports whether files can be made in dir, or in the nearest folder above it that is there.
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

func cacheState() cacheInfo {
	c := cacheInfo{Dir: cacheDir()}
	if _, err := os.Stat(c.Dir); c.Dir == "" || err != nil {
		return c
	}
	if store, err := lintcache.Open(c.Dir, check.CacheLimit); err == nil {
		c.Entries, c.Bytes = store.Size()
	}
	return c
}

func projectState() *projectInfo {
	var p lintProject
	name, err := project.Find(".")
	if name == "" && err == nil {
		return nil
	}
	out := &projectInfo{File: name}
	if err = cmp.Or(err, p.open(&app{}, func(string) bool { return false })); err != nil {
		out.Fault, _, _ = strings.Cut(err.Error(), "\n")
		return out
	}
	out.Datasets = len(p.file.Datasets)
	return out
}

// doctorWidth is the width of doctor's lines, where what stands in them allows.
const doctorWidth = 100

// A doctorPage prints lines of a label and what is said of it.
type doctorPage struct{ w io.Writer }

// line prints words, which are cut into lines between them.
func (p doctorPage) line(label string, words ...string) {
	const indent = 10
	at := indent
	escape.Fprintf(p.w, "%-*s", indent, label)
	for i, word := range words {
		word = escape.Text(word)
		if i < len(words)-1 {
			word += ","
		}
		n := utf8.RuneCountInString(word)
		if at > indent && at+1+n > doctorWidth {
			escape.Fprintf(p.w, "\n%*s", indent, "")
			at = indent
		}
		if at > indent {
			escape.Fprintf(p.w, " ")
			at++
		}
		escape.Fprintf(p.w, "%s", word)
		at += n
	}
	escape.Fprintln(p.w)
}

func (d *diagnosis) print(w io.Writer) {
	p := doctorPage{w}
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

func (f *folderInfo) print(p doctorPage) {
	words := []string{f.Path}
	if f.System != "" {
		words = append(words, f.System)
	}
	if f.Free >= 0 {
		words = append(words, amount.Bytes(f.Free)+" free")
	}
	p.line("folder", words...)
	var yes, no []string
	for _, a := range f.Abilities {
		if a.Works {
			yes = append(yes, a.Name)
		} else {
			no = append(no, a.Name+" ("+a.Why+")")
		}
	}
	if len(yes) > 0 {
		yes[0] = "can: " + yes[0]
		p.line("", yes...)
	}
	if len(no) > 0 {
		no[0] = "cannot: " + no[0]
		p.line("", no...)
	}
}

func (h *hubInfo) print(p doctorPage) {
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
