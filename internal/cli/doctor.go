package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/doctor"
	"github.com/rlprep/rlprep/internal/misuse"
)

func newDoctor(a *app) *cobra.Command {
	var asJSON bool
	var python string
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "print environment details for a bug report",
		Long: `Prints environment details for a bug report: versions, limits of memory, CPUs and open files, abilities of the file
system of DIR (default: the current folder), settings of the Hub, the lint cache, and the Python packages that read our
files. It sends nothing, shows no tokens, and removes its test files from DIR.`,
		Example: `  rlprep doctor
  rlprep doctor /data/out
  rlprep doctor --json --python .venv/bin/python`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: exits(ExitClean, ExitUsage, ExitFile, ExitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if info, err := os.Stat(dir); err != nil {
				return err
			} else if !info.IsDir() {
				return misuse.Errorf("%s: not a folder", dir)
			}
			d, err := doctor.Examine(cmd.Context(), doctor.Options{Dir: dir, Python: python, Tool: thisVersion()})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, d)
			}
			d.Print(a.stdout)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object")
	cmd.Flags().StringVar(&python, "python", "", "the Python whose packages are listed (default: python3 or python on the PATH)")
	return cmd
}
