// Package hf holds what every trainer's loader minds: all of them read files with the library datasets and pyarrow. One file is
// one rule.
package hf

import "github.com/rlprep/rlprep/schema/rule"

// framework is no target: its rules apply to every target.
var framework = rule.Register(rule.Framework{Name: "hf"})
