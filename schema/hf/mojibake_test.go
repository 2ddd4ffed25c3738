package hf

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"pgregory.net/rapid"
)

// asCP1252 is what a script sees that reads s as Windows-1252 (Latin-1 where that has no character).
func asCP1252(s string) string {
	var b strings.Builder
	for i := range len(s) {
		r := rune(s[i])
		for c, n := range cp1252 {
			if n == s[i] {
				r = c
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestMojibakeFound reads real words in the wrong encoding.
func TestMojibakeFound(t *testing.T) {
	for _, s := range []string{"é", "naïve", "’", "“quoted”", "–", "…", "£", "°", "×", "½", "Привет", "数学", "日本", "한국", "😀", "ελληνικά", "√2", "≤", "π r²"} {
		if utf8.RuneCountInString(s) == 1 && s == "π" {
			continue
		}
		if there, was := mojibake("x " + asCP1252(s) + " y"); there == "" || !strings.Contains(s, was) {
			t.Errorf("mojibake(%q) = %q, %q: not found", asCP1252(s), there, was)
		}
	}
}

// TestMojibakeMeant holds texts that are right as they are.
func TestMojibakeMeant(t *testing.T) {
	for _, s := range []string{"plain", "café", "«É»", "CAFÉ»", "ÄÖÜ", "Ærøskøbing", "Ñandú", "© 2024 ®", "5 € – 7 €", "l’été", "Ça va?", "PÃO", "À la carte…", "Ð°", "x½y", "±3 °C", "“É”", "ÂGÉ", "ÊTRE", "8×9÷3", "Š™"} {
		if there, was := mojibake(s); there != "" {
			t.Errorf("mojibake(%q) = %q, %q", s, there, was)
		}
	}
}

// TestScan compares the fast scan with one that looks at every byte.
func TestScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(0x1e, 0x22), rapid.ByteRange(0x7d, 0x82), rapid.ByteRange('a', 'z'), rapid.Byte()), 0, 40).Draw(t, "bytes")
		s := string(b)
		if got, want := scan(s), scanBytes(b); got != want {
			t.Fatalf("scan(%q) = %b, want %b", s, got, want)
		}
	})
}

// TestScanColumn compares a look at a whole column with one at each of its texts.
func TestScanColumn(t *testing.T) {
	piece := rapid.SampledFrom([]string{"", "plain", "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\n", "Ann’s", "\x00", "\x7f", "caf\u00c3\u00a9", "caf\u00e9", "\uFEFF", "1\u200B000", "\xe2\x82", "\t\r", "\xc3"})
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("text", schema.StringType)}}
	rapid.Check(t, func(t *rapid.T) {
		var lead rule.Scanner
		task := &rule.Task{}
		for _, id := range rapid.Permutation([]string{"RL006", "RL020", "RL021", "RL022", "RL023"}).Draw(t, "rules")[:rapid.IntRange(1, 5).Draw(t, "number")] {
			p, _ := rule.NewPass(rule.Find(id), &rule.Env{Target: rule.DefaultTarget()})
			p.Schema, p.Task = s, task
			if c := p.Rule.New(p).(rule.Scanner); lead == nil {
				lead = c
			}
		}
		var all []byte
		offsets := []int32{0}
		for range rapid.IntRange(0, 12).Draw(t, "texts") {
			for _, p := range rapid.SliceOfN(piece, 0, 4).Draw(t, "text") {
				all = append(all, p...)
			}
			offsets = append(offsets, int32(len(all)))
		}
		texts := schema.NewTexts(all, offsets)
		var want []int
		for i := range texts.Len() {
			if slices.ContainsFunc(lead.(*textRule).crew.members, func(c *textRule) bool {
				return scanBytes([]byte(texts.At(i)))&c.marks != 0 && c.judge(texts.At(i)) != ""
			}) {
				want = append(want, i)
			}
		}
		if got := lead.Scan(0, texts, nil); !slices.Equal(got, want) {
			t.Fatalf("of %q at %d: got %d, want %d", all, offsets, got, want)
		}
	})
}

func TestASCII(t *testing.T) {
	for n := range 20 {
		for _, tail := range []string{"", "é", "é and more text behind it"} {
			if got := ascii(strings.Repeat("a", n) + tail); got != n {
				t.Errorf("%d and %q: got %d", n, tail, got)
			}
		}
	}
}

func BenchmarkScan(b *testing.B) {
	s := strings.Repeat("Natalia sold 48/2 = <<48/2=24>>24 clips in May.\nNatalia sold 48+24 = <<48+24=72>>72 clips altogether\n", 3)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if scan(s) != 0 {
			b.Fatal("found something")
		}
	}
}
