package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// exitsKey is the annotation that holds the statuses a command can end with.
const exitsKey = "exits"

// helpWidth is the width of help in columns.
const helpWidth = 120

// exits says which statuses a command can end with, for its help.
func exits(codes ...int) map[string]string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = strconv.Itoa(c)
	}
	return map[string]string{exitsKey: strings.Join(words, " ")}
}

// printHelp writes the help of cmd: usage, what it does, examples, commands, flags, exit status.
func printHelp(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "Usage: %s\n\n", usageLine(cmd))
	if text := strings.TrimSpace(cmd.Long); text != "" {
		fmt.Fprintf(w, "%s\n", text)
	} else {
		fmt.Fprintf(w, "%s\n", cmd.Short)
	}
	if text := strings.Trim(cmd.Example, "\n"); text != "" {
		fmt.Fprintf(w, "\nEXAMPLES\n%s\n", text)
	}
	printCommands(w, cmd)
	if flags := cmd.LocalFlags().FlagUsagesWrapped(helpWidth); flags != "" {
		fmt.Fprintf(w, "\nFLAGS\n%s", flags)
	}
	if flags := cmd.InheritedFlags().FlagUsagesWrapped(helpWidth); flags != "" {
		fmt.Fprintf(w, "\nFLAGS OF EVERY COMMAND\n%s", flags)
	}
	printExits(w, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun '%s COMMAND --help' for more on a command.\n", cmd.CommandPath())
	}
}

func usageLine(cmd *cobra.Command) string {
	line := cmd.Use
	if cmd.HasParent() {
		line = cmd.Parent().CommandPath() + " " + line
	}
	if cmd.HasAvailableFlags() {
		line += " [flags]"
	}
	return line
}

func printCommands(w io.Writer, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	fmt.Fprintf(w, "\nCOMMANDS\n")
	width := 0
	for _, c := range cmd.Commands() {
		width = max(width, len(c.Name()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(w, "  %-*s  %s\n", width, c.Name(), c.Short)
		}
	}
}

func printExits(w io.Writer, cmd *cobra.Command) {
	words := strings.Fields(cmd.Annotations[exitsKey])
	if !cmd.HasParent() {
		words = nil
		for code := range exitTexts {
			words = append(words, strconv.Itoa(code))
		}
		slices.SortFunc(words, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	}
	if len(words) == 0 {
		return
	}
	fmt.Fprintf(w, "\nEXIT STATUS\n")
	for _, word := range words {
		code, _ := strconv.Atoi(word)
		fmt.Fprintf(w, "  %3d  %s\n", code, exitTexts[code])
	}
}

// newHelp is the command help: cobra's own prints usage for a name it does not know and ends with status 0.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "show the help of a command",
		Long:  "Shows the help of a command, as its flag --help does.",
		Example: `  rlprep help
  rlprep help explain
  rlprep help completion bash`,
		Annotations: exits(ExitClean, ExitUsage),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic := cmd.Root()
			for _, name := range args {
				i := slices.IndexFunc(topic.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
				if i < 0 {
					return unknownCommand(name, commandNames(topic))
				}
				topic = topic.Commands()[i]
			}
			printHelp(cmd.OutOrStdout(), topic)
			return nil
		},
	}
}

// describeCompletion adds cobra's command completion, described in our words.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		cmd.Use = "completion SHELL"
		cmd.Short = "write the completion script for a shell"
		cmd.Long = "Writes the script that completes commands, flags and names for a shell. Its help says where the script goes."
		cmd.Example = `  rlprep completion bash --help
  source <(rlprep completion bash)
  rlprep completion fish > ~/.config/fish/completions/rlprep.fish`
		cmd.Annotations = exits(ExitClean, ExitUsage)
		for _, shell := range cmd.Commands() {
			shell.Short = "write the completion script for " + shell.Name()
			shell.Annotations = cmd.Annotations
		}
	}
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
