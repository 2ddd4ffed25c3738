package verl

import (
	"path"
	"strings"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

var _ = framework.Add(rule.Rule{
	ID: "RL001", Name: "file-suffix-unknown", Cites: []string{"verl@b178a3cd5 rl_dataset.py:162"},
	Title: "the loader does not support the suffix of the file name",
	Doc: `
RLHFDataset chooses the loader by the end of the name: .parquet, .json and, since 0.7.1, .jsonl. Any other name fails with ValueError
'Unsupported file format' at startup (rl_dataset.py, _read_files_and_tokenize; executed on verl 0.9.1). .parquet.gz, .pq and upper case fail
too. 0.5 and 0.6 read every file as Parquet. The SFT and reward model datasets also read every file as Parquet (pandas.read_parquet).

Rename the file, or write it as Parquet.
`,
	Applies: []rule.Severity{{Level: rule.Error, Consequence: "the trainer fails at startup"}},
	New: eachFile(func(p *rule.Pass, f *rule.File) {
		if why := unread(p.Env, f); why != "" {
			p.Reportf(schema.FilePos(f.Name), schema.Value{}, "%s: %s", why, p.Consequence)
		}
	}),
	Unfixed: "rename the file by hand, and change the launch that names it",
	Examples: []rule.Example{
		{Title: "a .pq file", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].Name = "data/train.pq" }, Want: []string{"0 -1"}},
		{Title: "JSON Lines in gzip", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].Name, f[0].Format = "train.jsonl.gz", "jsonl" }, Want: []string{"0 -1"}},
		{Title: "JSON Lines for verl 0.6", Files: []string{`{"id":1}`}, Target: "verl@0.6", Edit: func(f []*rule.File) { f[0].Name, f[0].Format = "train.jsonl", "jsonl" }, Want: []string{"0 -1"}},
		{Title: "JSON Lines for SFT", Rows: rule.SFT, Files: []string{`{"messages":[{"role":"assistant","content":"Hi"}]}`}, Edit: func(f []*rule.File) { f[0].Name, f[0].Format = "train.jsonl", "jsonl" }, Want: []string{"0 -1"}},
		{Title: "a .parquet file", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].Name = "data/train.parquet" }},
		{Title: "JSON Lines", Files: []string{`{"id":1}`}, Edit: func(f []*rule.File) { f[0].Name, f[0].Format = "train.jsonl", "jsonl" }},
		{Title: "any name for verl 0.6, while it is Parquet", Files: []string{`{"id":1}`}, Target: "verl@0.6", Edit: func(f []*rule.File) { f[0].Name = "train.pq" }},
	},
})

// unread says why the target's loader does not take the file; "" where it does.
func unread(env *rule.Env, f *rule.File) string {
	if f.Rewritten || f.Name == "-" || f.Name == "<stdin>" { // standard input has no name
		return ""
	}
	parquet := f.Format == "" || f.Format == "parquet"
	if env.Rows != rule.RL || !env.Target.Within(readsJSONLines) {
		if parquet {
			return ""
		}
		return "it is read as Parquet, and is " + f.Format
	}
	switch name := path.Base(f.Name); {
	case strings.HasSuffix(name, ".parquet"):
		if !parquet {
			return "it is read as Parquet, and is " + f.Format
		}
	case strings.HasSuffix(name, ".json"), strings.HasSuffix(name, ".jsonl"):
		if parquet && f.Format != "" {
			return "it is read as JSON, and is Parquet"
		}
	default:
		return "Unsupported file format: the name must end in .parquet, .json or .jsonl"
	}
	return ""
}
