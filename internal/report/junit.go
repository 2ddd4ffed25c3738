package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema/rule"
)

// The elements of JUnit's report that CI systems read: one suite a file, one case a rule.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

var _ = add(Format{Name: "junit", Place: 9, For: "test reports", Entry: "a test case for each rule and file, failed or passed", write: writeJUnit})

// writeJUnit is a test case for every rule that was on in every file, those that found nothing too. Findings below the failing
// level do not fail their case; they stand in its output.
func writeJUnit(w io.Writer, r *result) error {
	all := junitSuites{Name: "rlprep"}
	byFile := map[string]map[*rule.Rule][]group{}
	files := append([]string(nil), r.Files...)
	for _, f := range files {
		byFile[f] = map[*rule.Rule][]group{}
	}
	for _, e := range r.groups {
		if byFile[e.Pos.File] == nil {
			byFile[e.Pos.File] = map[*rule.Rule][]group{}
			files = append(files, e.Pos.File)
		}
		byFile[e.Pos.File][e.Rule] = append(byFile[e.Pos.File][e.Rule], e)
	}
	for _, f := range files {
		name := escape.XMLText(f)
		s := junitSuite{Name: name}
		for _, ru := range r.rules() {
			c := junitCase{Name: ru.ID + " " + ru.Name, Class: name}
			c.judge(byFile[f][ru], r.Fail)
			s.Tests++
			if c.Failure != nil {
				s.Failures++
			}
			s.Cases = append(s.Cases, c)
		}
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Suites = append(all.Suites, s)
	}
	return encodeXML(w, all)
}

// encodeXML writes v as an indented document that is safe to show.
func encodeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	b, err := xml.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(escape.XML(b), '\n'))
	return err
}

// judge fills in what was found.
func (c *junitCase) judge(found []group, fail rule.Level) {
	var bad, other []string
	for _, e := range found {
		line := strings.TrimSpace(fmt.Sprintf("%s: %s %s", where(e.Pos), what(e.Finding), counted(e)))
		if e.Level < fail {
			other = append(other, e.Level.String()+": "+line)
			continue
		}
		bad = append(bad, line)
		if c.Failure == nil {
			c.Failure = &junitFailure{Type: e.Level.String(), Message: what(e.Finding)}
		}
	}
	if c.Failure != nil {
		c.Failure.Text = strings.Join(append(bad, "help: "+help(found[0].Rule, found[0].Pos.Path), HelpURL(found[0].Rule)), "\n")
	}
	c.Out = strings.Join(other, "\n")
}

// rules returns the rules that were on, and those that found something, in the order of their ids.
func (r *result) rules() []*rule.Rule {
	return sortedRules(r.Rules, r.groups)
}
