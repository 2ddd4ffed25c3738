package transform_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/transform"
	"pgregory.net/rapid"
)

func TestGSM8K(t *testing.T) {
	for in, want := range map[string]string{
		"#### 72":                      "72",
		"a\n#### 72\n":                 "72",
		"#### 1,200 eggs":              "1,200",
		"#### -5":                      "-5",
		"#### 5.50":                    "5.50",
		"#### 72.":                     "72.",
		"#### 1\n#### 2":               "1",
		"#### x #### 2":                "2",
		"#### -x\n#### 2":              "2",
		"#### --3":                     "no-answer-marker",
		"##### 5":                      "5",
		"#### #### 5":                  "5",
		"#### ,":                       ",",
		"#### -,":                      "-,",
		"####  5":                      "no-answer-marker",
		"####5":                        "no-answer-marker",
		"#### $5":                      "no-answer-marker",
		"#### ５":                       "no-answer-marker", // a full-width digit is none of [0-9]
		"####\t5":                      "no-answer-marker",
		"":                             "no-answer-marker",
		"#### -":                       "no-answer-marker",
		strings.Repeat("#### ", 100):   "no-answer-marker",
		"\u2028#### 7\u2028":           "7",
		"<<1+1=2>>2\n#### 2":           "2",
		"He said \"#### 3\".\n#### 4":  "3",
		"### 5\n#### 1,000,000 people": "1,000,000",
	} {
		answer, reason, _ := transform.GSM8K(in)
		if answer+reason != want {
			t.Errorf("%q: %q %s, want %s", in, answer, reason, want)
		}
	}
}

// TestGSM8KIsTheExpression holds the hand-written search to the expression of verl's scripts.
func TestGSM8KIsTheExpression(t *testing.T) {
	expression := regexp.MustCompile(`#### (\-?[0-9\.\,]+)`)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"#", "####", "#### ", " ", "-", "7", "1,2", ".", "x", "\n", "é"})).Draw(t, "text")
		text := strings.Join(parts, "")
		want := ""
		if m := expression.FindString(text); m != "" {
			want = strings.Split(m, "#### ")[1]
		}
		if got, _, _ := transform.GSM8K(text); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}

func TestBoxed(t *testing.T) {
	for in, want := range map[string]string{
		`\boxed{72}`:                  "72",
		`\boxed{1}, no: \boxed{2}`:    "2",
		`$\boxed{\frac{1}{2}}$.`:      `\frac{1}{2}`,
		`\boxed{}`:                    "",
		`so \boxed 5$ or \boxed{6}`:   "5",
		`\boxed 5`:                    "5",
		`\boxed{a \boxed{b} c}`:       "b",
		`no box`:                      "no-boxed",
		`\fbox{5}`:                    "no-boxed",
		`\boxed5`:                     "no-boxed",
		`\boxed{5`:                    "unclosed-boxed",
		`\boxed{\text{a}`:             "unclosed-boxed",
		`\boxed{1} and \boxed{2`:      "unclosed-boxed",
		`\boxed{3} }} text`:           "3",
		"\\boxed{a\nb}":               "a\nb",
		`a \boxed 1$ and \boxed 2$ .`: "2",
	} {
		answer, reason, _ := transform.Boxed(in)
		if answer+reason != want {
			t.Errorf("%q: %q %s, want %s", in, answer, reason, want)
		}
	}
}
