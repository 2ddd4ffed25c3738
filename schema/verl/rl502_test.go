package verl

import (
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// TestTagLevel: a tag in a file that has no column for media is a note, for it may be text.
func TestTagLevel(t *testing.T) {
	for column, want := range map[string]rule.Level{"images": rule.Off, "image": rule.Off, "videos": rule.Off, "ability": rule.Info} {
		s := &schema.Schema{Fields: []schema.Field{schema.NewField("prompt", schema.StringType), schema.NewField(column, schema.StringType)}}
		if got := tagLevel(s); got != want {
			t.Errorf("a file with column %s: level %s, want %s", column, got, want)
		}
	}
}
