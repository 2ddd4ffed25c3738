package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/catalog"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A listing is one kind of thing that list shows.
type listing struct {
	name string
	rows func() [][]string // for people
	json func() any        // for scripts
}

var listings = []listing{
	{"recipes", recipeRows, func() any { return catalog.All(datasets.All(), catalog.NewRecipe) }},
	{"transforms", transformRows, func() any { return catalog.All(transform.All(), catalog.NewTransform) }},
	{"rules", ruleRows, func() any { return catalog.All(rule.All(), catalog.NewRule) }},
}

func newList(a *app) *cobra.Command {
	var asJSON bool
	var names []string
	for _, l := range listings {
		names = append(names, l.name)
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
			for _, l := range listings {
				if l.name != args[0] {
					continue
				}
				if asJSON {
					return printJSON(a.stdout, l.json())
				}
				return escape.Table(a.stdout, l.rows())
			}
			return misuse.Unknown("kind of thing", args[0], names)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of objects, with all that explain shows")
	return cmd
}

func recipeRows() (rows [][]string) {
	for _, r := range datasets.All() {
		rows = append(rows, []string{r.Name, r.Rows.String(), cmp.Or(r.Agent, "-"), r.Index, strings.Join(r.Splits, ","), cmp.Or(r.Random, "-"), r.Title})
	}
	return append([][]string{{"NAME", "ROWS", "AGENT", "INDEX", "SPLITS", "RANDOM", "WHAT IT IS"}}, rows...)
}

func transformRows() (rows [][]string) {
	for _, v := range transform.All() {
		rows = append(rows, []string{v.Name, v.Title})
	}
	return rows
}

func ruleRows() (rows [][]string) {
	for _, r := range rule.All() {
		h, _ := r.Severity(catalog.DescribedFor(r))
		rows = append(rows, []string{r.ID, r.Name, h.Level.String(), r.Title})
	}
	return rows
}
