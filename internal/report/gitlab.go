package report

import (
	"io"

	"github.com/rlprep/rlprep/schema/rule"
)

// The part of Code Climate's format that GitLab's Code Quality report has (GitLab Docs, "Code Quality report format"): an array of
// these, every field required.
type (
	gitlabIssue struct {
		Description string         `json:"description"`
		Check       string         `json:"check_name"`
		Fingerprint string         `json:"fingerprint"`
		Severity    string         `json:"severity"` // info, minor, major, critical, blocker
		Location    gitlabLocation `json:"location"`
	}
	gitlabLocation struct {
		Path  string      `json:"path"` // relative to the repository, without "./"
		Lines gitlabLines `json:"lines"`
	}
	gitlabLines struct {
		Begin int64 `json:"begin"`
	}
)

// gitlabLevels are GitLab's names of our levels.
var gitlabLevels = map[rule.Level]string{rule.Info: "info", rule.Warning: "minor", rule.Error: "major"}

var _ = add(Format{Name: "gitlab", Place: 8, For: "GitLab's Code Quality", Entry: "an issue; its fingerprint is made of rule, level, file and column", write: writeGitLab})

// writeGitLab is a report for GitLab's Code Quality. The fingerprint tells what is new in a merge request from what was there: it is made
// of what stays when rows move or a message is reworded. A finding without a line stands where an annotation of GitHub's would.
func writeGitLab(w io.Writer, r *result) error {
	issues := make([]gitlabIssue, len(r.groups))
	for i, e := range r.groups {
		file, line := anchor(e.Pos, r.Anchor)
		issues[i] = gitlabIssue{
			Description: sentence(e) + " " + tag(e.Finding),
			Check:       e.Rule.ID + " " + e.Rule.Name,
			Fingerprint: fingerprint(e.Rule.ID, e.Level.String(), fromRoot(e.Pos.File, r.Root), string(e.Pos.Path)),
			Severity:    gitlabLevels[e.Level],
			Location:    gitlabLocation{fromRoot(file, r.Root), gitlabLines{line}},
		}
	}
	return encode(w, issues)
}
