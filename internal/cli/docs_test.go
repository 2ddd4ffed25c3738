package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/catalog"
	"github.com/rlprep/rlprep/internal/report"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

var docsDir = flag.String("docs", "", "folder of the generated pages in place of docs/")

var update = flag.Bool("update", false, "write the generated pages of docs/ anew")

// targets are the columns of the table of rules: every target of every framework.
func targets() (names []string) {
	for _, f := range rule.Frameworks() {
		for _, t := range f.Targets() {
			names = append(names, t.String())
		}
	}
	return names
}

// generated are the folders below docs/ that hold generated pages and nothing else.
var generated = []string{"rules", "transforms", "recipes"}

// TestDocs holds the pages that are made from the registries to what these say now; -update ('make docs') writes them.
func TestDocs(t *testing.T) {
	docs := cmp.Or(*docsDir, filepath.Join(root(t), "docs"))
	want := pages(t)
	if *update {
		writePages(t, docs, want)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || string(got) != want[name] {
			t.Errorf("docs/%s is stale: run 'make docs'", filepath.ToSlash(name))
		}
	}
	for _, name := range presentPages(t, docs) {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/%s explains nothing that there is: run 'make docs'", filepath.ToSlash(name))
		}
	}
}

// root is the top of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func writePages(t *testing.T, docs string, want map[string]string) {
	t.Helper()
	for _, name := range presentPages(t, docs) {
		if _, ok := want[name]; !ok {
			if err := os.Remove(filepath.Join(docs, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range want {
		file := filepath.Join(docs, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// presentPages returns the files in the generated folders, as named from docs.
func presentPages(t *testing.T, docs string) (names []string) {
	t.Helper()
	for _, dir := range generated {
		files, err := filepath.Glob(filepath.Join(docs, dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, filepath.Join(dir, filepath.Base(f)))
		}
	}
	return names
}

const doNotEdit = "<!-- Made by 'make docs'; edit the Go file that is named at the end instead. -->\n"

// pages returns the text of every generated page by its name from docs.
func pages(t *testing.T) map[string]string {
	all := map[string]string{
		filepath.Join("rules", "README.md"):      rulesIndex(),
		filepath.Join("transforms", "README.md"): index("Transforms", "A transform is one change of rows.", catalog.Listings[1].Rows()),
		filepath.Join("recipes", "README.md"):    recipesIndex(),
	}
	all["scripting.md"] = withFormats(readText(t, filepath.Join(root(t), "docs", "scripting.md")))
	for _, r := range rule.All() {
		all[filepath.Join("rules", r.ID+".md")] = rulePage(r) + sourceLink(t, strings.ToLower(r.ID)+"_", "schema/*/")
	}
	for _, v := range transform.All() {
		all[filepath.Join("transforms", v.Name+".md")] = transformPage(v) + cmp.Or(sourceLink(t, fmt.Sprintf(`"%s"`, v.Name), "transform/"), sourceLink(t, fmt.Sprintf(`"%s"`, v.Name), "internal/starmap/"))
	}
	for _, r := range datasets.All() {
		all[filepath.Join("recipes", r.Name+".md")] = recipePage(r) + sourceLink(t, fmt.Sprintf(`"%s"`, r.Name), "datasets/")
	}
	return all
}

// formatTable is the table of the findings formats in docs/scripting.md, which 'make docs' writes.
var formatTable = regexp.MustCompile(`(?m)^\| format \|.*\n(\|.*\n)*`)

// withFormats returns a page with that table as the formats are now.
func withFormats(page string) string {
	table := "| format | for | one entry is |\n|---|---|---|\n"
	for _, f := range report.All() {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", f.Name, f.For, f.Entry)
	}
	return formatTable.ReplaceAllLiteralString(page, table)
}

// sourceLink links the Go file below dir that is called key, or that declares the quoted Name key.
func sourceLink(t *testing.T, key, dir string) string {
	files, err := filepath.Glob(filepath.Join(root(t), dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	declares := regexp.MustCompile(`Name:\s*` + regexp.QuoteMeta(key))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, "_test.go") || !strings.HasPrefix(filepath.Base(f), key) && !declares.Match(text) {
			continue
		}
		rel, err := filepath.Rel(root(t), f)
		if err != nil {
			t.Fatal(err)
		}
		rel = filepath.ToSlash(rel)
		return fmt.Sprintf("\n---\nWritten in [%s](../../%s).\n", rel, rel)
	}
	return ""
}

func index(title, what string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Made by 'make docs'; do not edit. -->\n# %s\n\n%s\n\n| name | what it is |\n|---|---|\n", title, what)
	for _, row := range rows {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", row[0], row[0], cell(row[1]))
	}
	return b.String()
}

// recipesIndex is the table of the recipes: whose script it is, and what its rows have.
func recipesIndex() string {
	var b strings.Builder
	b.WriteString("<!-- Made by 'make docs'; do not edit. -->\n# Recipes\n\nA recipe makes samples that a trainer takes of a published dataset. " +
		"`rlprep preprocess NAME` runs one, and `rlprep init pipeline --from NAME` writes it as a pipeline file that you can change.\n\n" +
		"Scripts are those of verl@b178a3cd5 (2026-01-29); `recipe/` is verl-recipe of that day.\n\n" +
		"| name | what it is | script | verl | rows | agent_name | extra_info.index | splits | random | other than the script |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range datasets.All() {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Name, cell(r.Title), cell(r.Script), cell(r.Versions), r.Rows,
			cell(r.Agent), r.Index, cell(strings.Join(r.Splits, ", ")), cell(r.Random), cell(r.Differs))
	}
	return b.String()
}

// rulesIndex is the table of the rules with their level in each target.
func rulesIndex() string {
	var b strings.Builder
	b.WriteString("<!-- Made by 'make docs'; do not edit. -->\n# Rules\n\n" +
		"A rule is one fault that data can have. An empty cell: the rule is off for that target. The first digit of an id says what it is about: " +
		"0 files and schema, 1 prompt, 2 data_source and reward, 3 agent and tools, 4 index and trace, 5 media, 6 duplicates and leaks, " +
		"7 launch configuration, 8 SFT and preference rows. Ids are never used again.\n\n")
	b.WriteString("| id | name | what it finds | rows | " + strings.Join(targets(), " | ") + " |\n|---|---|---|---|" + strings.Repeat("---|", len(targets())) + "\n")
	for _, r := range rule.All() {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |", r.ID, r.ID, r.Name, cell(r.Title), r.Rows)
		for _, name := range targets() {
			fmt.Fprintf(&b, " %s |", levelFor(r, name))
		}
		b.WriteByte('\n')
	}
	b.WriteString(fixTable())
	return b.String()
}

// levelFor is the level of r for the target of that name, "" where it is off.
func levelFor(r *rule.Rule, name string) string {
	target, err := rule.ParseTarget(name)
	if err != nil {
		panic(err)
	}
	if h, ok := r.Severity(target); ok && h.Level != rule.Off {
		return h.Level.String()
	}
	return ""
}

func rulePage(r *rule.Rule) string {
	d := catalog.NewRule(r)
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s %s\n\n%s.\n\n%s\n", doNotEdit, d.ID, d.Name, capital(prose(d.Title)), paragraphs(d.Doc))
	fmt.Fprintf(&b, "\n## Where it applies\n\n| %s | level | what happens |\n|---|---|---|\n", cmp.Or(r.Framework.Latest().Framework, "trainer"))
	for i, h := range d.Applies {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(h.Where(r.Framework, i)), h.Level, cell(h.Consequence))
	}
	for _, e := range d.Examples {
		heading := e.Heading()
		kind, rest, _ := strings.Cut(heading, ":")
		fmt.Fprintf(&b, "\n## %s%s\n", capital(strings.ToLower(kind)), prose(strings.TrimRight(": "+strings.TrimSpace(rest), ": ")))
		exampleFiles(&b, "file", e.Files)
		exampleFiles(&b, "validation file", e.Val)
		if e.Schema != "" {
			fmt.Fprintf(&b, "\nTypes: `%s`\n", e.Schema)
		}
		if e.Launch != "" {
			fmt.Fprintf(&b, "\nThe launch sets:\n\n```\n%s\n```\n", e.Launch)
		}
		for i, f := range e.Found {
			if i == 0 {
				b.WriteString("\nFound:\n")
			}
			fmt.Fprintf(&b, "- `%s`\n", f)
		}
	}
	b.WriteString("\n## How to fix it\n\n")
	for _, line := range catalog.FixLines(d) {
		fmt.Fprintf(&b, "- %s\n", fixProse(line))
	}
	for i, c := range d.Cites {
		if i == 0 {
			b.WriteString("\n## Read in\n\n")
		}
		fmt.Fprintf(&b, "- `%s`\n", c)
	}
	return b.String()
}

// fixProse marks a command, or the flags at the beginning of a line, as code.
func fixProse(line string) string {
	if strings.HasPrefix(line, "rlprep ") {
		return "`" + line + "`"
	}
	if flags, does, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(flags, "lint --fix") && !strings.HasSuffix(flags, "leaves it") {
		return "`" + flags + "`: " + prose(does)
	}
	return prose(line)
}

// fixTable is what 'lint --fix' fixes, and the list of the faults for which there is no fix.
func fixTable() string {
	var b, none strings.Builder
	b.WriteString("\n## What lint --fix fixes\n\nSafe fixes remove no row and change the meaning of no value. Unsafe fixes need `--unsafe-fixes`.\n\n| rule | safe | unsafe | what is left |\n|---|---|---|---|\n")
	launch := 0
	for _, r := range rule.All() {
		var does [2][]string
		for _, m := range r.Fixes {
			k := 0
			if m.Unsafe {
				k = 1
			}
			does[k] = append(does[k], m.Title)
		}
		name := fmt.Sprintf("[%s](%s.md) %s", r.ID, r.ID, r.Name)
		switch {
		case len(r.Fixes) > 0:
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, cell(strings.Join(does[0], "; ")), cell(strings.Join(does[1], "; else ")), cell(r.Unfixed))
		case r.Unfixed == rule.InLaunch:
			launch++
		default:
			fmt.Fprintf(&none, "| %s | %s |\n", name, cell(r.Unfixed))
		}
	}
	fmt.Fprintf(&b, "\n## Rules without a fix\n\n%d rules report faults of the launch (RL7xx). `--fix` changes data files only, so it leaves them. It also leaves these:\n\n| rule | why |\n|---|---|\n%s", launch, none.String())
	return b.String()
}

func exampleFiles(b *strings.Builder, what string, files []string) {
	for i, rows := range files {
		if len(files) > 1 || what != "file" {
			fmt.Fprintf(b, "\n%s %d:\n", capital(what), i)
		}
		fmt.Fprintf(b, "\n```jsonl\n%s\n```\n", strings.TrimRight(rows, "\n"))
	}
}

func transformPage(v *transform.Verb) string {
	d := catalog.NewTransform(v)
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s.\n\n%s\n", doNotEdit, d.Name, capital(prose(d.Title)), paragraphs(d.Doc))
	if len(d.Args) > 0 {
		b.WriteString("\n## Arguments\n\n| name | type | | what it says |\n|---|---|---|---|\n")
		for _, a := range d.Args {
			need := ""
			if a.Required {
				need = "required"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(a.Name), cell(a.Type), need, cell(a.Doc))
		}
	}
	rowExamples(&b, d.Examples)
	return b.String()
}

func recipePage(r *datasets.Recipe) string {
	d := catalog.NewRecipe(r)
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s.\n\n%s\n", doNotEdit, d.Name, capital(prose(d.Title)), paragraphs(d.Doc))
	b.WriteString("\n## Reads\n\n| split | files | columns |\n|---|---|---|\n")
	for _, line := range catalog.ReadsLines(d.Inputs) {
		split, rest, _ := strings.Cut(line, ": ")
		globs, columns, _ := strings.Cut(strings.TrimSuffix(rest, ")"), " (") // columns: of line formats
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(split), cell(globs), cell(columns))
	}
	for i, line := range catalog.ParamLines(d) {
		if i == 0 {
			b.WriteString("\n## Parameters\n\n`--param NAME=VALUE` sets an argument of the script.\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", prose(line))
	}
	fmt.Fprintf(&b, "\n## Steps\n\n`rlprep init pipeline --from %s` writes a pipeline file with these:\n\n```yaml\n%s```\n", d.Name, d.Steps)
	if len(d.Expects) > 0 {
		b.WriteString("\n## Known to raise, as warnings\n\n")
		for _, id := range d.Expects {
			fmt.Fprintf(&b, "- [%s](../rules/%s.md)\n", prose(catalog.RuleLine(id)), id)
		}
	}
	rowExamples(&b, d.Examples)
	return b.String()
}

func rowExamples(b *strings.Builder, examples []catalog.Rows) {
	for _, e := range examples {
		title := "Example"
		if name := cmp.Or(e.Title, e.Split); name != "" {
			title += ": " + prose(name)
		}
		fmt.Fprintf(b, "\n## %s\n", title)
		if e.Args != "" {
			fmt.Fprintf(b, "\nWith `%s`:\n", e.Args)
		}
		fmt.Fprintf(b, "\n```json\n%s\n```\n", tidy(e.In))
		if e.Error != "" {
			fmt.Fprintf(b, "\nis refused: `%s`\n", e.Error)
			continue
		}
		fmt.Fprintf(b, "\nbecomes\n\n```json\n%s\n```\n", tidy(e.Out))
	}
}

// tidy indents rows where one is long; short ones stay a line each.
func tidy(rows string) string {
	lines := strings.Split(strings.TrimRight(rows, "\n"), "\n")
	if !slices.ContainsFunc(lines, func(s string) bool { return len(s) > 100 }) {
		return strings.Join(lines, "\n")
	}
	for i, row := range lines {
		var b bytes.Buffer
		if json.Indent(&b, []byte(row), "", "  ") == nil {
			lines[i] = b.String()
		}
	}
	return strings.Join(lines, "\n")
}

// capital returns s with its first letter in upper case, where it begins with a plain word and not with a name in code.
func capital(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if s == "" || strings.ContainsAny(word, "_.[]=") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// markup is what would mean something in Markdown or its HTML: outside code, where it is text.
var markup = regexp.MustCompile("`[^`]*`" + `|(?m:^#+)|[<*$]|__+|\b_|_\b`)

// prose returns plain text as Markdown that reads the same. Text in backticks stays code.
func prose(s string) string {
	return markup.ReplaceAllStringFunc(s, func(m string) string {
		switch m[0] {
		case '`':
			return m
		case '<':
			return "&lt;"
		case '$':
			return "&#36;" // two of them would be a formula
		case '#':
			return `\` + m
		}
		return strings.ReplaceAll(strings.ReplaceAll(m, "_", `\_`), "*", `\*`)
	})
}

// paragraphs is prose, but for lines that begin with a blank: tables and code, which are kept as they stand.
func paragraphs(doc string) string {
	var out []string
	code := false
	for _, line := range strings.Split(doc, "\n") {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if indented != code {
			out = append(out, map[bool]string{true: "```text", false: "```"}[indented])
			code = indented
		}
		if !indented {
			line = prose(line)
		}
		out = append(out, line)
	}
	if code {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
}

// cell is prose for a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(prose(s), "|", `\|`), "\n", " ")
}

func TestParagraphs(t *testing.T) {
	got := paragraphs("a <b>\n\n  x  <y>\n  z\n\nc\n  d")
	if want := "a &lt;b>\n\n```text\n  x  <y>\n  z\n```\n\nc\n```text\n  d\n```"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"extra_info.index":           "extra_info.index",
		"__num_turns__":              `\_\_num_turns\_\_`,
		"an <image> in `<image>` $5": "an &lt;image> in `<image>` &#36;5",
		"#### 72":                    `\#### 72`,
		"a*b":                        `a\*b`,
	} {
		if got := prose(in); got != want {
			t.Errorf("prose(%q) = %q, want %q", in, got, want)
		}
	}
}
