package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/catalog"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
)

func newExplain(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "explain a rule, a recipe or a transform",
		Long: `Explains a rule (by id or name), a recipe or a transform: what it does, what each version of the trainer does with such
data, examples that tests run, and how to fix what a rule finds.`,
		Example: `  rlprep explain RL301
  rlprep explain agent-name-null --json
  rlprep explain gsm8k`,
		Args:        exactArgs("NAME"),
		Annotations: exits(ExitClean, ExitUsage),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, object := catalog.Explain(args[0])
			switch {
			case text == nil:
				return unknownName(args[0], cmd.Root())
			case asJSON:
				return printJSON(a.stdout, object)
			}
			text(a.stdout)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object")
	return cmd
}

// unknownName is the error for a name that is no rule, recipe or transform: it may be a command, or a column that rules are named after.
func unknownName(name string, root *cobra.Command) error {
	if slices.Contains(commandNames(root), name) {
		return misuse.Errorf("%s is a command: 'rlprep %s --help' explains it", name, name)
	}
	var about []string
	part := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, r := range rule.All() {
		if len(part) > 3 && strings.Contains(r.Name, part) && len(about) < maxAbout {
			about = append(about, r.ID+" "+r.Name)
		}
	}
	if len(about) > 0 {
		return misuse.Errorf("unknown rule, recipe or transform %q; rules about it: %s", name, strings.Join(about, ", "))
	}
	return misuse.Unknown("rule, recipe or transform", name, catalog.Names())
}

// maxAbout is how many rules are named that a name may mean.
const maxAbout = 6
