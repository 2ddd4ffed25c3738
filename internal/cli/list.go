package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/catalog"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
)

func newList(a *app) *cobra.Command {
	var asJSON bool
	var names []string
	for _, l := range catalog.Listings {
		names = append(names, l.Name)
	}
	cmd := &cobra.Command{
		Use:   "list " + strings.Join(names, "|"),
		Short: "list the recipes, transforms or rules",
		Long: `Lists the recipes (each converts a published dataset), the transforms (each changes rows in one way), or the rules (each
finds one fault, with its level for the newest version of its trainer). 'rlprep explain NAME' describes one.`,
		Example: `  rlprep list recipes
  rlprep list rules
  rlprep list rules --json | jq -r '.[].id'`,
		Args:        exactArgs(strings.Join(names, "|")),
		ValidArgs:   names,
		Annotations: exits(ExitClean, ExitUsage),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, l := range catalog.Listings {
				if l.Name != args[0] {
					continue
				}
				if asJSON {
					return printJSON(a.stdout, l.JSON())
				}
				return escape.Table(a.stdout, l.Rows())
			}
			return misuse.Unknown("kind of thing", args[0], names)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of objects, with all that explain shows")
	return cmd
}
