package report

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"crypto/sha256"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// maxResults is how many results GitHub shows of a run; it takes 25,000 (GitHub Docs, "SARIF support for code scanning").
const maxResults = 5000

// The part of SARIF 2.1.0 that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name            string      `json:"name"`
		Version         string      `json:"version,omitempty"`
		InformationURI  string      `json:"informationUri"`
		SemanticVersion string      `json:"semanticVersion,omitempty"`
		Rules           []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string         `json:"id"`
		Name                 string         `json:"name"`
		ShortDescription     sarifText      `json:"shortDescription"`
		FullDescription      sarifText      `json:"fullDescription"`
		Help                 sarifText      `json:"help"`
		HelpURI              string         `json:"helpUri"`
		DefaultConfiguration sarifLevel     `json:"defaultConfiguration"`
		Properties           map[string]any `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		ExecutionSuccessful        bool                `json:"executionSuccessful"`
		ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		RelatedLocations    []sarifLocation   `json:"relatedLocations,omitempty"`
		OccurrenceCount     int64             `json:"occurrenceCount"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		Properties          map[string]any    `json:"properties"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
		Message          *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int64 `json:"startLine"`
		StartColumn int   `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

var _ = add(Format{Name: "sarif", Place: 9, For: "code scanning", Entry: "a result of SARIF 2.1.0; 5,000 at most, the gravest", write: writeSARIF})

// writeSARIF is SARIF 2.1.0 for code scanning: a result for each rule, file and column, at most maxResults of them, the gravest.
// A binary file has no lines: its results stand at line 1, with the column as logical location and the rows as properties.
func writeSARIF(w io.Writer, r *result) error {
	rules := r.rules()
	index := make(map[*rule.Rule]int, len(rules))
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "rlprep", InformationURI: "https://github.com/rlprep/rlprep", Version: r.Tool, SemanticVersion: r.Tool, Rules: []sarifRule{}}},
		ColumnKind:  "unicodeCodePoints",
		Invocations: []sarifInvocation{{ExecutionSuccessful: true}},
		Results:     []sarifResult{},
	}
	for i, ru := range rules {
		index[ru] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, newSARIFRule(ru, r.target()))
	}
	entries, left := gravest(r.groups, maxResults)
	for _, e := range entries {
		run.Results = append(run.Results, r.newSARIFResult(e, index[e.Rule]))
	}
	if left > 0 {
		run.Invocations[0].ToolExecutionNotifications = []sarifNotification{{"warning",
			sarifText{fmt.Sprintf("%s are not shown here; the output format jsonl has them all", plural(int64(left), "result"))}}}
	}
	return encode(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// gravest returns the n gravest entries in their order, and how many are left out.
func gravest(entries []group, n int) ([]group, int) {
	if len(entries) <= n {
		return entries, 0
	}
	var room [rule.Error + 1]int
	for _, e := range entries {
		room[e.Level]++
	}
	free := n
	for l := rule.Error; ; l-- {
		room[l] = min(room[l], free)
		free -= room[l]
		if l == rule.Off {
			break
		}
	}
	var out []group
	for _, e := range entries {
		if room[e.Level] > 0 {
			room[e.Level]--
			out = append(out, e)
		}
	}
	return out, len(entries) - len(out)
}

// sarifLevels are SARIF's names of our levels.
var sarifLevels = map[rule.Level]string{rule.Off: "none", rule.Info: "note", rule.Warning: "warning", rule.Error: "error"}

func newSARIFRule(r *rule.Rule, t rule.Target) sarifRule {
	h, _ := r.Severity(t)
	doc := strings.TrimSpace(r.Doc)
	if doc == "" {
		doc = r.Title
	}
	severity := map[rule.Level]string{rule.Error: "error", rule.Warning: "warning"}[h.Level]
	if severity == "" {
		severity = "recommendation"
	}
	return sarifRule{
		ID: r.ID, Name: r.Name, ShortDescription: sarifText{r.Title}, FullDescription: sarifText{doc},
		Help:                 sarifText{doc + "\n\nMore: rlprep explain " + r.ID},
		HelpURI:              HelpURL(r),
		DefaultConfiguration: sarifLevel{sarifLevels[h.Level]},
		Properties:           map[string]any{"tags": []string{"dataset", t.Framework}, "precision": "high", "problem.severity": severity},
	}
}

func (r *result) newSARIFResult(e group, index int) sarifResult {
	at := r.newSARIFLocation(e.Pos)
	props := map[string]any{"count": e.count, "rows": append([]int64{}, e.rows...)}
	if e.Pos.RowGroup >= 0 {
		props["row_group"] = e.Pos.RowGroup
	}
	if e.Pos.Row >= 0 {
		props["row"] = e.Pos.Row
	}
	if e.Value != "" {
		props["value"] = e.Value
	}
	res := sarifResult{
		RuleID: e.Rule.ID, RuleIndex: index, Level: sarifLevels[e.Level], Message: sarifText{sentence(e)}, Locations: []sarifLocation{at},
		OccurrenceCount: e.count, Properties: props,
		// Of what stays when a message is reworded or rows move: rule, file, column.
		PartialFingerprints: map[string]string{"rlprep/v1": fingerprint(e.Rule.ID, at.PhysicalLocation.ArtifactLocation.URI, string(e.Pos.Path))},
	}
	for _, p := range e.Related {
		l := r.newSARIFLocation(p)
		l.Message = &sarifText{where(p)}
		res.RelatedLocations = append(res.RelatedLocations, l)
	}
	return res
}

func (r *result) newSARIFLocation(p schema.Pos) sarifLocation {
	uri := url.URL{Path: fromRoot(p.File, r.Root)}
	at := sarifLocation{PhysicalLocation: sarifPhysical{sarifArtifact{uri.String()}, sarifRegion{StartLine: max(p.Line, 1)}}}
	if p.Line >= 1 && p.Column >= 1 {
		at.PhysicalLocation.Region.StartColumn = p.Column
	}
	if p.Path != "" {
		at.LogicalLocations = []sarifLogical{{string(p.Path), "member"}}
	}
	return at
}

func fingerprint(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// sortedRules returns rules and those of entries, each once, in the order of their ids.
func sortedRules(rules []*rule.Rule, entries []group) []*rule.Rule {
	all := slices.Clone(rules)
	for _, e := range entries {
		all = append(all, e.Rule)
	}
	slices.SortStableFunc(all, func(a, b *rule.Rule) int { return strings.Compare(a.ID, b.ID) })
	return slices.Compact(all)
}
