// Command serve serves the folders OWNER/NAME below a folder as datasets of a Hub, so that Python's clients can try it:
//
//	serve [-faults N -seed S] FOLDER
//
// It prints what HF_ENDPOINT is to be, and ends when its standard input does. With -faults it misbehaves N times.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rlprep/rlprep/internal/hub/hubtest"
)

func main() {
	faults := flag.Int("faults", 0, "misbehave so many times")
	seed := flag.Uint64("seed", 1, "which faults")
	flag.Parse()
	if err := run(flag.Arg(0), *faults, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(folder string, faults int, seed uint64) error {
	s := hubtest.New()
	defer s.Close()
	repos, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		return err
	}
	for _, dir := range repos {
		files, err := read(dir)
		if err != nil {
			return err
		}
		s.Commit(path.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)), files, "v1")
	}
	rng := rand.New(rand.NewPCG(seed, 8))
	s.Misbehave(func(*http.Request) *hubtest.Fault {
		if faults == 0 || rng.IntN(3) == 0 {
			return nil
		}
		faults--
		return hubtest.Random(rng)
	})
	fmt.Println(s.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	fmt.Println(faults, "faults left")
	return err
}

// read takes the files of a dataset; Parquet is what a Hub keeps in its store.
func read(dir string) (map[string]hubtest.File, error) {
	files := map[string]hubtest.File{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = hubtest.File{Path: p, LFS: strings.HasSuffix(p, ".parquet")}
		return err
	})
	return files, err
}
