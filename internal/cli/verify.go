package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/shard"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR",
		Short: "hash the files of a data set and compare them with its manifest",
		Long: `Reads every shard that DIR/manifest.json names and compares size, sha256, rows and row groups. It reports shards that are
missing, differ or are named twice, and Parquet files in DIR that the manifest does not name.`,
		Example: `  rlprep verify out/
  rlprep verify /data/gsm8k && sbatch train.sh
  rlprep verify --quiet out/`,
		Args:        exactArgs("DIR"),
		Annotations: exits(ExitClean, ExitFindings, ExitUsage, ExitFile),
		RunE: func(_ *cobra.Command, args []string) error {
			m, diffs, err := shard.Verify(args[0])
			if err != nil {
				return withCode(ExitFile, noManifest(args[0], err))
			}
			for _, d := range diffs {
				escape.Fprintf(a.stdout, "%s: %s\n", cmp.Or(d.Name, `""`), d.Message)
			}
			if len(diffs) > 0 {
				return errFindings
			}
			if !a.quiet {
				escape.Fprintf(a.stdout, "%s: %d files as the manifest says, dataset_sha256 %s\n", args[0], len(m.Shards), m.DatasetSHA256)
			}
			return nil
		},
	}
}

// noManifest is err, or says why there is no manifest to read.
func noManifest(dir string, err error) error {
	info, serr := os.Stat(dir)
	switch {
	case errors.Is(serr, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such folder", dir)
	case serr == nil && !info.IsDir():
		return fmt.Errorf("%s is a file: name the folder of a data set", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s has no %s: only folders that preprocess, run or map wrote can be verified; 'rlprep lint %s' checks any data", dir, shard.ManifestName, dir)
	}
	return err
}
