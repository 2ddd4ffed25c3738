package pyre

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// A golden is a line that testdata/patterns.py printed.
type golden struct {
	P    string
	F    Flags
	S    string
	Op   string
	Want json.RawMessage
	Err  *string
}

// spans are places in characters, as Python counts them.
func spans(text string, at []int) [][2]int {
	chars := func(i int) int {
		if i < 0 {
			return -1
		}
		return utf8.RuneCountInString(text[:i])
	}
	var out [][2]int
	for i := 0; i < len(at); i += 2 {
		out = append(out, [2]int{chars(at[i]), chars(at[i+1])})
	}
	return out
}

// evaluate does what evaluate of patterns.py does; naive has it try every place of the text.
func (g *golden) evaluate(b *Budget, naive bool) (any, error) {
	re, err := Compile(g.P, g.F)
	if err != nil {
		return nil, err
	}
	if naive {
		re.prefix, re.must, re.first, re.anchored = "", "", nil, false
		for i := range re.prog {
			re.prog[i].look = -1
		}
	}
	if g.Op == "finditer" {
		all := [][][2]int{}
		err := re.All(g.S, b, func(at []int) (bool, error) {
			all = append(all, spans(g.S, at))
			return true, nil
		})
		return all, err
	}
	at, err := re.Find(g.S, map[string]Mode{"search": Search, "match": Match, "fullmatch": FullMatch}[g.Op], b)
	if at == nil || err != nil {
		return nil, err
	}
	return spans(g.S, at), nil
}

// unsupported are the messages of what Python takes and Compile refuses by name.
var unsupported = []string{"a group in a possessive repetition is not supported", "groups are nested more than", `\N{…} is not supported`, "(?a:…) and (?u:…) for a part"}

// TestGolden holds Compile, Find and All to what CPython 3.11 gave. $RLPREP_RE_GOLDEN names another file of cases.
func TestGolden(t *testing.T) {
	name := "testdata/golden.jsonl"
	if other := os.Getenv("RLPREP_RE_GOLDEN"); other != "" {
		name = other
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		kind := g.check()
		count[kind]++
		if strings.HasPrefix(kind, "different") {
			t.Errorf("%s: %s", kind, lines.Text())
		}
	}
	t.Log(count)
	if count["equal"] < 1000 || count["refused by both"] < 100 {
		t.Errorf("few cases: %v", count)
	}
}

func (g *golden) check() string {
	got, err := g.evaluate(&Budget{Steps: 1e8}, false)
	if err != nil {
		for _, u := range unsupported {
			if strings.HasPrefix(err.Error(), u) {
				return "unsupported"
			}
		}
		if g.Err == nil {
			return fmt.Sprintf("different: error %v", err)
		}
		if want, _, _ := strings.Cut(*g.Err, " (line"); err.Error() != want {
			return fmt.Sprintf("different: %v", err)
		}
		return "refused by both"
	}
	if g.Err != nil {
		return "different: no error"
	}
	text, _ := json.Marshal(got)
	if slow, err := g.evaluate(&Budget{Steps: 1e8}, true); err != nil || !reflect.DeepEqual(slow, got) {
		return fmt.Sprintf("different: %s, and without skipping places %v, %v", text, slow, err)
	}
	if string(text) != strings.ReplaceAll(string(g.Want), " ", "") {
		return fmt.Sprintf("different: %s", text)
	}
	return "equal"
}

// took returns the steps that a search takes.
func took(t *testing.T, pattern, text string, want error) int {
	t.Helper()
	re, err := Compile(pattern, 0)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 22
	b := &Budget{Steps: most}
	err = re.All(text, b, func([]int) (bool, error) { return true, nil })
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", pattern, err, want)
	}
	return most - b.Steps
}

// TestSteps: patterns that are linear take steps in proportion to the text, and the same number in every run; others end with ErrSteps.
func TestSteps(t *testing.T) {
	for _, p := range []string{`a`, `b`, `[^a]`, `a*`, `a+?`, `.*`, `(a)`, `(?:a|b)*`, `(a*)*`, `(a|ab)(c|d)?`, `x*`, `(?=a)a`, `(?<=a)a`, `(?<!a)b`, `\b`, `^`, `a{3}`, `(?>a+)`, `a++`, `(?i)A`, `(a*)*b`, `(a|a)*b`, `(.*)(.*)(.*)x`} {
		short, long := took(t, p, strings.Repeat("a", 10_000), nil), took(t, p, strings.Repeat("a", 40_000), nil)
		if again := took(t, p, strings.Repeat("a", 40_000), nil); again != long {
			t.Errorf("%s: %d steps, then %d", p, long, again)
		}
		if long > 5*short || long == 0 {
			t.Errorf("%s: %d steps for 10,000 characters, %d for 40,000", p, short, long)
		}
	}
	for _, p := range []string{`(a+)+[bc]`, `(a|a)*[bc]`, `(a*)*[bc]`, `a.*[bc]|a`, `(.*)(.*)(.*)[xy]`, `(a*)\1*\1*[xy]`, `(?:){4000000000}`, `(?:(?:a?){100}){100}[bc]`, `(?=(a+)+[bc])`, `a(?!.*[bc])`, `(?:a*?)*?[bc]`, `(?i)(a+)\1[bc]`} {
		took(t, p, strings.Repeat("a", 40_000), ErrSteps)
	}
}

// TestMemory: what a search remembers is bounded, too.
func TestMemory(t *testing.T) {
	re, err := Compile(`(?:a|b|cd)*x`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := re.Find(strings.Repeat("ab", 1<<22)+"x", Match, &Budget{Steps: 1 << 30}); !errors.Is(err, ErrMemory) {
		t.Errorf("got %v", err)
	}
}

// TestStop: a search asks Stop now and then, and may be used again afterwards.
func TestStop(t *testing.T) {
	re, err := Compile(`(a+)+[bc]`, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, asked := strings.Repeat("a", 100), 0
	b := &Budget{Steps: 1 << 40, Stop: func() bool { asked++; return asked > 3 }}
	if _, err := re.Find(text, Search, b); !errors.Is(err, ErrStopped) || asked != 4 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
	if at, err := re.Find("xaab", Search, &Budget{Steps: 1000}); err != nil || fmt.Sprint(at) != "[1 4 1 3]" {
		t.Errorf("afterwards: %v, %v", at, err)
	}
}

// FuzzFind: any pattern on any text ends, and what it finds lies in the text.
func FuzzFind(f *testing.F) {
	for _, p := range []string{`(a|b)*?c\1`, `(?<=a)[^\w-]+$`, `(?i)(?>x?){2,}`, `(?x) a # b`, `(?(1)a|b)`, "[\xff-", `(?P<n>.)(?P=n)`} {
		f.Add(p, "aabc \n日", 0)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, flags int) {
		re, err := Compile(pattern, Flags(flags)&known)
		if err != nil {
			return
		}
		last := 0
		_ = re.All(text, &Budget{Steps: 1 << 20}, func(at []int) (bool, error) {
			if at[0] < last || len(at) != 2*re.Groups+2 {
				t.Fatalf("%q in %q: %v after %d", pattern, text, at, last)
			}
			last = at[1]
			for i := 0; i < len(at); i += 2 {
				if at[i] > at[i+1] || at[i+1] > len(text) {
					t.Fatalf("%q in %q: %v", pattern, text, at)
				}
			}
			return true, nil
		})
	})
}
