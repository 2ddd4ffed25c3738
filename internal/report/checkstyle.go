package report

import (
	"encoding/xml"
	"io"

	"github.com/rlprep/rlprep/internal/escape"
)

// The elements of Checkstyle's XML report, which Jenkins' Warnings plugin, reviewdog and many others read.
type (
	checkstyleReport struct {
		XMLName xml.Name         `xml:"checkstyle"`
		Version string           `xml:"version,attr"`
		Files   []checkstyleFile `xml:"file"`
	}
	checkstyleFile struct {
		Name   string            `xml:"name,attr"`
		Errors []checkstyleError `xml:"error"`
	}
	checkstyleError struct {
		Line     int64  `xml:"line,attr"` // 1 where there are no lines
		Column   int    `xml:"column,attr,omitempty"`
		Severity string `xml:"severity,attr"` // error, warning, info, ignore
		Message  string `xml:"message,attr"`
		Source   string `xml:"source,attr"` // readers show what follows the last dot
	}
)

// checkstyleVersion is the version of Checkstyle whose report this is like; readers ignore it, some ask for one.
const checkstyleVersion = "8.0"

var _ = add(Format{Name: "checkstyle", Place: 11, For: "Jenkins, reviewdog", Entry: "an error element under its file; files without a finding are included", write: writeCheckstyle})

// writeCheckstyle is Checkstyle's XML, a file element for each file that was checked, those without a finding too, so that readers
// see what was looked at.
func writeCheckstyle(w io.Writer, r *result) error {
	all := checkstyleReport{Version: checkstyleVersion}
	at := map[string]int{}
	file := func(name string) *checkstyleFile {
		name = fromRoot(name, r.Root)
		i, ok := at[name]
		if !ok {
			i = len(all.Files)
			at[name] = i
			all.Files = append(all.Files, checkstyleFile{Name: escape.XMLText(name)})
		}
		return &all.Files[i]
	}
	for _, f := range r.Files {
		file(f)
	}
	for _, e := range r.groups {
		f := file(e.Pos.File)
		f.Errors = append(f.Errors, checkstyleError{max(e.Pos.Line, 1), max(e.Pos.Column, 0), e.Level.String(), sentence(e), "rlprep." + e.Rule.ID + "-" + e.Rule.Name})
	}
	return encodeXML(w, all)
}
