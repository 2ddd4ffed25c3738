package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/hub/hubtest"
)

// sampleHub serves the sample as a Hub does, for as long as the test runs, and returns what HF_ENDPOINT is.
func sampleHub(t *testing.T) string {
	t.Helper()
	s := hubtest.New()
	t.Cleanup(s.Close)
	s.CommitAs("openai/gsm8k", gsm8kCommit(t), gsm8kFiles(t))
	s.Commit("owner/lines", map[string]hubtest.File{
		"train.jsonl": {Data: readFile(t, "../../testdata/sample/train.jsonl")},
		"test.jsonl":  {Data: readFile(t, "../../testdata/sample/test.jsonl")},
		"README.md":   {Data: []byte("# lines\n")},
	}, "v1")
	s.Commit("owner/private", map[string]hubtest.File{"train.jsonl": {Data: []byte("{}\n")}})
	s.Restrict("owner/private", "hf_right", false)
	return s.URL
}

// gsm8kCommit is the one that the recipes name.
func gsm8kCommit(t *testing.T) string {
	t.Helper()
	a, err := hub.Parse(datasets.Find("gsm8k").Sources[0].Hub)
	if err != nil {
		t.Fatal(err)
	}
	return a.Revision
}

// gsm8kFiles are the sample, laid out as openai/gsm8k is.
func gsm8kFiles(t *testing.T) map[string]hubtest.File {
	t.Helper()
	files := map[string]hubtest.File{"README.md": {Data: []byte("# gsm8k\n")}}
	for _, split := range []string{"train", "test"} {
		lines := parquetOf(t, readFile(t, "../../testdata/sample/"+split+".jsonl"))
		files["main/"+split+"-00000-of-00001.parquet"] = hubtest.File{Data: lines, LFS: true}
		files["socratic/"+split+"-00000-of-00001.parquet"] = hubtest.File{Data: lines, LFS: true}
	}
	return files
}

// parquetOf is JSON lines of problems as a Parquet file.
func parquetOf(t *testing.T, lines []byte) []byte {
	t.Helper()
	var rows []problem
	for line := range bytes.Lines(lines) {
		var p problem
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, p)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[problem](&b, parquet.Compression(&parquet.Zstd))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A problem is a row of GSM8K.
type problem struct {
	Question string `parquet:"question,optional"`
	Answer   string `parquet:"answer,optional"`
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
