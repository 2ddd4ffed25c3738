package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema/rule"
)

// The elements of JUnit's report that CI systems read: one suite a dataset, one case a rule that looked.
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

var _ = add(Format{Name: "junit", Place: 10, For: "test reports", Entry: "a test case for each dataset and rule that looked at it, failed or passed", write: writeJUnit})

// writeJUnit is a test case for each dataset and rule that looked at it, those that found nothing too. Findings below the failing
// level do not fail their case; they stand in its output.
func writeJUnit(w io.Writer, r *result) error {
	all := junitSuites{Name: "rlprep"}
	for _, d := range r.datasets() {
		name := escape.XMLText(d.Name)
		s := junitSuite{Name: name}
		for _, ru := range d.Rules {
			c := junitCase{Name: ru.ID + " " + ru.Name, Class: name}
			c.judge(d.found[ru], r.Fail)
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

// A judged is a dataset with what was found in its files.
type judged struct {
	Dataset
	found map[*rule.Rule][]group
}

// datasets returns the datasets with their findings. Findings in a file of several datasets are those of the first whose rules looked; findings
// in files of no dataset make a dataset of each file.
func (r *result) datasets() []*judged {
	var out []*judged
	by := map[string][]*judged{}
	for _, d := range r.Datasets {
		j := &judged{d, map[*rule.Rule][]group{}}
		out = append(out, j)
		for _, f := range d.Files {
			by[f] = append(by[f], j)
		}
	}
	for _, g := range r.groups {
		var owner *judged
		for _, j := range by[g.Pos.File] {
			if owner == nil && slices.Contains(j.Rules, g.Rule) {
				owner = j
			}
		}
		if owner == nil {
			owner = &judged{Dataset{Name: g.Pos.File, Files: []string{g.Pos.File}}, map[*rule.Rule][]group{}}
			if named := by[g.Pos.File]; len(named) > 0 {
				owner = named[0]
			} else {
				out, by[g.Pos.File] = append(out, owner), []*judged{owner}
			}
			owner.Rules = sortedRules(append(slices.Clone(owner.Rules), g.Rule), nil)
		}
		owner.found[g.Rule] = append(owner.found[g.Rule], g)
	}
	return out
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
		c.Failure.Text = strings.Join(append(append(bad, found[0].remedyLines()...), HelpURL(found[0].Rule)), "\n")
	}
	c.Out = strings.Join(other, "\n")
}

// rules returns the rules that were on, and those that found something, in the order of their ids.
func (r *result) rules() []*rule.Rule {
	return sortedRules(r.Rules, r.groups)
}
