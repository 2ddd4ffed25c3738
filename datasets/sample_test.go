package datasets_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/testdata/sample"
	"github.com/rlprep/rlprep/transform"
)

var annotation = regexp.MustCompile(`<<([^=<>]+)=([^<>]+)>>(-?[0-9][0-9,]*(?:\.[0-9]+)?)`)

// TestSample checks that the embedded problems are what they say: the shape of GSM8K, with sums that are right.
func TestSample(t *testing.T) {
	seen := map[string]bool{}
	var all strings.Builder
	for split, want := range map[string]int{"train": 48, "test": 12} {
		data, err := sample.Files.ReadFile(split + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(rows) != want {
			t.Errorf("%s has %d rows, want %d", split, len(rows), want)
		}
		for i, line := range rows {
			var row struct{ Question, Answer string }
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%s row %d: %v", split, i, err)
			}
			if row.Question == "" || seen[row.Question] {
				t.Errorf("%s row %d: question is empty or there twice", split, i)
			}
			seen[row.Question] = true
			checkAnswer(t, row.Answer)
			all.WriteString(row.Question + row.Answer)
		}
	}
	for _, s := range []string{"\u2028", "\t", "\U0001F382", `"`, "'", `\`, "\n\n", "#### -", "#### 1,200", "#### 5.50", "ë", "小"} {
		if !strings.Contains(all.String(), s) {
			t.Errorf("no problem has %q", s)
		}
	}
}

// checkAnswer works every annotation out anew; the last one must be the final answer.
func checkAnswer(t *testing.T, answer string) {
	t.Helper()
	final, reason, _ := transform.GSM8K(answer)
	if reason != "" || !strings.HasSuffix(answer, "\n#### "+final) {
		t.Errorf("%q does not end in #### and a number", answer)
		return
	}
	var last *big.Rat
	for _, m := range annotation.FindAllStringSubmatch(answer, -1) {
		p := sum{text: m[1]}
		got := p.terms()
		said, ok := new(big.Rat).SetString(m[2])
		shown, ok2 := new(big.Rat).SetString(strings.ReplaceAll(m[3], ",", ""))
		if p.text != "" || !ok || !ok2 || got.Cmp(said) != 0 || said.Cmp(shown) != 0 {
			t.Errorf("%s: it is %s", m[0], got.RatString())
		}
		last = said
	}
	if strings.Count(answer, "<<") != len(annotation.FindAllString(answer, -1)) {
		t.Errorf("%q has an annotation that cannot be read", answer)
	}
	if want, ok := new(big.Rat).SetString(strings.ReplaceAll(final, ",", "")); !ok || last == nil || last.Cmp(want) != 0 {
		t.Errorf("%q: the last sum is not the answer", answer)
	}
}

// A sum reads numbers with + - * / and parentheses; text is what is left.
type sum struct{ text string }

func (s *sum) terms() *big.Rat {
	v := s.factors()
	for s.text != "" && (s.text[0] == '+' || s.text[0] == '-') {
		op := s.text[0]
		s.text = s.text[1:]
		w := s.factors()
		if op == '-' {
			w.Neg(w)
		}
		v.Add(v, w)
	}
	return v
}

func (s *sum) factors() *big.Rat {
	v := s.value()
	for s.text != "" && (s.text[0] == '*' || s.text[0] == '/') {
		op := s.text[0]
		s.text = s.text[1:]
		w := s.value()
		if op == '/' {
			w.Inv(w)
		}
		v.Mul(v, w)
	}
	return v
}

func (s *sum) value() *big.Rat {
	switch {
	case strings.HasPrefix(s.text, "("):
		s.text = s.text[1:]
		v := s.terms()
		s.text = strings.TrimPrefix(s.text, ")")
		return v
	case strings.HasPrefix(s.text, "-"):
		s.text = s.text[1:]
		v := s.value()
		return v.Neg(v)
	}
	n := 0
	for n < len(s.text) && (s.text[n] >= '0' && s.text[n] <= '9' || s.text[n] == '.') {
		n++
	}
	v, ok := new(big.Rat).SetString(s.text[:n])
	if !ok {
		return big.NewRat(-987654321, 1)
	}
	s.text = s.text[n:]
	return v
}
