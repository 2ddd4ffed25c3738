// Command gen writes what rlprep knows of verl's configuration: schema/verl/configs/VERSION.json.gz, from the configuration trees of the
// releases and from their wheels.
//
//	pip download verl==0.9.1 --no-deps -d WHEELS     # and the other releases below
//	go run ./schema/verl/gen -trees TREES -wheels WHEELS -out schema/verl/configs
//
// TREES has a folder for each release with the files of its verl/trainer/config. Of the wheels it reads the configurations of the
// experimental trainers, and which program has which configuration.
package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/internal/launch"
	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema/rule"
)

// releases are those that stand for the versions. A file that a second release alone has is added: 0.7.0 was the last with
// fsdp_sft_trainer.
var releases = []struct{ version, release, also string }{
	{"0.5", "0.5.0", ""}, {"0.6", "0.6.1", ""}, {"0.7", "0.7.1", "0.7.0"}, {"0.8", "0.8.0", ""}, {"0.9", "0.9.1", ""},
}

const (
	tree = "verl/trainer/config"
	base = tree + "/ppo_trainer"
)

// table is the content of a file.
type table struct {
	Release string
	Files   map[string]string         // as rule.Configs has them
	Mains   map[string]string         // as rule.Configs has them
	Values  map[string]map[string]any // of each file of Mains: its values by key, as they stand
}

func main() {
	trees := flag.String("trees", "", "folder with a configuration tree for each release")
	wheels := flag.String("wheels", "", "folder with verl's wheels")
	out := flag.String("out", "schema/verl/configs", "folder to write to")
	flag.Parse()
	for _, r := range releases {
		if err := write(*trees, *wheels, *out, r.version, r.release, r.also); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// write makes the table of one version.
func write(trees, wheels, out, version, release, also string) error {
	t := &table{Release: release, Files: map[string]string{}, Mains: map[string]string{}, Values: map[string]map[string]any{}}
	if also != "" {
		if err := t.wheel(wheels, also); err != nil {
			return err
		}
		if err := t.folder(filepath.Join(trees, also), func(name string) bool { return slices.Contains(slices.Collect(maps.Values(t.Mains)), name) }); err != nil {
			return err
		}
	}
	if err := t.folder(filepath.Join(trees, release), func(string) bool { return true }); err != nil {
		return err
	}
	if err := t.wheel(wheels, release); err != nil {
		return err
	}
	t.values()
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	fmt.Printf("%s: %d files, %d programs, %d bytes\n", release, len(t.Files), len(t.Mains), b.Len())
	return os.WriteFile(filepath.Join(out, version+".json.gz"), b.Bytes(), 0o644)
}

// folder reads the files of a tree.
func (t *table) folder(dir string, want func(name string) bool) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".yaml" || strings.HasPrefix(d.Name(), "_generated_") {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name := path.Join(tree, strings.TrimSuffix(filepath.ToSlash(rel), ".yaml"))
		if !want(name) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return t.add(name, text)
	})
}

// mainOf finds the configuration of a program.
var mainOf = regexp.MustCompile(`(?m)^@hydra\.main\(config_path="([^"]+)", config_name="([^"]+)"`)

// wheel reads the programs of a release, and the configurations outside the tree.
func (t *table) wheel(dir, release string) error {
	found, err := filepath.Glob(filepath.Join(dir, "verl-"+release+"-*.whl"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("%s: no wheel of verl %s", dir, release)
	}
	z, err := zip.OpenReader(found[0])
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "verl/") {
			continue
		}
		switch ext := path.Ext(f.Name); {
		case ext == ".py", ext == ".yaml" && strings.Contains(f.Name, "/config/") && !strings.HasPrefix(f.Name, tree):
			text, err := readMember(f)
			if err != nil {
				return err
			}
			if ext == ".yaml" {
				if err := t.add(strings.TrimSuffix(f.Name, ".yaml"), text); err != nil {
					return err
				}
			} else if m := mainOf.FindSubmatch(text); m != nil {
				module := strings.ReplaceAll(strings.TrimSuffix(f.Name, ".py"), "/", ".")
				t.Mains[module] = path.Join(path.Dir(f.Name), string(m[1]), string(m[2]))
			}
		}
	}
	return nil
}

func readMember(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// add keeps a file without its comments.
func (t *table) add(name string, text []byte) error {
	doc, err := yamlfile.ParseConfig(name, text)
	if err != nil {
		return err
	}
	var b strings.Builder
	if first, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(first, "# @package ") {
		b.WriteString(first + "\n")
	}
	writeJSON(&b, doc)
	t.Files[name] = b.String()
	return nil
}

// writeJSON writes a value as JSON, which is YAML, with its keys in their order.
func writeJSON(b *strings.Builder, n *yamlfile.Node) {
	if n == nil {
		b.WriteString("{}")
		return
	}
	switch n.Kind {
	case yamlfile.Map:
		sign := byte('{')
		for _, e := range n.Keys {
			b.WriteByte(sign)
			sign = ','
			b.WriteString(strconv.Quote(e.Name) + ": ")
			writeJSON(b, e.Value)
		}
		if sign == '{' {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case yamlfile.List:
		b.WriteByte('[')
		for i, e := range n.List {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, e)
		}
		b.WriteByte(']')
	default:
		b.WriteString(plainText(n.Plain))
	}
}

func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprint(v)
}

// values composes the file of each program.
func (t *table) values() {
	o := launch.Options{Configs: &rule.Configs{Files: t.Files, Mains: t.Mains, Base: base}, Version: "verl " + t.Release}
	for module, name := range t.Mains {
		if t.Values[name] != nil {
			continue
		}
		c := launch.NewCommand([]string{"python3", "-m", module}, "/nonexistent")
		cfg := launch.Compose(&c, o)
		for _, p := range cfg.Problems {
			panic(module + ": " + p.Text)
		}
		out := map[string]any{}
		for _, key := range cfg.Leaves() {
			out[key] = jsonOf(cfg.Raw(key).Any())
		}
		t.Values[name] = out
	}
}

// jsonOf writes whole floats so that they read as floats again.
func jsonOf(v any) any {
	if n, ok := v.(*big.Int); ok {
		return json.Number(n.String())
	}
	return hydra.JSONValue(v)
}
