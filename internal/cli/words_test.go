package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// dialect are phrases that a reader has to read twice. The right-hand words are what to write in their place.
var dialect = map[string]*regexp.Regexp{
	"again, or a word with re-": regexp.MustCompile(`\banew\b`),
	"suppressed, ignored":       regexp.MustCompile(`\blet pass\b`),
	"existing, or the value":    regexp.MustCompile(`\b(what|that|which) (is|are) there\b`),
	"reports, says":             regexp.MustCompile(`\b(is|are|be) told\b`),
	"distinguish":               regexp.MustCompile(`\btold apart\b|\btell apart\b`),
	"is repeated":               regexp.MustCompile(`\bstands? twice\b`),
	"crashes":                   regexp.MustCompile(`\bchokes?\b`),
	"resumes":                   regexp.MustCompile(`\bwhere it stood\b|\btaken up\b`),
	"unknown":                   regexp.MustCompile(`\bis none that\b|\bnone that is known\b`),
	"does not exist in":         regexp.MustCompile(`\bhas (it )?no more\b`),
	"as it is":                  regexp.MustCompile(`\bas it stands\b`),
	"fix":                       regexp.MustCompile(`\bmend(s|ed|ing)?\b`),
}

var code = regexp.MustCompile("`[^`]*`")

// TestWords: no string that users can see, in the program or on a page, has a phrase of the dialect.
func TestWords(t *testing.T) {
	top := root(t)
	report := func(where, text string) {
		for better, phrase := range dialect {
			if found := phrase.FindString(text); found != "" {
				t.Errorf("%s: %q: write: %s", where, found, better)
			}
		}
	}
	set := token.NewFileSet()
	for _, dir := range []string{"cmd", "internal", "schema", "transform", "datasets"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok && field.Tag != nil {
					return false // JSON fields keep their names
				}
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
						report(set.Position(l.Pos()).String(), text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil || len(pages) < 8 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range append(pages, filepath.Join(top, "README.md"), filepath.Join(top, "CHANGELOG.md"), filepath.Join(top, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			report(page+":"+strconv.Itoa(i+1), code.ReplaceAllString(line, "…")) // fields of JSON keep their names
		}
	}
}
