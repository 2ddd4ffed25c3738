package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	_ "github.com/rlprep/rlprep/schema/verl" // has a Python package
)

// TestHubSettings: what is set shows, and not what it is set to.
func TestHubSettings(t *testing.T) {
	set := hubSettings(func(name string) string { return map[string]string{"HF_TOKEN": "x", "HTTPS_PROXY": "y"}[name] })
	if !set.Token || !set.Proxy || set.Endpoint != "https://huggingface.co" {
		t.Errorf("%+v", set)
	}
	if none := hubSettings(func(string) string { return "" }); none.Token || none.Proxy || none.Offline {
		t.Errorf("%+v", none)
	}
}

// TestDoctorPage fits one screen, whatever the paths are called.
func TestDoctorPage(t *testing.T) {
	long := "/a/" + strings.Repeat("very long name/", 12)
	version := "1.2.3"
	d := &Diagnosis{Rlprep: Tool{Version: "0.1.0", Go: "go1.26", Platform: "linux/amd64", Commit: "0123456789abcdef", Target: "verl@0.9"},
		System: System{Kernel: "Linux 6.1", CPUs: 64, CPULimit: 7.5, Workers: 8, Memory: 512e9, MemoryLimit: 64e9, MemoryAim: 57e9, OpenFiles: 1024},
		Folder: Folder{Path: long, System: "lustre", Free: 3e12, Abilities: []Ability{{Name: "fsync", Works: true}, {Name: "reflink", Why: "operation not supported"}}},
		Hub:    Hub{Endpoint: "https://huggingface.co", Token: true, Offline: true, Cache: "/c"}, Cache: Cache{Dir: "/k", Entries: 3, Bytes: 5000},
		Project: &Project{File: "../rlprep.yaml", Datasets: 1}, Python: &Python{Path: "/usr/bin/python3", Version: "3.11", Packages: map[string]*string{"pyarrow": &version}}}
	var b bytes.Buffer
	d.Print(&b)
	for _, want := range []string{
		"rlprep    0.1.0, go1.26, linux/amd64, commit 0123456789ab, checks against verl@0.9\n",
		"system    Linux 6.1, 64 CPUs, the cgroup allows 7.5, 8 workers, 1,024 open files\n",
		"memory    512.0 GB, limit of the cgroup 64.0 GB, kept below 57.0 GB\n",
		"          lustre, 3.0 TB free\n          can: fsync\n          cannot: reflink (operation not supported)\n",
		"hub       https://huggingface.co, token set, proxy not set, cache /c (cannot be written), offline\n",
		"cache     /k, 3 files kept, 5.0 kB\nproject   ../rlprep.yaml, 1 data set\n",
		"python    /usr/bin/python3, 3.11, pyarrow 1.2.3\n          without verl, datasets, pandas, polars, duckdb, huggingface_hub\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("not found: %s\nin\n%s", want, b.String())
		}
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > pageWidth && !strings.Contains(line, long) {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if len(lines) > 24 {
		t.Errorf("%d lines", len(lines))
	}
	none := &Diagnosis{Folder: Folder{Free: -1}, Hub: Hub{Fault: "no URL"}}
	b.Reset()
	none.Print(&b)
	for _, want := range []string{"memory    size not known, no limit of a cgroup, GOMEMLIMIT not set\n", "hub       no URL\n", "cache     off\n", "project   no rlprep.yaml here or above\n", "python    none on the PATH\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("not found: %s\nin\n%s", want, b.String())
		}
	}
}

// TestTryFolder: what every file system can do is found, and nothing stays behind.
func TestTryFolder(t *testing.T) {
	dir := t.TempDir()
	f := tryFolder(dir)
	works := map[string]bool{}
	for _, a := range f.Abilities {
		works[a.Name] = a.Works
		if a.Works == (a.Why != "") || strings.Contains(a.Why, dir) {
			t.Errorf("%+v", a)
		}
	}
	if !works["rename over a file"] || !works["fsync"] || len(f.Abilities) != len(trials)+len(systemTrials) {
		t.Errorf("%+v", f.Abilities)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Log("SKIPPED a folder that cannot be written: the rights of this user do not show it")
		return
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if f := tryFolder(dir); len(f.Abilities) != 1 || f.Abilities[0].Works || f.Abilities[0].Why == "" {
		t.Errorf("%+v", f.Abilities)
	}
}

// TestAskPython: one that answers, and those that do not.
func TestAskPython(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs of this test are shell scripts")
	}
	script := func(text string) string {
		name := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct{ text, want string }{
		{`echo '{"path": "/p", "version": "3.9", "packages": {"pyarrow": "1", "verl": null}}'`, ""},
		{"echo hello", "gave an answer that is not understood"},
		{"echo broken >&2; exit 3", "exit status 3: broken"},
		{"sleep 60", "gave no answer within 300ms"},
	} {
		p := askPython(t.Context(), script(c.text), 300*time.Millisecond)
		if p.Fault != c.want {
			t.Errorf("%s: %q, want %q", c.text, p.Fault, c.want)
		}
		if c.want == "" && (p.Path != "/p" || p.Version != "3.9" || *p.Packages["pyarrow"] != "1" || p.Packages["verl"] != nil) {
			t.Errorf("%+v", p)
		}
	}
	if p := askPython(t.Context(), "no-such-python", time.Second); p.Fault == "" || p.Path != "no-such-python" {
		t.Errorf("%+v", p)
	}
	t.Setenv("PATH", t.TempDir())
	if p := askPython(t.Context(), "", time.Second); p != nil {
		t.Errorf("%+v", p)
	}
}
