package cli

import (
	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/pipefile"
)

func newSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema pipeline",
		Short: "print the JSON Schema of pipeline files, for editors",
		Long: `Prints the JSON Schema of what 'rlprep run' takes. Editors complete keys and steps from it and mark faults; with the YAML
language server the first line of a pipeline names it:

  # yaml-language-server: $schema=pipeline.schema.json`,
		Example: `  rlprep schema pipeline > pipeline.schema.json
  rlprep schema pipeline | jq '.properties | keys'
  check-jsonschema --schemafile <(rlprep schema pipeline) pipeline.yaml`,
		Args:        exactArgs("pipeline"),
		Annotations: exits(ExitClean, ExitUsage),
		ValidArgs:   []string{"pipeline"},
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] != "pipeline" {
				return unknown("schema", args[0], []string{"pipeline"})
			}
			s, err := pipefile.JSONSchema()
			if err != nil {
				return err
			}
			return printJSON(a.stdout, s)
		},
	}
}
