package overwrite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func write(t interface{ Fatal(...any) }, name string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestReplaced: another program replaces an input by rename, and the number of the old file comes back as that of an output. Here the old file itself
// is kept under the output's name, since no system promises which number it gives next.
func TestReplaced(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "in")
	var g Guard
	if err := g.Read("FILES", "in", "in"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("in", "manifest"); err != nil {
		t.Fatal(err)
	}
	write(t, "in")
	if err := g.Write("add", "manifest"); err != nil {
		t.Errorf("an output with the number of what was replaced: %v", err)
	}
	write(t, "link/in")
	if err := errors.Join(os.Remove("link/in"), os.Link("in", "link/in"), g.Read("FILES", "in", "in")); err != nil {
		t.Fatal(err)
	}
	if err := g.Write("-o", "link/in"); err == nil {
		t.Error("a hard link to the new input is taken as output")
	}
}

func TestGuard(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "in")
	write(t, "other")
	write(t, "dir/below/in")
	for _, c := range []struct {
		name    string
		declare func(g *Guard) error
		says    string // "": it is allowed
	}{
		{"output after input", func(g *Guard) error { return errors.Join(g.Read("--source", "in", "in"), g.Write("-o", "./in")) }, "-o ./in would overwrite in"},
		{"input after output", func(g *Guard) error { return errors.Join(g.Write("-o", "./in"), g.Read("--source", "in", "in")) }, "-o ./in would overwrite in"},
		{"another file", func(g *Guard) error { return errors.Join(g.Read("--source", "in", "in"), g.Write("-o", "other")) }, ""},
		{"read twice", func(g *Guard) error { return errors.Join(g.Read("--source", "in", "in"), g.Read("FILES", "in", "in")) }, ""},
		{"two outputs of one file", func(g *Guard) error { return errors.Join(g.Write("--rejects", "new"), g.Write("-o", "dir/../new")) }, "--rejects new and -o dir/../new are the same file"},
		{"one output said twice", func(g *Guard) error { return errors.Join(g.Write("-o", "new"), g.Write("-o", "new")) }, ""},
		{"a device twice", func(g *Guard) error { return errors.Join(g.Write("--rejects", os.DevNull), g.Write("-o", os.DevNull)) }, ""},
		{"a folder that holds the input", func(g *Guard) error {
			return errors.Join(g.Folder("-o", "dir"), g.Read("--source", "dir/below/in", "dir/below/in"))
		}, "-o dir would replace the folder that holds dir/below/in"},
		{"a folder said later", func(g *Guard) error {
			return errors.Join(g.Read("--source", "dir/below/in", "dir/below/in"), g.Folder("-o", "./dir"))
		}, "-o ./dir would replace the folder that holds dir/below/in"},
		{"a folder beside", func(g *Guard) error {
			return errors.Join(g.Read("--source", "in", "in"), g.Folder("-o", "dir"), g.Folder("-o", "none"))
		}, ""},
		{"added to an input", func(g *Guard) error { return errors.Join(g.Read("--source", "in", "in"), g.Append("SUMMARY", "in")) }, "SUMMARY in would overwrite in"},
		{"added to what is added to", func(g *Guard) error { return errors.Join(g.Append("SUMMARY", "new"), g.Append("LOG", "new")) }, ""},
		{"an input that does not exist", func(g *Guard) error {
			return errors.Join(g.Read("--source", "none", "none"), g.Write("-o", "dir/../none"))
		}, "-o dir/../none would overwrite none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.declare(&Guard{})
			var conflict *Conflict
			switch {
			case c.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says) || !errors.As(err, &conflict) || conflict.ExitCode() != 2):
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestStream(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "in")
	f, err := os.OpenFile("in", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var g Guard
	if err := g.Stream("standard output", f); err != nil {
		t.Fatal(err)
	}
	if err := g.Read("FILES", "in", "in"); err == nil || !strings.HasPrefix(err.Error(), "standard output would overwrite in") {
		t.Errorf("got %v", err)
	}
}

func TestWithin(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "dir/in")
	if err := os.Symlink("dir", "link"); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]bool{"dir/new": true, "link/new": true, "dir/a/b/new": true, "new": false, "dirx/new": false, "dir": false, "dir/../new": false} {
		if Within(name, "dir") != want || Within(name, "link") != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
	if !Within("none/a", "./none") || Within("nonesuch/a", "none") {
		t.Error("a folder that does not exist yet")
	}
}

// TestCase runs only where the file system ignores case; elsewhere names that differ in case are two files.
func TestCase(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "in")
	_, err := os.Stat("IN")
	var g Guard
	if err := errors.Join(g.Write("-o", "new"), g.Read("--source", "in", "in")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"IN", "NEW"} {
		if refused := g.Write("--rejects", name) != nil; refused != (err == nil) {
			t.Errorf("%s: refused %v, the file system ignores case %v", name, refused, err == nil)
		}
	}
}

// TestAnyWay makes folders, links and links to links, and asks about random ways to files: the guard refuses just where the system says that both
// are the same file.
func TestAnyWay(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "d/b", "d/e/c"} {
		write(t, name)
	}
	for link, to := range map[string]string{"l": "a", "d/m": "../l", "x": "d", "d/e/up": "../..", "h2": "nowhere", "d/s": "x"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link("d/b", "hard"); err != nil {
		t.Skip(err)
	}
	parts := rapid.SampledFrom([]string{"d", "e", "x", "up", ".", "..", "d/e", "d/e/up"})
	rapid.Check(t, func(t *rapid.T) {
		name := func(what string) string {
			p := rapid.SliceOfN(parts, 0, 4).Draw(t, what)
			return strings.Join(append(p, rapid.SampledFrom([]string{"a", "b", "c", "l", "m", "hard"}).Draw(t, what+" file")), "/")
		}
		in, out := name("in"), name("out")
		a, err := os.Stat(in)
		if err != nil || !a.Mode().IsRegular() {
			t.Skip()
		}
		b, err := os.Stat(out)
		want := err == nil && os.SameFile(a, b)
		var g Guard
		if got := errors.Join(g.Read("i", in, in), g.Write("o", out)) != nil; got != want {
			t.Fatalf("%s and %s: refused %v, the same file %v", in, out, got, want)
		}
	})
}
