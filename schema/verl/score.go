package verl

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// A Scorer is the ground-truth side of one of verl's scorers (verl/utils/reward_score): what a ground truth must be for an
// answer to score at all.
type Scorer struct {
	Name string // its module
	// Dict: it returns a dict of score, acc and pred where the others return a number.
	Dict bool
	// Null and Wrong say what happens with a null and with a value of another type than it takes.
	Null, Wrong string
	// takes reports whether it can compare with values of the type.
	takes func(t schema.Type) bool
	// never says why no answer can score with v, a value of a type that it takes; "" where one can.
	never func(v schema.Value) string
}

const zero = "every answer scores 0"

// Why a ground truth is out of reach.
const (
	emptyTruth = "it is empty, and so must an answer be"
	unbalanced = `its braces do not match, so no \boxed{} can hold it`
)

// The scorers. What they do with null and with other types was executed on verl 0.9.1.
var (
	gsm8kScorer = &Scorer{Name: "gsm8k", takes: isText, never: neverGSM8K, Null: zero, Wrong: zero}
	mathScorer  = &Scorer{Name: "math_reward", takes: isText, never: neverMATH, Null: zero, Wrong: zero}
	dapoScorer  = &Scorer{Name: "math_dapo", Dict: true, takes: isText, never: neverDAPO,
		Null:  "the scorer fails with AttributeError: 'NoneType' object has no attribute 'split'",
		Wrong: "the scorer fails with AttributeError: … has no attribute 'split'"}
	primeScorer = &Scorer{Name: "prime_math", takes: isPlain, never: neverBoxed, Null: zero, Wrong: zero}
	geo3kScorer = &Scorer{Name: "geo3k", takes: isText, never: neverGeo3K, Null: "every answer scores 0.1 at most",
		Wrong: "the scorer fails with AttributeError: … has no attribute 'strip'"}
	codeScorer   = &Scorer{Name: "prime_code", takes: isCode, never: neverCode, Null: zero, Wrong: zero}
	searchScorer = &Scorer{Name: "search_r1_like_qa_em", takes: isSearch, never: neverSearch,
		Null:  "the scorer fails with TypeError as soon as a model writes <answer>",
		Wrong: "the scorer fails with TypeError as soon as a model writes <answer>"}
)

// scorers is what default_compute_score routes to (reward_score/__init__.py), the same from 0.6.1 to 0.9.1.
var scorers = map[string]*Scorer{
	"openai/gsm8k":                       gsm8kScorer,
	"lighteval/MATH":                     mathScorer,
	"DigitalLearningGmbH/MATH-lighteval": mathScorer,
	"HuggingFaceH4/MATH-500":             mathScorer,
	"math_dapo":                          dapoScorer,
	"math":                               dapoScorer,
	"math_dapo_reasoning":                dapoScorer,
	"numina_aops_forum":                  primeScorer,
	"numina_synthetic_math":              primeScorer,
	"numina_amc_aime":                    primeScorer,
	"numina_synthetic_amc":               primeScorer,
	"numina_cn_k12":                      primeScorer,
	"numina_olympiads":                   primeScorer,
	"codecontests":                       codeScorer,
	"apps":                               codeScorer,
	"codeforces":                         codeScorer,
	"taco":                               codeScorer,
	"hiyouga/geometry3k":                 geo3kScorer,
	"searchR1_nq":                        searchScorer,
	"searchR1_triviaqa":                  searchScorer,
	"searchR1_popqa":                     searchScorer,
	"searchR1_hotpotqa":                  searchScorer,
	"searchR1_2wikimultihopqa":           searchScorer,
	"searchR1_musique":                   searchScorer,
	"searchR1_bamboogle":                 searchScorer,
}

// ScorerFor returns the scorer that verl routes source to, exactly as it is written; nil where it has none.
func ScorerFor(source string) *Scorer {
	if s := scorers[source]; s != nil {
		return s
	}
	if strings.HasPrefix(source, "aime") {
		return dapoScorer
	}
	return nil
}

// Takes reports whether the scorer can compare an answer with ground truths of type t.
func (s *Scorer) Takes(t schema.Type) bool { return t.Kind == schema.Null || s.takes(t) }

// Unreachable says why no sensible answer can score with ground truth v, "" where one can; a reason that begins with "every" says what
// happens instead. v is of a type that the scorer takes.
func (s *Scorer) Unreachable(v schema.Value) string { return s.never(v) }

func isText(t schema.Type) bool { return t.Kind == schema.Text }

// isPlain: prime_math compares str(ground_truth), and the text of a list or struct equals no answer.
func isPlain(t schema.Type) bool {
	return t.Kind == schema.Text || t.Kind == schema.Int || t.Kind == schema.Float
}

// isCode: JSON in a text, or the struct itself.
func isCode(t schema.Type) bool {
	if t.Kind != schema.Struct {
		return t.Kind == schema.Text
	}
	_, asserts := t.Field("assert_case")
	_, in := t.Field("inputs")
	_, out := t.Field("outputs")
	return asserts >= 0 || in >= 0 && out >= 0
}

func isSearch(t schema.Type) bool {
	target, i := t.Field("target")
	if t.Kind != schema.Struct || i < 0 {
		return false
	}
	switch target.Type.Kind {
	case schema.Text, schema.Null:
		return true
	case schema.List:
		k := target.Type.Fields[0].Type.Kind
		return k == schema.Text || k == schema.Null
	}
	return false
}

// clip is how much of the end of a response gsm8k and math_dapo look at, in characters.
const clip = 300

// neverGSM8K: the answer is what '#### (\-?[0-9\.\,]+)' finds, commas removed, and it is compared as text.
func neverGSM8K(v schema.Value) string {
	s := v.Text()
	if reachableGSM8K(s) {
		return ""
	}
	switch {
	case s == "":
		return "it is empty, and an answer has a digit"
	case strings.TrimSpace(s) != s && reachableGSM8K(strings.TrimSpace(s)):
		return "it has space around the number, and an answer has none"
	case strings.Contains(s, ",") && reachableGSM8K(strings.ReplaceAll(s, ",", "")):
		return "the scorer removes commas from the answer, not from the ground truth"
	case strings.Contains(s, "####"):
		return "it holds a whole solution, and the answer is the number behind #### alone"
	}
	return "an answer is digits, points and a minus sign only"
}

// reachableGSM8K: -?[0-9.]+ with a digit, short enough to be seen behind "#### ".
func reachableGSM8K(s string) bool {
	rest := strings.TrimPrefix(s, "-")
	digit := false
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c != '.':
			return false
		}
	}
	return digit && len(s) <= clip-len("#### ")
}

// neverMATH: the answer is the inside of the last \boxed{}, found by counting braces; both sides are normalised alike.
func neverMATH(v schema.Value) string {
	s := v.Text()
	switch {
	case strings.TrimSpace(s) == "":
		return emptyTruth
	case strings.Contains(s, `\boxed`):
		return `it still has \boxed, and an answer is the inside of the last \boxed{}`
	case !balanced(s):
		return unbalanced
	}
	return ""
}

// neverGeo3K: mathruler compares the inside of the last \boxed{} of the answer with the ground truth as it stands.
func neverGeo3K(v schema.Value) string {
	if strings.Contains(v.Text(), "<answer>") {
		return `it still has its tags, and an answer is the inside of the last \boxed{} (executed on 0.9.1: 0.1 at most)`
	}
	return neverBoxed(v)
}

// balanced reports whether "{" + s + "}" closes at its very end.
func balanced(s string) bool {
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open--; open < 0 {
				return false
			}
		}
	}
	return open == 0
}

// neverDAPO: the answer is one line behind 'Answer:' in the last 300 characters; both sides are normalised alike, which
// takes \boxed{} away.
func neverDAPO(v schema.Value) string {
	s := strings.TrimSpace(v.Text())
	switch {
	case s == "":
		return emptyTruth
	case strings.Contains(s, "\n"):
		return "it has more than one line, and an answer is one"
	case utf8.RuneCountInString(s) > clip-len("Answer:"):
		return fmt.Sprintf("it is longer than the last %d characters of a response", clip)
	}
	return ""
}

// neverBoxed: prime_math and geo3k take the inside of the last \boxed{} too, and compare it in many ways.
func neverBoxed(v schema.Value) string {
	if v.Kind() != schema.Text {
		return ""
	}
	switch s := v.Text(); {
	case strings.TrimSpace(s) == "":
		return emptyTruth
	case !balanced(s):
		return unbalanced
	}
	return ""
}

// neverCode: {"inputs": […], "outputs": […]}, as JSON or as a struct; each input needs its output.
func neverCode(v schema.Value) string {
	if v.Kind() == schema.Text {
		return neverCodeText(v.Text())
	}
	if v.Field("assert_case").Kind() == schema.List {
		return ""
	}
	in, out := v.Field("inputs"), v.Field("outputs")
	if in.Kind() != schema.List || out.Kind() != schema.List {
		return "inputs or outputs is null"
	}
	return neverTests(in.Len(), out.Len())
}

func neverCodeText(s string) string {
	var tests struct {
		Inputs  *[]json.RawMessage `json:"inputs"`
		Outputs *[]json.RawMessage `json:"outputs"`
		Asserts *[]json.RawMessage `json:"assert_case"`
	}
	if err := json.Unmarshal([]byte(s), &tests); err != nil {
		if strings.Contains(s, "NaN") || strings.Contains(s, "Infinity") {
			return "" // Python's JSON has these
		}
		if json.Valid([]byte(s)) {
			return "its JSON is no object with lists of inputs and outputs"
		}
		return "it is not JSON"
	}
	switch {
	case tests.Asserts != nil:
		return ""
	case tests.Inputs == nil || tests.Outputs == nil:
		return "its JSON has no inputs or no outputs"
	}
	return neverTests(len(*tests.Inputs), len(*tests.Outputs))
}

func neverTests(in, out int) string {
	switch {
	case in == 0:
		return "every answer scores 1 where no sandbox is used: it has no tests"
	case in > out:
		return fmt.Sprintf("it has %d inputs and %d outputs", in, out)
	}
	return ""
}

// neverSearch: {"target": …}, a text or a list of texts that an answer may be.
func neverSearch(v schema.Value) string {
	switch t := v.Field("target"); t.Kind() {
	case schema.Text:
		return ""
	case schema.List:
		for i := range t.Len() {
			if t.Elem(i).Kind() == schema.Text {
				continue
			}
			return "every answer that equals none before it makes the scorer fail: an element of target is null"
		}
		if t.Len() == 0 {
			return "target is an empty list"
		}
		return ""
	}
	return "target is null"
}
