package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/project"
)

// lintLaunches are the launches that lint judges together with the data.
type lintLaunches struct {
	configs    []string
	flags      launchFlags
	checkPaths bool
}

func (l *lintLaunches) register(f *pflag.FlagSet) {
	f.StringArrayVar(&l.configs, "config", nil, "launch script or .yaml to check together with the data; without FILES, its own data; repeatable")
	f.BoolVar(&l.checkPaths, "check-paths", false, "files that a launch names and that are not here are errors")
	l.flags.register(f)
}

// lintProject is the project's file that a run of lint keeps to.
type lintProject struct {
	name string // that is asked for; "": the one found
	none bool

	file *project.File // nil: there is none
}

func (p *lintProject) register(f *pflag.FlagSet) {
	f.StringVar(&p.name, "project", "", "project file (default: "+project.FileName+" in the current folder or a parent, up to the root of the repository)")
	f.BoolVar(&p.none, "no-project", false, "use no project file")
}

// lintFix is what lint fixes.
type lintFix struct {
	on     bool
	diff   bool
	unsafe bool
	agent  string
	backup string

	changes *int // files that would change, with diff; one counter for all data sets
}

func (x *lintFix) register(f *pflag.FlagSet) {
	f.BoolVar(&x.on, "fix", false, "apply the safe fixes in place, and report what remains")
	f.BoolVar(&x.unsafe, "unsafe-fixes", false, "with --fix or --diff: also apply fixes that change values or remove rows")
	f.BoolVar(&x.diff, "diff", false, "show what --fix would change, and write nothing")
	f.StringVar(&x.backup, "backup", "", "with --fix: "+backupUsage)
	f.StringVar(&x.agent, "agent", "", "with --fix or --diff: the agent loop for rows without one")
}

// active reports whether anything is to be fixed or shown.
func (x *lintFix) active() bool { return x.on || x.diff }

// String is what was asked for, as it stands in a manifest.
func (x *lintFix) String() string {
	words := []string{"lint --fix"}
	if x.unsafe {
		words = append(words, "--unsafe-fixes")
	}
	if x.agent != "" {
		words = append(words, "--agent "+x.agent)
	}
	return strings.Join(words, " ")
}

// lintBaseline is the baseline that a run of lint keeps to or writes.
type lintBaseline struct {
	name  string // "": none
	write bool

	known check.Known
}

func (b *lintBaseline) register(f *pflag.FlagSet) {
	f.StringVar(&b.name, "baseline", "", "file of known findings: report only new ones (more than it counts for a rule, column and file)")
	f.BoolVar(&b.write, "write-baseline", false, "write the findings to the file of --baseline (or of "+project.FileName+")")
}

// A lintCache is the cache of one run.
type lintCache struct {
	off   bool
	store *check.Cache
}

func (c *lintCache) register(f *pflag.FlagSet) {
	f.BoolVar(&c.off, "no-cache", false, "read all rows, and store nothing for the next run")
}

func (c *lintCache) close() { c.store.Close() }
