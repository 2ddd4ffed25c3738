package doctor

import (
	"io"
	"unicode/utf8"

	"github.com/rlprep/rlprep/internal/escape"
)

// pageWidth is the width of doctor's lines. A line with a longer word is wider.
const pageWidth = 100

// A page prints lines of a label and what is said of it.
type page struct{ w io.Writer }

// line prints words, which are cut into lines between them.
func (p page) line(label string, words ...string) {
	const indent = 10
	at := indent
	escape.Fprintf(p.w, "%-*s", indent, label)
	for i, word := range words {
		word = escape.Text(word)
		if i < len(words)-1 {
			word += ","
		}
		n := utf8.RuneCountInString(word)
		if at > indent && at+1+n > pageWidth {
			escape.Fprintf(p.w, "\n%*s", indent, "")
			at = indent
		}
		if at > indent {
			escape.Fprintf(p.w, " ")
			at++
		}
		escape.Fprintf(p.w, "%s", word)
		at += n
	}
	escape.Fprintln(p.w)
}
