package cli

import (
	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/catalog"
	"github.com/rlprep/rlprep/internal/misuse"
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
		RunE: func(_ *cobra.Command, args []string) error {
			text, object := catalog.Explain(args[0])
			switch {
			case text == nil:
				return misuse.Unknown("rule, recipe or transform", args[0], catalog.Names())
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
