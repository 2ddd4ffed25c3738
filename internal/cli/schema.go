package cli

import (
	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipefile"
	"github.com/rlprep/rlprep/internal/project"
)

func newSchema(a *app) *cobra.Command {
	kinds := []string{"pipeline", "config"}
	return &cobra.Command{
		Use:   "schema pipeline|config",
		Short: "print the JSON Schema of pipeline files or of rlprep.yaml, for editors",
		Long: `Prints the JSON Schema of pipeline files, which 'rlprep run' reads (pipeline), or of rlprep.yaml (config). Editors use it to
complete keys and to mark errors. With the YAML language server the first line of a file names it:

  # yaml-language-server: $schema=rlprep.schema.json`,
		Example: `  rlprep schema pipeline > pipeline.schema.json
  rlprep schema config > rlprep.schema.json
  check-jsonschema --schemafile <(rlprep schema config) rlprep.yaml`,
		Args:        exactArgs("pipeline or config"),
		Annotations: exits(ExitClean, ExitUsage),
		ValidArgs:   kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			switch args[0] {
			case "config":
				return printJSON(a.stdout, project.JSONSchema())
			case "pipeline":
				s, err := pipefile.JSONSchema()
				if err != nil {
					return err
				}
				return printJSON(a.stdout, s)
			}
			return misuse.Unknown("schema", args[0], kinds)
		},
	}
}
