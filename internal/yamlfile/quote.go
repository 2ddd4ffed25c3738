package yamlfile

import (
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema"
)

// Quote writes text as YAML takes it whatever is in it, safe to show on a terminal.
func Quote(s string) string { return string(escape.JSON(schema.AppendQuoted(nil, s))) }
