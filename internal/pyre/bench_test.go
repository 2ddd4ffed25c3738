package pyre

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func answers(b *testing.B) (all []string) {
	shared := os.Getenv("RLPREP_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	f, err := os.Open(filepath.Join(shared, "data/gsm8k/train.jsonl"))
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct{ Answer string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			b.Fatal(err)
		}
		all = append(all, row.Answer)
	}
	return all
}

// BenchmarkFind and BenchmarkAll compare patterns that scripts use, on the answers of GSM8K, with Go's regexp.
func BenchmarkFind(b *testing.B) {
	texts := answers(b)
	for _, p := range []string{`#### (\-?[0-9\.\,]+)`, `\\boxed\{([^{}]*)\}`, `(\d+)\s*$`, `(?i)the answer is (\w+)`, `<<[^<>]*=(\d+)>>`} {
		re, err := Compile(p, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(p+"/pyre", func(b *testing.B) {
			for i := range b.N {
				_, _ = re.Find(texts[i%len(texts)], Search, &Budget{Steps: 1e9})
			}
		})
		std := regexp.MustCompile(p)
		b.Run(p+"/regexp", func(b *testing.B) {
			for i := range b.N {
				std.FindStringSubmatchIndex(texts[i%len(texts)])
			}
		})
	}
}

func BenchmarkAll(b *testing.B) {
	texts := answers(b)
	for _, p := range []string{`<<([^<>]*)>>`, `\d+`, `[A-Z][a-z]+`, `\s+`, `\w+`} {
		re, err := Compile(p, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(p+"/pyre", func(b *testing.B) {
			for i := range b.N {
				_ = re.All(texts[i%len(texts)], &Budget{Steps: 1e9}, func([]int) (bool, error) { return true, nil })
			}
		})
		std := regexp.MustCompile(p)
		b.Run(p+"/regexp", func(b *testing.B) {
			for i := range b.N {
				std.FindAllStringSubmatchIndex(texts[i%len(texts)], -1)
			}
		})
	}
}
