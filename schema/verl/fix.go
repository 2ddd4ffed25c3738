package verl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/schema/rule/fixes"
)

// roleNames are other names of the roles, as ShareGPT and its kin write them: they say who speaks as plainly.
var roleNames = map[string]string{"human": "user", "gpt": "assistant"}

// renameRole returns the role that chat templates know for one that they do not; a role whose name says nothing stays.
func renameRole(s string) string {
	if knownRole(s) {
		return s
	}
	name := strings.ToLower(strings.TrimSpace(s))
	if knownRole(name) {
		return name
	}
	if r, ok := roleNames[name]; ok {
		return r
	}
	return s
}

// fixRoles writes known roles under their own names.
var fixRoles = []rule.Fix{fixes.Unsafe(fixes.EachText("writes user for human, assistant for gpt, and roles in lower case", renameRole))}

const unknownRole = "null and unrecognised roles cannot be mapped"

// dropFound leaves out the rows that a rule finds.
var dropFound = fixes.Unsafe(fixes.DropRows("leaves the rows out"))

// shareGPT gives the fields of messages the names that verl asks for, where they have those of ShareGPT.
var shareGPT = fixes.Unsafe(fixes.RenameFields("renames from and value of a message to role and content", [][2]string{{"from", "role"}, {"value", "content"}}))

// readJSON makes what was written with json.dumps a struct again.
var readJSON = fixes.Unsafe(fixes.ReadJSON("parses the JSON in the text, if all rows have the same keys"))

// truthReads are what a new ground truth of a row is made from.
var truthReads = []schema.Path{groundTruth, dataSource, extraAnswer}

// truthValue fixes the ground truth by what make says of it, the row's scorer and its solution ("": none): the new text, or "" to
// keep what there is.
func truthValue(make func(v schema.Value, s *Scorer, solution string) string) *fixes.Value {
	return &fixes.Value{Path: groundTruth, Reads: truthReads, New: func(r schema.Row) (schema.Value, string) {
		v := r.At(0)
		s := ScorerFor(r.At(1).Text())
		if s == nil {
			return v, ""
		}
		if text := make(v, s, r.At(2).Text()); text != "" && s.Unreachable(schema.TextValue(text)) == "" {
			return schema.TextValue(text), ""
		}
		return v, ""
	}}
}

// solved is the answer in a row's own solution, as its scorer finds it; "": none.
func solved(s *Scorer, solution string) string {
	switch s {
	case gsm8kScorer:
		return answerGSM8K(solution)
	case mathScorer:
		inside, _ := lastBoxed(solution)
		return inside
	}
	return ""
}

// fromSolution fills a null with the answer of the row's own solution.
func fromSolution(v schema.Value, s *Scorer, solution string) string {
	if v.IsNull() && v.Depth() == 1 {
		return solved(s, solution)
	}
	return ""
}

// allFromSolutions writes the ground truth that a file lacks: every row's own solution must have it.
var allFromSolutions = &fixes.Value{Path: groundTruth, Reads: truthReads,
	Type: func(t schema.Type) (schema.Type, bool) { return schema.StringType, t.Kind == schema.Missing },
	New: func(r schema.Row) (schema.Value, string) {
		s := ScorerFor(r.At(1).Text())
		if s != nil {
			if text := solved(s, r.At(2).Text()); text != "" && s.Unreachable(schema.TextValue(text)) == "" {
				return schema.TextValue(text), ""
			}
		}
		return schema.NullValue, "the row has no solution in extra_info.answer that a scorer finds an answer in"
	}}

// sameAsSolution writes a number as the row's solution has it, where it is the same number.
func sameAsSolution(v schema.Value, s *Scorer, solution string) string {
	if s != gsm8kScorer || v.Kind() != schema.Text {
		return ""
	}
	if found := answerGSM8K(solution); sameNumber(found, v.Text()) {
		return found
	}
	return ""
}

// grouped is a number whose thousands are parted by commas: in others a comma may stand for the decimal point.
var grouped = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$`)

// cleaned returns a ground truth as its scorer cleans an answer.
func cleaned(v schema.Value, s *Scorer, _ string) string {
	if v.Kind() != schema.Text || s.Unreachable(v) == "" {
		return ""
	}
	t := strings.TrimSpace(v.Text())
	switch s {
	case gsm8kScorer:
		if found := answerGSM8K(t); found != "" {
			return found
		}
		t = strings.TrimPrefix(t, "$")
		if grouped.MatchString(t) {
			t = strings.ReplaceAll(t, ",", "")
		}
	case mathScorer:
		if inside, ok := lastBoxed(t); ok {
			return inside
		}
	}
	return t
}

// asText writes numbers, and lists of one, as text.
var truthAsText = &fixes.Value{Path: groundTruth, Reads: []schema.Path{groundTruth},
	Type: func(t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.List {
			t = t.Fields[0].Type
		}
		return schema.StringType, slices.Contains([]schema.Kind{schema.Int, schema.Float, schema.Text}, t.Kind)
	},
	New: func(r schema.Row) (schema.Value, string) {
		v := r.At(0)
		if v.Kind() == schema.List {
			if v.Len() != 1 {
				return v, "the list has " + strconv.Itoa(v.Len()) + " items: the data does not show which one is the answer"
			}
			v = v.Elem(0)
		}
		switch v.Kind() {
		case schema.Int:
			return schema.TextValue(strconv.FormatInt(v.Int(), 10)), ""
		case schema.Float: // 72.0 is the integer that pandas made a float of
			return schema.TextValue(strconv.FormatFloat(v.Float(), 'f', -1, 64)), ""
		}
		return v, ""
	}}
