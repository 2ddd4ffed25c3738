package cli

// The packages whose rules register themselves. Nothing else imports them.
import (
	_ "github.com/rlprep/rlprep/schema/hf"
	_ "github.com/rlprep/rlprep/schema/verl"
)
