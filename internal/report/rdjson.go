package report

import (
	"io"
	"strings"

	"github.com/rlprep/rlprep/schema"
)

// The part of the Reviewdog Diagnostic Format that we have something for (reviewdog, proto/rdf/reviewdog.proto: DiagnosticResult).
type (
	rdResult struct {
		Source      rdSource       `json:"source"`
		Diagnostics []rdDiagnostic `json:"diagnostics"`
	}
	rdSource struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	rdDiagnostic struct {
		Message  string      `json:"message"`
		Location rdLocation  `json:"location"`
		Severity string      `json:"severity"` // UNKNOWN_SEVERITY, ERROR, WARNING, INFO
		Code     rdCode      `json:"code"`
		Related  []rdRelated `json:"related_locations,omitempty"`
	}
	rdLocation struct {
		Path  string   `json:"path"`
		Range *rdRange `json:"range,omitempty"` // none: the whole file
	}
	rdRange struct {
		Start rdPosition `json:"start"`
	}
	rdPosition struct {
		Line   int64 `json:"line"`
		Column int   `json:"column,omitempty"`
	}
	rdCode struct {
		Value string `json:"value"`
		URL   string `json:"url"`
	}
	rdRelated struct {
		Message  string     `json:"message"`
		Location rdLocation `json:"location"`
	}
)

var _ = add(Format{Name: "rdjson", Place: 12, For: "reviewdog", Entry: "a diagnostic of its format", write: writeRDJSON})

// writeRDJSON is one DiagnosticResult of reviewdog's, which it puts as comments into reviews of GitHub, GitLab, Gerrit and others.
func writeRDJSON(w io.Writer, r *result) error {
	all := rdResult{rdSource{"rlprep", "https://github.com/rlprep/rlprep"}, []rdDiagnostic{}}
	for _, e := range r.groups {
		d := rdDiagnostic{Message: sentence(e), Location: r.rdLocation(e.Pos), Severity: strings.ToUpper(e.Level.String()), Code: rdCode{e.Rule.ID, HelpURL(e.Rule)}}
		for _, p := range e.Related {
			d.Related = append(d.Related, rdRelated{where(p), r.rdLocation(p)})
		}
		all.Diagnostics = append(all.Diagnostics, d)
	}
	return encode(w, all)
}

// rdLocation is where p stands: a line of a text file, else the whole file.
func (r *result) rdLocation(p schema.Pos) rdLocation {
	file, line := p.File, p.Line
	if line < 1 {
		file, _ = anchor(p, r.Anchor)
	}
	out := rdLocation{Path: fromRoot(file, r.Root)}
	if line >= 1 {
		out.Range = &rdRange{rdPosition{line, max(p.Column, 0)}}
	}
	return out
}
