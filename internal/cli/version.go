package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlprep/rlprep/internal/doctor"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema/rule"
)

// release is the version that is being worked on. A release build sets it:
// -ldflags "-X github.com/rlprep/rlprep/internal/cli.release=0.1.0".
var release = "0.1.0-dev"

// version returns the version without a leading v. It stands in manifests and in the footers of the files we write, so it
// does not depend on the state of a checkout: only "go install MODULE@VERSION" and release builds differ from the rest.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Sum != "" && strings.HasSuffix(release, "-dev") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return release
}

func thisVersion() doctor.Tool {
	b := doctor.Tool{Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Target: rule.DefaultTarget().String()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	return b
}

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "show the version",
		Long:  "Shows the version of rlprep, what it was built with, and the trainer that data is checked against by default.",
		Example: `  rlprep version
  rlprep version --json
  rlprep --version`,
		Args:        exactArgs(),
		Annotations: exits(ExitClean, ExitUsage),
		RunE: func(*cobra.Command, []string) error {
			b := thisVersion()
			if asJSON {
				return printJSON(a.stdout, b)
			}
			_, err := escape.Fprintf(a.stdout, "rlprep %s (%s, %s, checks against %s)\n", b.Version, b.Go, b.Platform, b.Target)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object")
	return cmd
}

// printJSON writes v as indented JSON, text unescaped, with a newline.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}
