package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/rlprep/rlprep/internal/killpoint"
)

// TestMain lets scripts and tests run the tool as "rlprep", and looks for goroutines left behind after the tests.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"rlprep": func() {
		killpoint.Enable()
		main()
	}})
}

type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	os.Setenv("RLPREP_CACHE", "off") // no test writes to the user's cache; scripts have an environment of their own
	code := l.m.Run()
	if released != "" {
		os.RemoveAll(released)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			return 1
		}
	}
	return code
}

// TestScript runs testdata/script: the tool as users run it. Beside testscript's own there are
//
//	exits N CMD…  runs CMD, which has to end with status N
//	like FILE     what the last command wrote to stdout, then to stderr, is FILE, but for times, rates, memory and platform
//	$HF_ENDPOINT  a Hub on this machine that has the sample as openai/gsm8k, in Parquet and, as owner/lines, in JSON Lines
//	$HOSTILE      testdata/parquet/hostile: files that were made to break readers, or that few readers know
//	[shared]      the shared data is there; $SHARED is its directory
func TestScript(t *testing.T) {
	shared := sharedData()
	endpoint := sampleHub(t)
	hostile, err := filepath.Abs(filepath.Join("..", "..", "testdata", "parquet", "hostile"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SHARED", shared)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("HOSTILE", hostile)
			e.Setenv("HF_ENDPOINT", endpoint)
			e.Setenv("HF_HOME", filepath.Join(e.WorkDir, "hf"))
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "shared" && shared != "", nil },
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "like": like},
	})
}

// sharedData returns the directory of the data that is not part of the repository, "" where it is absent.
func sharedData() string {
	dir := os.Getenv("RLPREP_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err != nil {
		return ""
	}
	return dir
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N CMD…")
	}
	status := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(status); got != args[0] {
		ts.Fatalf("%s ended with status %s, want %s\n%s%s", args[1], got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func like(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: like FILE")
	}
	got, want := steady(ts.ReadFile("stdout")+ts.ReadFile("stderr")), steady(ts.ReadFile(args[0]))
	if (got == want) == neg {
		ts.Fatalf("%s: got (times, rates and memory as #)\n%s\nwant\n%s", args[0], got, want)
	}
}

// volatile is what differs from run to run and machine to machine.
var volatile = regexp.MustCompile(`\d[\d,.]*( ?(ms|µs|min|s)\b| rows/s)|peak memory [\d.]+ [kMG]i?B|go1\.[\w.]+|\b(linux|darwin|windows)/\w+`)

// steady returns s with what is volatile as "#", and with the line ends of this system's.
func steady(s string) string {
	if runtime.GOOS == "windows" {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return strings.TrimRight(volatile.ReplaceAllString(s, "#"), "\n") + "\n"
}
