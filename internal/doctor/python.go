package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rlprep/rlprep/schema/rule"
)

// pythonPackages returns what reads our files, in the order in which doctor prints it: the frameworks, then the libraries.
func pythonPackages() (names []string) {
	for _, f := range rule.Frameworks() {
		if f.Python != "" {
			names = append(names, f.Python)
		}
	}
	return append(names, "datasets", "pyarrow", "pandas", "polars", "duckdb", "huggingface_hub")
}

// pythonPatience is how long a Python may take to answer: on a cold network file system it is slow.
const pythonPatience = 10 * time.Second

// A Python is what a Python says of its packages.
type Python struct {
	Path     string             `json:"path"`
	Version  string             `json:"version,omitempty"`
	Packages map[string]*string `json:"packages,omitempty"` // versions; null: not there
	Fault    string             `json:"fault,omitempty"`
}

// pythonScript prints versions without importing the packages, which would take seconds.
const pythonScript = `import json, sys
try:
    from importlib import metadata
except ImportError:
    metadata = None
def version(name):
    try:
        return metadata.version(name)
    except Exception:
        return None
print(json.dumps({"path": sys.executable, "version": sys.version.split()[0], "packages": {n: version(n) for n in sys.argv[1:]}}))`

// askPython asks the Python that name names for its packages; name "": the one on the PATH, nil where there is none.
func askPython(ctx context.Context, name string, patience time.Duration) *Python {
	var path string
	err := exec.ErrNotFound
	for _, n := range []string{"python3", "python"} {
		if name != "" {
			n = name
		}
		if path, err = exec.LookPath(n); err == nil || name != "" {
			break
		}
	}
	switch {
	case err != nil && name == "":
		return nil
	case err != nil:
		return &Python{Path: name, Fault: reasonOf(err)}
	}
	p := &Python{Path: path}
	if err := p.ask(ctx, patience); err != nil {
		p.Fault = err.Error()
	}
	return p
}

// ask runs the Python in a folder of its own, since it imports what lies in the current one.
func (p *Python) ask(ctx context.Context, patience time.Duration) error {
	path, err := filepath.Abs(p.Path)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rlprep-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"-c", pythonScript}, pythonPackages()...)...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("gave no answer within " + patience.String())
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		text, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		return errors.New(strings.TrimSpace(err.Error() + ": " + text))
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(out, p) != nil {
		return errors.New("gave an answer that is not understood")
	}
	return nil
}

func (p *Python) print(to page) {
	switch {
	case p == nil:
		to.line("python", "none on the PATH")
		return
	case p.Fault != "":
		to.line("python", p.Path, p.Fault)
		return
	}
	words := []string{p.Path, p.Version}
	var missing []string
	for _, name := range pythonPackages() {
		if v := p.Packages[name]; v != nil {
			words = append(words, name+" "+*v)
		} else {
			missing = append(missing, name)
		}
	}
	to.line("python", words...)
	if len(missing) > 0 {
		missing[0] = "without " + missing[0]
		to.line("", missing...)
	}
}
