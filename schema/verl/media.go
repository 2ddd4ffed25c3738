package verl

import (
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A medium is a column of media and the tag that stands for one of them in a message.
type medium struct {
	column   schema.Path
	tag      string
	versions string // in which verl reads it
}

// media are what RLHFDataset puts into messages (rl_dataset.py, _build_messages).
var media = []medium{{"images", "<image>", ""}, {"videos", "<video>", ""}, {"audios", "<audio>", ">=0.8"}}

// mediaRead says which of media the target's version reads.
func mediaRead(t rule.Target) (read [3]bool) {
	for i, m := range media {
		read[i] = t.Within(m.versions)
	}
	return read
}

// mediaReads are the contents, and of each medium a leaf that is cheap to read, or its column where there is none.
func mediaReads(p *rule.Pass) []schema.Path {
	if kindOf(p.Schema, promptContent) != schema.Text {
		return nil // RL106
	}
	paths := []schema.Path{promptContent}
	for _, m := range media {
		leaf := firstLeaf(p.Schema, m.column)
		if leaf == "" {
			leaf = m.column
		}
		paths = append(paths, leaf)
	}
	return paths
}

// counts are the numbers of tags and of media in a row.
type counts struct{ tags, media [3]int }

// count reads a row through mediaReads.
func count(r schema.Row, wanted [3]bool) (c counts) {
	content := r.At(0)
	for i := range media {
		if v := r.At(i + 1); v.Kind() == schema.List {
			c.media[i] = v.Len()
		}
	}
	for i := range content.Len() {
		text := content.Elem(i).Text()
		if strings.IndexByte(text, '<') < 0 {
			continue
		}
		for k, m := range media {
			if wanted[k] {
				c.tags[k] += strings.Count(text, m.tag)
			}
		}
	}
	return c
}

// any reports whether the row has media.
func (c counts) any() bool { return c.media != [3]int{} }
