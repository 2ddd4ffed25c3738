package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/schema"
)

// otherCommands are names that other tools have for what our commands do.
var otherCommands = map[string]string{"check": "lint", "validate": "lint", "test": "lint", "fix": "lint --fix", "format": "lint --fix", "convert": "run", "transform": "run",
	"build": "preprocess", "prepare": "preprocess", "show": "inspect", "head": "inspect", "cat": "inspect", "view": "inspect", "print": "inspect", "schema-of": "inspect",
	"compare": "diff", "rules": "list rules", "recipes": "list recipes", "config": "launch", "split": "reshard", "new": "init", "remove": "drop"}

// unknownCommand is the error for a command that is not in names.
func unknownCommand(name string, names []string) error {
	if other := otherCommands[strings.ToLower(name)]; other != "" {
		return misuse.Errorf("unknown command %q; did you mean 'rlprep %s'?", name, other)
	}
	return misuse.Unknown("command", name, names)
}

// otherNames are names that other tools have for our flags.
var otherNames = map[string]string{"format": "output-format", "output": "out", "output-dir": "out", "input": "source", "rule": "select", "exclude": "ignore", "workers": "jobs"}

// parseFault is what package strconv says of a flag's value.
var parseFault = regexp.MustCompile(`: strconv\.\w+: parsing .*`)

// flagError makes a usage error of what the flag parser says, with the nearest flag where one is unknown.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return &misuse.Error{Err: errors.New(parseFault.ReplaceAllString(err.Error(), ": expected a number"))}
	}
	if other := cmd.Flags().Lookup(otherNames[missing.GetSpecifiedName()]); other != nil {
		return misuse.Errorf("unknown flag --%s; did you mean --%s?", missing.GetSpecifiedName(), other.Name)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := schema.Nearest(missing.GetSpecifiedName(), names); near != "" {
		return misuse.Errorf("unknown flag --%s; did you mean --%s?", missing.GetSpecifiedName(), near)
	}
	return misuse.Errorf("unknown flag --%s", missing.GetSpecifiedName())
}
