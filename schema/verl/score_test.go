package verl

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"pgregory.net/rapid"
)

// TestScorerFunctions compares our side of the scorers with what verl 0.9.1's functions gave for random texts: null where they
// raised or found nothing.
func TestScorerFunctions(t *testing.T) {
	f, err := os.Open("testdata/scorers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c struct {
			Function, Text string
			Result         *string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got, ok := "", false
		switch c.Function {
		case "strip_string":
			got, ok = stripMATH(c.Text)
		case "last_boxed":
			got, ok = lastBoxed(c.Text)
		case "extract_solution":
			got = answerGSM8K(c.Text)
			ok = got != ""
		}
		if ok != (c.Result != nil) || ok && got != *c.Result {
			t.Errorf("%s(%q) = %q, %v, verl gives %v", c.Function, c.Text, got, ok, c.Result)
		}
	}
	if n < 300 {
		t.Errorf("%d cases, want 300", n)
	}
}

// TestNever holds ground truths to whether verl 0.9.1 gave the ideal answer, made from the ground truth, its full score.
func TestNever(t *testing.T) {
	for _, c := range []struct {
		source string
		truths []string
		scores bool
	}{
		{"openai/gsm8k", []string{"72", "-7", "0.5", ".5", "72.", "72.0", strings.Repeat("9", 295)}, true},
		{"openai/gsm8k", []string{"1,000", "72 ", " 72", "$72", "#### 72", "", "72\n", "--7", "7-2", "1e3", "７２", "x", "a\n#### 72", strings.Repeat("9", 296)}, false},
		{"lighteval/MATH", []string{"72", "1,000", "72 ", "$72$", `\frac{1}{2}`, `\text{cm}`, "a = 3", "units", `\fbox{1}`, strings.Repeat("x", 400)}, true},
		{"lighteval/MATH", []string{`\boxed{72}`, "{1", "1}", "a}b{c", "{", `\boxed 7`}, false},
		{"math_dapo", []string{"72", `\boxed{72}`, "1,000", "72 ", "72\n", "$72$", "{1", strings.Repeat("x", 292)}, true},
		{"math_dapo", []string{"1\n2", "a\n#### 72", strings.Repeat("x", 294)}, false},
		{"numina_cn_k12", []string{"72", `\boxed{72}`, "1,000", "a\nb", strings.Repeat("x", 400)}, true},
		{"numina_cn_k12", []string{"{1", "  "}, false},
		{"hiyouga/geometry3k", []string{"72", `\boxed{72}`, "$72$", "a\nb"}, true},
		{"hiyouga/geometry3k", []string{"{1", "<answer>5</answer>"}, false},
		{"apps", []string{`{"inputs": ["1\n"], "outputs": ["2\n"]}`, `{"inputs": ["1\n"], "outputs": ["2\n", "4\n"]}`, `{"inputs": ["1"], "outputs": ["2"], "fn_name": null}`}, true},
		{"apps", []string{`{"inputs": ["1\n", "2\n"], "outputs": ["2\n"]}`, "{bad", "[1]", `{"inputs": ["1"]}`, "{'inputs': ['1'], 'outputs': ['2']}"}, false},
	} {
		for _, truth := range c.truths {
			if why := ScorerFor(c.source).Unreachable(schema.TextValue(truth)); (why == "") != c.scores {
				t.Errorf("%s: %.60q: %q, but the ideal answer scores: %v", c.source, truth, why, c.scores)
			}
		}
	}
}

// TestScorerFor holds the names to default_compute_score's: exact, but for what begins with aime.
func TestScorerFor(t *testing.T) {
	for source, want := range map[string]string{"openai/gsm8k": "gsm8k", "aime": "math_dapo", "aime2025": "math_dapo", "math": "math_dapo", "HuggingFaceH4/MATH-500": "math_reward",
		"searchR1_nq": "search_r1_like_qa_em", "taco": "prime_code"} {
		if s := ScorerFor(source); s == nil || s.Name != want {
			t.Errorf("ScorerFor(%q) = %v, want %s", source, s, want)
		}
	}
	for _, source := range []string{"", "gsm8k", "OpenAI/gsm8k", "AIME", "searchR1_", "math "} {
		if s := ScorerFor(source); s != nil {
			t.Errorf("ScorerFor(%q) = %s, want none", source, s.Name)
		}
	}
}

// TestGroundTruthTypes holds the types that a scorer takes to those that verl 0.9.1 compared.
func TestGroundTruthTypes(t *testing.T) {
	text, list := schema.StringType, schema.ListOf(schema.StringType)
	target := schema.StructOf(schema.NewField("target", list))
	tests := schema.StructOf(schema.NewField("inputs", list), schema.NewField("outputs", list))
	for _, c := range []struct {
		source string
		takes  []schema.Type
		not    []schema.Type
	}{
		{"openai/gsm8k", []schema.Type{text}, []schema.Type{schema.Int64Type, schema.FloatType, list, schema.BoolType}},
		{"math_dapo", []schema.Type{text}, []schema.Type{schema.Int64Type, list}},
		{"hiyouga/geometry3k", []schema.Type{text}, []schema.Type{schema.Int64Type, schema.FloatType, list}},
		{"numina_olympiads", []schema.Type{text, schema.Int64Type, schema.FloatType}, []schema.Type{list}},
		{"searchR1_nq", []schema.Type{target, schema.StructOf(schema.NewField("target", text))}, []schema.Type{text, list, tests}},
		{"apps", []schema.Type{text, tests}, []schema.Type{list, target, schema.Int64Type}},
	} {
		s := ScorerFor(c.source)
		for _, typ := range c.takes {
			if !s.Takes(typ) {
				t.Errorf("%s does not take %s", c.source, typ)
			}
		}
		for _, typ := range c.not {
			if s.Takes(typ) {
				t.Errorf("%s takes %s", c.source, typ)
			}
		}
	}
}

// TestAnswerGSM8K compares with the expression itself, over the last 300 characters.
func TestAnswerGSM8K(t *testing.T) {
	answer := regexp.MustCompile(`#### (\-?[0-9\.\,]+)`)
	piece := rapid.SampledFrom([]string{"#### ", "####", " ", "-", "7", "1,000", ".", "é", "’", strings.Repeat("x", 290), strings.Repeat("’", 290), strings.Repeat("7", 140), "\n"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "pieces"), "")
		chars := []rune(s)
		want := ""
		if found := answer.FindAllStringSubmatch(string(chars[max(0, len(chars)-clip):]), -1); found != nil {
			want = strings.ReplaceAll(found[len(found)-1][1], ",", "")
		}
		if got := answerGSM8K(s); got != want {
			t.Fatalf("answerGSM8K(%q) = %q, want %q", s, got, want)
		}
	})
}

// TestMediaTagScan compares a look at a whole column with one at each of its texts.
func TestMediaTagScan(t *testing.T) {
	piece := rapid.SampledFrom([]string{"<image>", "<image", "ge>", "<", "<video>", "<audio>", "<ima", " Find x. ", ""})
	rapid.Check(t, func(t *rapid.T) {
		c := &mediaTag{on: true, wanted: [3]bool{true, rapid.Bool().Draw(t, "videos"), rapid.Bool().Draw(t, "audios")}}
		var all []byte
		var want []int
		offsets := []int32{0}
		for i := range rapid.IntRange(0, 9).Draw(t, "texts") {
			s := strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "text"), "")
			all = append(all, s...)
			offsets = append(offsets, int32(len(all)))
			for k, m := range media {
				if c.wanted[k] && strings.Contains(s, m.tag) {
					want = append(want, i)
					break
				}
			}
		}
		if got := c.Scan(0, schema.NewTexts(all, offsets), nil); !slices.Equal(got, want) {
			t.Fatalf("of %q at %d: got %d, want %d", all, offsets, got, want)
		}
	})
}
