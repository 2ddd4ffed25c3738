package starmap

import (
	"github.com/rlprep/rlprep/internal/pystar"
	"github.com/rlprep/rlprep/transform"
)

var _ = transform.Add(transform.Verb{
	Name:  "map",
	Title: "run a map function on every row, as HF datasets' map does",
	Doc: `
Runs a function of yours, in Starlark, which is Python without what makes it unrepeatable: verl's process_fn runs nearly word for
word. The file has make_map_fn(split), which returns process_fn(example, idx), or process_fn itself, with idx or without.

A row comes as a dict, structs as dicts, nulls as None. What the function returns is laid over the example, as HF datasets' map does it: columns
of the source stay first and in their order, those that were popped are gone, new keys come after. None leaves the row out (HF
datasets keeps it unchanged: return example for that), and a list of dicts makes several rows. idx is the number of the source row
within its split. A column that the function does not name is neither decoded nor changed.

Types are found out from the first 1,000 rows of each split, as HF datasets' writer does, or said by 'schema'. A later row that does not fit
is rejected (map-type) with its number, the key and both types; a row at which the function fails is rejected too (map-error, or the text of fail). A row
may take two million steps; beyond that, or at too large texts and lists, the run ends.

re, json and math are available without an import and behave as Python's; docs/scripting.md says where they differ.
`,
	Short: "file",
	Args: []transform.Arg{
		{Name: "file", Type: "file", Doc: "the script, from the pipeline's folder"},
		{Name: "code", Type: "string", Doc: "the script itself, in place of file"},
		{Name: "schema", Type: "mapping of names to types", Doc: "types of keys that are not to be found out: {agent_name: string}; such a key may be missing, and is null then"},
		{Name: "split", Type: "split", Doc: "what make_map_fn is given; the name of the split when not given"},
	},
	New: newMap,
	Examples: []transform.Example{
		{
			Title: "verl's shape: pop the raw columns, return the new ones",
			Args:  `{"code":"def make_map_fn(split):\n    def process_fn(example, idx):\n        question = example.pop(\"question\")\n        return {\"prompt\": [{\"role\": \"user\", \"content\": question}], \"extra_info\": {\"split\": split, \"index\": idx}}\n    return process_fn","split":"train"}`,
			In:    `{"question":"1+1?","level":"easy"}`,
			Out:   `{"level":"easy","prompt":[{"role":"user","content":"1+1?"}],"extra_info":{"split":"train","index":0}}`,
		},
		{
			Title: "None leaves a row out, a list makes several",
			Args:  `{"code":"def process_fn(example):\n    if example[\"n\"] == 0:\n        return None\n    return [{\"copy\": i} for i in range(example[\"n\"])]"}`,
			In:    `{"n":0}` + "\n" + `{"n":2}`,
			Out:   `{"n":2,"copy":0}` + "\n" + `{"n":2,"copy":1}`,
		},
		{
			Title: "the example itself, changed",
			Args:  `{"code":"def process_fn(example):\n    example[\"text\"] = re.sub(r\"\\s+\", \" \", example[\"text\"]).strip()\n    return example"}`,
			In:    `{"id":7,"text":"  two\n words "}`,
			Out:   `{"id":7,"text":"two words"}`,
		},
		{
			Title: "a row at which the function fails",
			Args:  `{"code":"def process_fn(example):\n    return {\"n\": int(example[\"label\"])}"}`,
			In:    `{"label":"3"}` + "\n" + `{"label":"x"}`,
			Error: `map-error: int of "x", which is no integer`,
		},
		{
			Title: "a type that changes",
			Args:  `{"code":"def process_fn(example):\n    return {\"n\": example[\"n\"]}","schema":{"n":"int64"}}`,
			In:    `{"n":1.5}`,
			Error: `map-type: key n: expected int64, got a float 1.5`,
		},
	},
})

func newMap(args transform.Args) (transform.RowStep, error) {
	r := transform.NewArgs("map", args)
	file, hasFile := args["file"].(transform.FileText)
	code := r.Text("code", "")
	switch {
	case hasFile == (code != ""):
		r.Fail("", "give file or code, and not both")
	case !hasFile:
		file = transform.FileText{Name: "code", Text: code}
	}
	declared := r.Fields("schema")
	if err := r.Err(); err != nil {
		return nil, err
	}
	p, err := pystar.Load(file.Name, file.Text)
	if err == nil {
		var m *Map
		if m, err = NewMap(p, r.Text("split", ""), declared); err == nil {
			return m, nil
		}
	}
	at := "file"
	if !hasFile {
		at = "code"
	}
	r.Fail(at, "%w", err)
	return nil, r.Err()
}

var _ = transform.Add(transform.Verb{
	Name:  "filter",
	Title: "keep the rows for which a condition holds",
	Doc: `
Keeps the rows for which 'where' is true; the others are removed and counted (filtered). The condition is an expression in Starlark, as in
map functions: comparisons, and, or, not, in, len, text methods, re.search. A name is a column, extra_info.level a field of a
struct; col("…") takes a path with odd names. Only the columns that it names are decoded. A row group
that keeps all of its rows is copied undecoded.

A null is None: 'score > 0.5' fails on it, and the row is rejected (filter-error). Say what is meant: 'score != None and score > 0.5'.
`,
	Short: "where",
	Args:  []transform.Arg{{Name: "where", Type: "expression", Doc: "len(question) > 10 and extra_info.level != \"easy\"", Required: true}},
	New:   newFilter,
	Examples: []transform.Example{
		{
			Title: "by a field of a struct",
			Args:  `{"where":"extra_info.level >= 3 and \"?\" in question"}`,
			In:    `{"question":"1+1?","extra_info":{"level":3}}` + "\n" + `{"question":"2+2?","extra_info":{"level":1}}`,
			Out:   `{"question":"1+1?","extra_info":{"level":3}}`,
		},
		{
			Title: "by a pattern, nulls left out",
			Args:  `{"where":"answer != None and re.search(r\"#### -?\\d\", answer)"}`,
			In:    `{"answer":"#### 72"}` + "\n" + `{"answer":null}` + "\n" + `{"answer":"none"}`,
			Out:   `{"answer":"#### 72"}`,
		},
		{
			Title: "a null that was not thought of",
			Args:  `{"where":"score > 0.5"}`,
			In:    `{"score":0.7}` + "\n" + `{"score":null}`,
			Error: `filter-error: NoneType > float not implemented`,
		},
		{
			Title: "no such column",
			Args:  `{"where":"qestion != \"\""}`,
			In:    `{"question":"1+1?"}`,
			Error: `no column "qestion" (columns: question); did you mean "question"?`,
		},
	},
})

func newFilter(args transform.Args) (transform.RowStep, error) {
	r := transform.NewArgs("filter", args)
	f := Filter{Where: r.Text("where", "")}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if _, err := pystar.ParseExpression(f.Where); err != nil {
		r.Fail("where", "argument where: %w", err)
		return nil, r.Err()
	}
	return f, nil
}
