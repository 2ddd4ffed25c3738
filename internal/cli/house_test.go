package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

const module = "github.com/rlprep/rlprep/"

// A goPackage is what "go list -json" says of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
}

// goList returns the packages of the module.
func goList(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Standard,Imports", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// A depguard is a rule of .golangci.yml about the imports of one folder.
type depguard struct {
	Files []string `yaml:"files"`
	Mode  string   `yaml:"list-mode"`
	Allow []string `yaml:"allow"`
}

// importRules returns the rules by folder, "internal/cli".
func importRules(t *testing.T) map[string]depguard {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]depguard `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	rules := map[string]depguard{}
	for name, r := range config.Linters.Settings.Depguard.Rules {
		dir := strings.TrimSuffix(strings.TrimPrefix(r.Files[0], "**/"), "/*.go")
		if r.Mode != "strict" || rules[dir].Mode != "" {
			t.Errorf(".golangci.yml: rule %s: not strict, or a second one for %s", name, dir)
		}
		rules[dir] = r
	}
	return rules
}

// allows reports whether the rule lets path be imported: "$gostd" is the standard library, a "$" at the end asks for the
// very path, anything else allows what begins with it.
func (d depguard) allows(path string) bool {
	return slices.ContainsFunc(d.Allow, func(a string) bool {
		switch {
		case a == "$gostd":
			return !strings.Contains(strings.Split(path, "/")[0], ".")
		case strings.HasSuffix(a, "$"):
			return path == strings.TrimSuffix(a, "$")
		}
		return strings.HasPrefix(path, a)
	})
}

// TestImports holds the order of imports that .golangci.yml writes down: every package of ours has a rule there, and imports
// nothing that it does not allow.
func TestImports(t *testing.T) {
	rules := importRules(t)
	present := map[string]bool{}
	for _, p := range goList(t) {
		dir := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(dir, "testdata/") || strings.Contains(dir, "/testdata/") {
			continue
		}
		present[dir] = true
		rule, ok := rules[dir]
		if !ok {
			t.Errorf("%s: no rule in .golangci.yml says what it may import", dir)
			continue
		}
		for _, path := range p.Imports {
			if !rule.allows(path) {
				t.Errorf("%s imports %s, which .golangci.yml does not allow it: imports go one way", dir, path)
			}
		}
	}
	for dir := range rules {
		if _, err := os.Stat(filepath.Join(root(t), dir)); errors.Is(err, fs.ErrNotExist) {
			t.Errorf(".golangci.yml has a rule for %s, which is not there", dir)
		}
	}
	if len(present) < 8 {
		t.Errorf("only %d packages seen", len(present))
	}
}

// TestPlugins: of ours, only internal/cli imports the trainers' rules, and only it, internal/catalog and internal/recipe the recipes, so that they stay plug-ins; only
// internal/parquetio imports the Parquet library; nothing imports the old path of Arrow, or what links gRPC.
func TestPlugins(t *testing.T) {
	only := map[string]string{
		module + "datasets":                      "internal/cli internal/catalog internal/recipe",
		module + "schema/hf":                     "internal/cli",
		module + "schema/verl":                   "internal/cli",
		"github.com/parquet-go/parquet-go":       "internal/parquetio/encoding",
		"github.com/apache/arrow/go/":            "(nobody)",
		"github.com/apache/arrow-go/v18/parquet": "(nobody)",
	}
	for _, p := range goList(t) {
		dir := strings.TrimPrefix(p.ImportPath, module)
		for _, path := range p.Imports {
			for prefix, who := range only {
				if strings.HasPrefix(path, prefix) && !slices.Contains(strings.Fields(who), dir) && !strings.HasPrefix(p.ImportPath, prefix) {
					t.Errorf("%s imports %s; only %s may", dir, path, who)
				}
			}
		}
	}
}

// TestNames refuses folders and files that say nothing, and exported names without a comment that begins with them.
func TestNames(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "manager", "impl", "misc"}
	for _, p := range goList(t) {
		if slices.Contains(empty, filepath.Base(p.ImportPath)) {
			t.Errorf("%s: a name that says nothing", p.ImportPath)
		}
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			base := strings.TrimSuffix(filepath.Base(name), ".go")
			if slices.Contains(empty, base) {
				t.Errorf("%s: a name that says nothing", name)
			}
			if strings.HasSuffix(base, "_test") {
				continue
			}
			for _, fault := range undocumented(t, name) {
				t.Error(fault)
			}
		}
	}
}

// TestOpens: what a run reads is opened by infile, which waits for no other process. The files here open directories, or what they made.
func TestOpens(t *testing.T) {
	allowed := []string{"internal/overwrite/overwrite.go", "internal/shard/owner_unix.go", "internal/doctor/trial.go", "internal/doctor/folder_linux.go", "internal/machine/limits_linux.go"}
	for _, p := range goList(t) {
		dir := strings.TrimPrefix(p.ImportPath, module)
		if dir == "internal/infile" || strings.HasSuffix(dir, "test") || !strings.HasPrefix(dir, "internal/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(allowed, dir+"/"+filepath.Base(name)) {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"os.Open(", "os.ReadFile("} {
				if strings.Contains(string(text), call) {
					t.Errorf("%s/%s: %s: open what is read by internal/infile", dir, filepath.Base(name), call)
				}
			}
		}
	}
}

// TestFilesOneWay: among the files of these packages references go one way, so that each can be read after those that it stands on.
func TestFilesOneWay(t *testing.T) {
	for _, dir := range []string{"internal/build", "internal/check", "internal/cli", "internal/doctor", "internal/edit", "internal/fix", "internal/input", "internal/output",
		"internal/pipeline", "internal/project"} {
		arrows := fileArrows(t, filepath.Join(root(t), dir))
		if len(arrows) < 3 {
			t.Errorf("%s: only %d files seen", dir, len(arrows))
		}
		if circle := circleIn(arrows); circle != nil {
			t.Errorf("%s: the files refer to one another in a circle: %s", dir, strings.Join(circle, ", "))
		}
	}
}

// fileArrows returns for each file of a package the files whose declarations it uses, with one such declaration.
func fileArrows(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: noImports{}, Error: func(error) {}} // what is imported is unknown, and of no interest
	self, _ := check.Check(dir, set, files, info)
	arrows := map[string]map[string]string{}
	for _, name := range pkg.GoFiles {
		arrows[name] = map[string]string{}
	}
	for id, used := range info.Uses {
		from, to := filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(used.Pos()).Filename)
		if used.Pkg() == self && used.Pos().IsValid() && from != to {
			arrows[from][to] = used.Name()
		}
	}
	return arrows
}

// noImports imports every package as an empty one.
type noImports struct{}

// Import implements types.Importer.
func (noImports) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// circleIn returns the files of a circle as "a.go uses X of b.go", nil where there is none: what uses nothing that is left is taken away until
// nothing changes.
func circleIn(arrows map[string]map[string]string) (circle []string) {
	left := maps.Clone(arrows)
	for again := true; again; {
		again = false
		for from, to := range left {
			uses := 0
			for name := range to {
				if left[name] != nil {
					uses++
				}
			}
			if uses == 0 {
				delete(left, from)
				again = true
			}
		}
	}
	for from, to := range left {
		for name, what := range to {
			if left[name] != nil {
				circle = append(circle, fmt.Sprintf("%s uses %s of %s", from, what, name))
			}
		}
	}
	slices.Sort(circle)
	return circle
}

// TestPackagesAreDescribed: docs/design.md names each folder of internal/ and of schema/ that holds code, and no other.
func TestPackagesAreDescribed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.SplitN(line, "|", 3); len(cells) == 3 && cells[0] == "" {
			for _, m := range regexp.MustCompile("`((?:internal|schema)/[\\w/]+)/`").FindAllStringSubmatch(cells[1], -1) {
				named[m[1]] = true
			}
		}
	}
	for _, top := range []string{"internal", "schema"} {
		entries, err := os.ReadDir(filepath.Join(root(t), top))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if folder := top + "/" + e.Name(); e.IsDir() && e.Name() != "testdata" && !named[folder] {
				t.Errorf("docs/design.md does not describe %s", folder)
			}
		}
	}
	for folder := range named {
		if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(folder))); err != nil {
			t.Errorf("docs/design.md describes %s, which does not exist", folder)
		}
	}
}

// TestRoad: each function that docs/design.md names behind a link to a file is declared in that file.
func TestRoad(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range regexp.MustCompile("\\]\\(\\.\\./([\\w/]+\\.go)\\)(?:[^`\\[.]*`(\\w+)`)?").FindAllStringSubmatch(string(text), -1) {
		code, err := os.ReadFile(filepath.Join(root(t), m[1]))
		if err != nil {
			t.Errorf("docs/design.md: %v", err)
			continue
		}
		if m[2] == "" {
			continue
		}
		seen++
		if !regexp.MustCompile(`(?m)^(func (\(\w* ?\*?\w+\) )?|type |\t)` + m[2] + `\b`).Match(code) {
			t.Errorf("docs/design.md: %s is not declared in %s", m[2], m[1])
		}
	}
	if seen < 15 {
		t.Errorf("only %d functions seen", seen)
	}
}

// The search finds a circle, and none where there is none.
func TestCircleIn(t *testing.T) {
	arrows := map[string]map[string]string{"a.go": {"b.go": "x"}, "b.go": {"c.go": "y"}, "c.go": {}, "d.go": {"a.go": "z"}}
	if got := circleIn(arrows); got != nil {
		t.Errorf("no circle: %v", got)
	}
	arrows["c.go"] = map[string]string{"a.go": "w"}
	if got := circleIn(arrows); !slices.Contains(got, "c.go uses w of a.go") {
		t.Errorf("a circle: %v", got)
	}
}

// undocumented returns a line for each exported declaration of the file that has no comment, or one that does not name it.
func undocumented(t *testing.T, name string) (faults []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	fault := func(at token.Pos, what string) {
		faults = append(faults, fmt.Sprintf("%s: exported %s has no comment that begins with its name", set.Position(at), what))
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && !names(d.Doc, d.Name.Name) {
				fault(d.Pos(), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if ok && s.Name.IsExported() && !names(d.Doc, s.Name.Name) && !names(s.Doc, s.Name.Name) {
					fault(s.Pos(), s.Name.Name)
				}
				if v, ok := spec.(*ast.ValueSpec); ok && v.Names[0].IsExported() && d.Doc == nil && v.Doc == nil && v.Comment == nil {
					fault(v.Pos(), v.Names[0].Name)
				}
			}
		}
	}
	return faults
}

// exportedReceiver reports whether d is a function, or a method of an exported type other than those whose comment stands
// at the interface they fulfil.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	if slices.Contains([]string{"Error", "Unwrap", "String", "Close", "ExitCode", "Less", "Len", "Swap"}, d.Name.Name) {
		return false
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// names reports whether the comment begins with name, an article before it or not, or names several things in its first
// sentence.
func names(doc *ast.CommentGroup, name string) bool {
	if doc == nil {
		return false
	}
	first, _, _ := strings.Cut(doc.Text(), "\n")
	return slices.Contains(strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune(" ,.:;", r) }), name)
}

// The reader of rules is right about what they allow.
func TestDepguardAllows(t *testing.T) {
	d := depguard{Allow: []string{"$gostd", module + "schema$", "github.com/spf13"}}
	for path, want := range map[string]bool{
		"fmt": true, "encoding/json": true, module + "schema": true, module + "schema/rule": false,
		"github.com/spf13/cobra": true, "golang.org/x/term": false,
	} {
		if d.allows(path) != want {
			t.Errorf("%s: got %v", path, !want)
		}
	}
}
