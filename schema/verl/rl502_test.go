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

// TestTagTakesPlace: a tag at either end of a message is the place of an image; one within a sentence may be text.
func TestTagTakesPlace(t *testing.T) {
	for text, want := range map[string]bool{"<image>Find x.": true, " <image>\nFind x.": true, "Find x. <image>": true, "The tag <image> is HTML.": false, "none": false} {
		if got := takesPlace(schema.ListValue([]schema.Value{schema.TextValue("be brief"), schema.TextValue(text)}), "<image>"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
