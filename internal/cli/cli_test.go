package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/rlprep/rlprep/internal/check"
	"github.com/rlprep/rlprep/internal/misuse"
)

func TestMain(m *testing.M) {
	if os.Getenv("RLPREP_TEST_AS_TOOL") != "" { // see TestFramework of cmd/rlprep
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Setenv("HF_ENDPOINT", "http://127.0.0.1:9") // nothing listens there: no test leaves the machine
	os.Setenv(check.CacheVariable, "off")          // but where a test asks for it
	goleak.VerifyTestMain(m)
}

// long reports whether tests that repeat the same work with other inputs run all of them; without RLPREP_LONG they take some. CI sets it.
func long() bool { return os.Getenv("RLPREP_LONG") != "" }

// rlprep runs the tool and returns its status and what it wrote.
func rlprep(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Main(context.Background(), args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func TestExitCode(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, missing := os.Open("no/such/file")
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{context.Background(), nil, ExitClean},
		{context.Background(), errFindings, ExitFindings},
		{context.Background(), fmt.Errorf("lint: %w", errFindings), ExitFindings},
		{context.Background(), misuse.Errorf("bad"), ExitUsage},
		{context.Background(), errors.New("a fault of ours"), ExitUsage},
		{context.Background(), missing, ExitFile},
		{context.Background(), fmt.Errorf("open source: %w", missing), ExitFile},
		{context.Background(), &os.LinkError{Op: "rename", Old: "a", New: "b", Err: fs.ErrPermission}, ExitFile},
		{context.Background(), fmt.Errorf("write page: %w", syscall.ENOSPC), ExitFile},
		{context.Background(), withCode(ExitFile, errors.New("x.parquet: no footer")), ExitFile},
		{context.Background(), withCode(ExitFile, nil), ExitClean},
		{context.Background(), &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, ExitClean},
		{context.Background(), context.Canceled, ExitUsage}, // nobody interrupted us
		{canceled, fmt.Errorf("read: %w", context.Canceled), ExitInterrupted},
		{canceled, misuse.Errorf("bad"), ExitUsage},
	} {
		if got := exitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
	for _, code := range []int{ExitClean, ExitFindings, ExitUsage, ExitFile, ExitInterrupted} {
		if exitTexts[code] == "" {
			t.Errorf("status %d has no sentence", code)
		}
	}
}

func TestPrintError(t *testing.T) {
	for _, c := range []struct {
		code int
		err  error
		want string
	}{
		{ExitFindings, errFindings, ""},
		{ExitClean, io.ErrClosedPipe, ""},
		{ExitFile, errors.New("x: cannot be read"), "rlprep lint: x: cannot be read\n"},
		{ExitUsage, misuse.Errorf("bad flag"), "rlprep lint: bad flag\nRun 'rlprep lint --help' for usage.\n"},
		{ExitFile, errors.Join(errors.New("one"), errors.New("two")), "rlprep lint: one\nrlprep lint: two\n"},
		{ExitInterrupted, context.Canceled, "rlprep lint: interrupted\n"},
	} {
		var out bytes.Buffer
		if printError(&out, "rlprep lint", c.code, c.err); out.String() != c.want {
			t.Errorf("%v: got %q, want %q", c.err, out.String(), c.want)
		}
	}
}

// A command that is interrupted ends with 130 and says so; one that finished before stays as it ended.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	commands = append(commands, func(*app) *cobra.Command {
		return &cobra.Command{Use: "wait", RunE: func(cmd *cobra.Command, _ []string) error {
			<-cmd.Context().Done()
			return fmt.Errorf("wait: %w", cmd.Context().Err())
		}}
	})
	defer func() { commands = commands[:len(commands)-1] }()
	var out, errs bytes.Buffer
	if got := Main(ctx, []string{"wait"}, nil, &out, &errs); got != ExitInterrupted || errs.String() != "rlprep wait: interrupted\n" {
		t.Errorf("status %d, %q", got, errs.String())
	}
	if got := Main(ctx, []string{"version"}, nil, &out, &errs); got != ExitClean {
		t.Errorf("version: status %d", got)
	}
}

// A reader that has gone away (head) is no error, a full disk is.
func TestClosedStdout(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		text   string
	}{
		{syscall.EPIPE, ExitClean, ""},
		{syscall.ENOSPC, ExitFile, "rlprep version: write to standard output: no space left on device\n"},
	} {
		var errs bytes.Buffer
		status := Main(context.Background(), []string{"version"}, nil, failing{c.err}, &errs)
		if status != c.status || errs.String() != c.text {
			t.Errorf("%v: status %d, %q", c.err, status, errs.String())
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// walk calls f for every command that help shows, the root first.
func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			walk(c, f)
		}
	}
}

// Every command says in its help what it does, shows three examples that name it, and lists the statuses that it can end
// with; every flag has a description.
func TestHelp(t *testing.T) {
	seen := 0
	walk(newRoot(&app{stdout: io.Discard, stderr: io.Discard}), func(cmd *cobra.Command) {
		if cmd.HasParent() && cmd.Parent().Name() == "completion" {
			return // their text is cobra's
		}
		seen++
		name := cmd.CommandPath()
		var out bytes.Buffer
		printHelp(&out, cmd)
		for _, want := range []string{"Usage: " + name, "EXAMPLES", "EXIT STATUS", "    0  success"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: its help has no %q", name, want)
			}
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || strings.ToLower(cmd.Short[:1]) != cmd.Short[:1] {
			t.Errorf("%s: short text %q: no capital, no full stop", name, cmd.Short)
		}
		examples := strings.Split(strings.Trim(cmd.Example, "\n"), "\n")
		if len(examples) != 3 {
			t.Errorf("%s: %d examples, want 3", name, len(examples))
		}
		for _, e := range examples {
			if !strings.HasPrefix(e, "  ") || !strings.Contains(e, name) && cmd.Name() != "version" {
				t.Errorf("%s: example %q", name, e)
			}
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 124 {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
		}
	})
	if seen < len(commands)+2 {
		t.Errorf("%d commands seen", seen)
	}
}

// The three ways to ask for help give the same.
func TestHelpWays(t *testing.T) {
	_, flag, _ := rlprep("explain", "--help")
	_, short, _ := rlprep("explain", "-h")
	status, command, _ := rlprep("help", "explain")
	if status != ExitClean || flag == "" || flag != short || flag != command {
		t.Errorf("status %d; --help %q, -h %q, help %q", status, flag, short, command)
	}
}

func TestColor(t *testing.T) {
	for _, c := range []struct {
		terminal      bool
		noColor, term string
		want          bool
	}{
		{true, "", "xterm", true},
		{true, "1", "xterm", false},
		{true, "", "dumb", false},
		{false, "", "xterm", false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if got := (&app{terminal: c.terminal}).color(); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
