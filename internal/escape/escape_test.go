package escape

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, \\frac{1}{2} and \"quotes\"": "plain text, \\frac{1}{2} and \"quotes\"",
		"a\tb\rc\nd\x00e\x7f":                     `a\tb\rc\nd\x00e\x7f`,
		"\x1b]0;title\x07\x1b[31m":                `\x1b]0;title\a\x1b[31m`,
		"\u009b31m \u0085":                        `\u009b31m \u0085`,
		"\x9b31m\xff":                             `\x9b31m\xff`,
		"\u202eevil\u2066x\u2069\u061c\u200e":     `\u202eevil\u2066x\u2069\u061c\u200e`,
		"a\u2028b\u2029c":                         `a\u2028b\u2029c`,
		"zero\u200bwidth\ufeff":                   `zero\u200bwidth\ufeff`,
		"never \ufffe \U0001ffff, was \ufffd":     `never \ufffe \U0001ffff, was ` + "\ufffd",
		"::error::x":                              `:\x3aerror::x`,
		" \u3000\u00a0::error::x":                 " \u3000\u00a0:\\x3aerror::x",
		"std::vector, a: b, ::":                   "std::vector, a: b, ::",
		"see ##[error] and ##vso[task] # [x]":     `see ##\x5berror] and ##vso\x5btask] # [x]`,
		"###[x] ##teamcity[y] ##[":                `###\x5bx] ##teamcity\x5by] ##\x5b`,
		"问题 سؤال שאלה می‌خواهم":                   "问题 سؤال שאלה می‌خواهم", //nolint:staticcheck // ST1018: a joiner as people type it
		"👩‍💻 🏳️‍🌈 🇨🇳 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f": "👩‍💻 🏳️‍🌈 🇨🇳 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
		"hidden \U000e0067\U000e007f": `hidden \U000e0067\U000e007f`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q)\n got %s\nwant %s", in, got, want)
		}
	}
}

// unsafe is an independent reading of what must not reach a terminal or a log.
var unsafe = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{61c}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}\x{fffe}\x{ffff}]|(?m:^\s*::)|##[A-Za-z]*\[`)

func checkSafe(t *rapid.T, what, s string, lines bool) {
	if at := unsafe.FindString(s); at != "" || !utf8.ValidString(s) || !lines && strings.Contains(s, "\n") {
		t.Fatalf("%s: %q has %q", what, s, at)
	}
}

// hostile draws text that is mostly made of what must not get through.
var hostile = rapid.Custom(func(t *rapid.T) string {
	part := rapid.SampledFrom([]string{"\x1b[31m", "\x1b]0;x\x07", "\u009b", "\x9b", "\xff\xfe", "\u202e", "\u2028", "\n", "\r", "\r\n", "\t", "::error::", ":", "#", "##", "##[",
		"vso[", "[", "]", " ", "\u00a0", "a", "é", "汉", "👩‍💻", "🏴", "\U000e0067", "\U000e007f", "\u200b", "\ufeff", "\ufffe", "\x00", "\x7f", "<", "&", `"`, `\`, "]]>"})
	return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
})

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(hostile, rapid.String()).Draw(t, "s")
		text := Text(s)
		checkSafe(t, "Text", text, false)
		if again := Text(text); again != text {
			t.Fatalf("Text(%q) = %q, and of that %q", s, text, again)
		}
		checkSafe(t, "Lines", Lines(s), true)
		checkJSON(t, s)
		checkXML(t, s)
		checkWriter(t, s)
	})
}

// checkJSON: JSON keeps its values.
func checkJSON(t *rapid.T, s string) {
	want := []string{s, "##", s}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var plain, safe []string
	b2 := JSON(b)
	checkSafe(t, "JSON", string(b2), true)
	if err := errors.Join(json.Unmarshal(b, &plain), json.Unmarshal(b2, &safe)); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%q", plain) != fmt.Sprintf("%q", safe) {
		t.Fatalf("%q became %q", plain, safe)
	}
}

// notXML is what XML cannot hold.
var notXML = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]`)

type element struct {
	Attr string `xml:"a,attr"`
	Text string `xml:",chardata"`
}

// checkXML: XML keeps what it can hold.
func checkXML(t *rapid.T, s string) {
	want := element{XMLText(s), XMLText(s)}
	b, err := xml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b = XML(b)
	checkSafe(t, "XML", string(b), true)
	var got element
	if err := xml.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("%q became %q", want, got)
	}
	if !notXML.MatchString(s) && utf8.ValidString(s) && want.Text != s {
		t.Fatalf("XMLText(%q) = %q", s, want.Text)
	}
}

// checkWriter: however text is cut into writes, the same comes out.
func checkWriter(t *rapid.T, s string) {
	var b bytes.Buffer
	w := NewWriter(&b)
	for rest := s; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
		if k, err := io.WriteString(w, rest[:n]); k != n || err != nil {
			t.Fatal(k, err)
		}
		rest = rest[n:]
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if b.String() != Lines(s) {
		t.Fatalf("%q: written in parts %q, whole %q", s, b.String(), Lines(s))
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"::error::", "##vso[x]", "\x1b[31m", "\xff\u202e", "🏴\U000e0067"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Text(s); unsafe.MatchString(got) || strings.Contains(got, "\n") || Text(got) != got {
			t.Errorf("Text(%q) = %q", s, got)
		}
	})
}

type named string

type stringer struct{ s string }

func (s stringer) String() string { return s.s }

func TestSprintf(t *testing.T) {
	bad := "\x1b\n::x"
	got := Sprintf("%s|%v|%s|%s|%s|%v|%q\n", bad, named(bad), stringer{bad}, errors.New(bad), []byte(bad), []string{bad}, bad)
	want := `\x1b\n::x|\x1b\n::x|\x1b\n::x|\x1b\n::x|\x1b\n::x|[\x1b\n::x]|"\x1b\n::x"` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := Sprintf("%-*s|%6.1f|%3d|%t|%c", 6, "\t", 1.25, 7, true, '\x1b'), `\t    |   1.2|  7|true|\x1b`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := Sprintf("%s%s", Raw("a\nb"), "\n"), "a\nb\\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type faults []error

func (f faults) Error() string   { return joined(f) }
func (f faults) Unwrap() []error { return f }

func TestError(t *testing.T) {
	a, b := errors.New("a\nb"), errors.New("::c\x1b")
	for _, c := range []struct {
		err  error
		want string
	}{
		{a, `a\nb`},
		{errors.Join(a, b), `a\nb|:\x3ac\x1b`},
		{faults{a, faults{b, a}}, `a\nb|:\x3ac\x1b|a\nb`},
		{fmt.Errorf("x\n: %w (y)", errors.Join(a, b)), `x\n: a\nb|:\x3ac\x1b (y)`},
		{fmt.Errorf("x: %w", fmt.Errorf("y: %w", a)), `x: y: a\nb`},
		{fmt.Errorf("%w and %w", a, b), `a\nb and ::c\x1b`},
	} {
		if got := strings.Join(Error(c.err), "|"); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
