// Package cli is the command line: flags, help, texts, progress and exit statuses, one file a command. It wires the other packages and is the only
// one that imports the trainers' rules; the recipes it shares with catalog.
package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/infile"
	"github.com/rlprep/rlprep/internal/progress"
)

// commands makes the commands, in the order in which help lists them: the jobs first, then what explains them.
var commands = []func(*app) *cobra.Command{
	newPreprocess,
	newRun,
	newMap,
	newAdd,
	newDrop,
	newRename,
	newSelect,
	newReshard,
	newInit,
	newSchema,
	newLint,
	newInspect,
	newLaunch,
	newVerify,
	newDiff,
	newList,
	newExplain,
	newDoctor,
	newVersion,
}

// Main runs rlprep with the arguments after the program's name and returns its exit status. Results go to stdout; progress,
// logs and errors to stderr. When ctx is cancelled, the run ends early with ExitInterrupted.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := bufio.NewWriterSize(stdout, 64<<10)
	a := &app{ctx: ctx, stdin: infile.Interruptible(ctx, stdin), stdout: escape.NewWriter(out), stderr: escape.NewWriter(stderr), raw: out, screen: stderr, terminal: progress.IsTerminal(stdout)}
	a.remote.quiet, a.remote.screen = &a.quiet, stderr
	defer a.remote.close()
	root := newRoot(a)
	root.SetArgs(args)
	for name, w := range map[string]io.Writer{"standard output": stdout, "standard error": stderr} {
		if f, ok := w.(*os.File); ok {
			if err := a.guard.Stream(name, f); err != nil { // nothing is read yet
				panic(err)
			}
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	if ferr := out.Flush(); err == nil && ferr != nil {
		err = withCode(ExitFile, fmt.Errorf("write to standard output: %w", ferr))
	}
	if err == nil {
		return ExitClean
	}
	code := exitCode(ctx, err)
	printError(a.stderr, cmd.CommandPath(), code, err)
	return code
}

// Help lists the commands in the order that is meant. It is a switch of the whole process.
func init() { cobra.EnableCommandSorting = false }

// newRoot builds the tree of commands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "rlprep COMMAND",
		Short: "prepare and lint datasets for RL training of language models",
		Long: `rlprep prepares datasets for RL training of language models. It streams rows from Parquet or JSON Lines, applies a
recipe, checks what the trainer's agent loop requires, and writes shards.`,
		Example: `  rlprep preprocess gsm8k --demo
  rlprep add agent_name=tool_agent train.parquet -o out/
  rlprep lint train.parquet test.parquet`,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		RunE:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.raw) // help and completion: texts of ours, with tabs
	root.SetErr(a.stderr)
	root.SetVersionTemplate("rlprep {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd.OutOrStdout(), cmd) })
	root.Flags().Bool("version", false, "show the version")
	root.PersistentFlags().BoolP("help", "h", false, "show this help")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no summary on stderr")
	for _, make := range commands {
		root.AddCommand(make(a))
	}
	help := newHelp()
	root.SetHelpCommand(help)
	root.AddCommand(help)
	describeCompletion(root)
	return root
}

// noCommand is what rlprep does without a command that it knows.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		printHelp(cmd.ErrOrStderr(), cmd)
		return &exitError{code: ExitUsage}
	}
	return unknownCommand(args[0], commandNames(cmd))
}
