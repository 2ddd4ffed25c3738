package project

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/internal/yamlfile"
	"github.com/rlprep/rlprep/schema/rule"
)

// What a search for data looks at, so that it ends in a home directory, too.
const (
	maxLookDepth = 4
	maxLookFiles = 20000
)

// A foundSplit is files of one split in one folder.
type foundSplit struct {
	split string
	files []string
}

// Draft looks for data below dir and returns the text of a project's file for it. reads is called for every file that it names or looks into, with what
// it is; its error ends the search. Nil: nobody asks. A *misuse.Error says that there is no data.
func Draft(ctx context.Context, dir string, reads func(role, name, path string) error) (string, error) {
	if reads == nil {
		reads = func(string, string, string) error { return nil }
	}
	sets, order, files, err := lookForData(dir)
	if err != nil {
		return "", err
	}
	for _, name := range files {
		if err := reads("data", name, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	if len(order) == 0 {
		return "", misuse.Errorf("no data here whose names say train, val or test (Parquet, JSON Lines): write the data sets into %s by hand; 'rlprep schema config' has its keys", FileName)
	}
	var b strings.Builder
	b.WriteString("# What 'rlprep lint' checks, and as what. Paths are relative to this file's folder. Flags override these settings.\n" +
		"# 'rlprep schema config' prints the JSON Schema for editors; docs/scripting.md describes every key.\n")
	fmt.Fprintf(&b, "target: %s\n", rule.DefaultTarget())
	b.WriteString("# values of data_source that a reward function of yours scores, agent loops that your launch registers\n")
	b.WriteString("# known_sources: [my/dataset]\n# known_agents: [my_agent]\n")
	b.WriteString("# ignore: [RL404]\n")
	b.WriteString("# per_file_ignores:\n#   - {files: data/old/*.parquet, rules: [RL302], reason: evaluated without tools}\n")
	b.WriteString("datasets:\n")
	for _, folder := range order {
		fmt.Fprintf(&b, "  %s:\n", datasetName(folder))
		for _, s := range sets[folder] {
			key := s.split
			if key == "validation" {
				key = "val"
			}
			writeFiles(&b, key, s.files)
		}
		if folder == order[0] {
			if launch := lookForLaunch(ctx, dir, reads); launch != "" {
				fmt.Fprintf(&b, "    # this may be the launch script; lint then checks its settings too\n    # config: %s\n", yamlfile.Quote(launch))
			}
		}
	}
	return b.String(), nil
}

// writeFiles writes the files of a split, as few patterns as say just them.
func writeFiles(b *strings.Builder, key string, files []string) {
	if len(files) == 1 {
		fmt.Fprintf(b, "    %s: %s\n", key, yamlfile.Quote(files[0]))
		return
	}
	fmt.Fprintf(b, "    %s:\n", key)
	for _, f := range files {
		fmt.Fprintf(b, "      - %s\n", yamlfile.Quote(f))
	}
}

// datasetName names a data set after its folder.
func datasetName(folder string) string {
	if folder == "." {
		return "data"
	}
	return yamlfile.Quote(folder)
}

// lookForData finds files of data whose names, or whose folder's, say their split, by the folder that makes a data set of them.
func lookForData(dir string) (sets map[string][]foundSplit, order, files []string, err error) {
	byFolder, err := dataNames(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, names := range byFolder {
		files = append(files, names...)
	}
	sets = map[string][]foundSplit{}
	for _, split := range []string{"train", "validation", "test"} {
		for folder, names := range byFolder {
			var mine []string
			for _, n := range names {
				if source.SplitOfName(path.Join(path.Base(folder), path.Base(n))) == split {
					mine = append(mine, n)
				}
			}
			if len(mine) == 0 {
				continue
			}
			set := Folder(mine[0])
			slices.Sort(mine)
			sets[set] = append(sets[set], foundSplit{split, patterns(oneForm(mine), names)})
		}
	}
	for set := range sets {
		sets[set] = joinSplits(sets[set])
		order = append(order, set)
	}
	slices.Sort(order)
	return sets, order, files, nil
}

// dataNames lists the files below dir that look like data, by folder. What cannot be looked into holds no data of ours.
func dataNames(dir string) (map[string][]string, error) {
	byFolder := map[string][]string{}
	seen := 0
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(dir, name)
		if rerr != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if seen++; seen > maxLookFiles {
			return fs.SkipAll
		}
		hidden := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "__") || e.Name() == "node_modules"
		switch {
		case e.IsDir() && (err != nil || hidden || strings.Count(rel, "/") >= maxLookDepth):
			return fs.SkipDir
		case err == nil && !e.IsDir() && !hidden && isDataName(rel):
			byFolder[path.Dir(rel)] = append(byFolder[path.Dir(rel)], rel)
		}
		return nil
	})
	return byFolder, err
}

// joinSplits joins what different folders have of a split.
func joinSplits(all []foundSplit) (out []foundSplit) {
	for _, s := range all {
		i := slices.IndexFunc(out, func(o foundSplit) bool { return o.split == s.split })
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].files = append(out[i].files, s.files...)
		slices.Sort(out[i].files)
	}
	return out
}

func isDataName(name string) bool {
	return slices.ContainsFunc([]string{".parquet", ".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst"}, func(ext string) bool { return strings.HasSuffix(strings.ToLower(name), ext) })
}

// oneForm leaves the Parquet files where a split is there as JSON Lines, too: they are probably the same rows.
func oneForm(names []string) []string {
	isParquet := func(n string) bool { return strings.HasSuffix(strings.ToLower(n), ".parquet") }
	if !slices.ContainsFunc(names, isParquet) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !isParquet(n) })
}

// patterns returns one pattern where it matches just names among all files of the folder, else the names.
func patterns(names, all []string) []string {
	if len(names) < 2 {
		return names
	}
	first, last := path.Base(names[0]), path.Base(names[len(names)-1]) // sorted: what these have in common all have
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	pattern := path.Join(path.Dir(names[0]), strings.TrimRight(first[:n], "0123456789")+"*"+path.Ext(first))
	for _, name := range all {
		if source.Match(pattern, name) != slices.Contains(names, name) {
			return names
		}
	}
	return []string{pattern}
}

// lookForLaunch returns a script beside the file that seems to start a training of the default framework; "" where there is none.
func lookForLaunch(ctx context.Context, dir string, reads func(role, name, path string) error) string {
	names, _ := filepath.Glob(filepath.Join(dir, "*.sh"))
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue // nobody named it
		}
		if reads("launch script", name, name) != nil {
			continue
		}
		if text, err := infile.ReadAll(ctx, name); err == nil && namesTrainer(text) {
			return filepath.ToSlash(filepath.Base(name))
		}
	}
	return ""
}

// namesTrainer reports whether a script names a module that trains.
func namesTrainer(script []byte) bool {
	p := rule.DefaultTarget().Profile()
	return p != nil && slices.ContainsFunc(p.Modules, func(module string) bool { return bytes.Contains(script, []byte(strings.TrimSuffix(module, "."))) })
}
