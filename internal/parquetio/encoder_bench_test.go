package parquetio

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// sharedData returns the name of a file of the shared data, or skips.
func sharedData(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("RLPREP_SHARED")
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Join(filepath.Dir(file), "../../../shared")
	}
	path := filepath.Join(dir, "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no real data: %v (set RLPREP_SHARED)", err)
	}
	return path
}

// gsm8k returns the questions and answers of the train split, times over, made unique by a suffix.
func gsm8k(t testing.TB, times int) (questions, answers []string) {
	t.Helper()
	f, err := os.Open(sharedData(t, "gsm8k/train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type sample struct{ Question, Answer string }
	var rows []sample
	for s := bufio.NewScanner(f); s.Scan(); {
		var r sample
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	for k := range times {
		for _, r := range rows {
			questions = append(questions, fmt.Sprintf("%s [%d]", r.Question, k))
			answers = append(answers, fmt.Sprintf("%s [%d]", r.Answer, k))
		}
	}
	return questions, answers
}

func textVector(values []string) *record.Vector {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return &record.Vector{Values: b.NewArray(), Rows: len(values)}
}

// verlBatches returns rows in verl's form: data_source, prompt, ability, reward_model, extra_info, agent_name.
func verlBatches(t testing.TB, times, slice int) (*schema.Schema, []*record.Batch) {
	t.Helper()
	text := schema.StringType
	s := &schema.Schema{Fields: []schema.Field{
		schema.NewField("data_source", text),
		schema.NewField("prompt", schema.ListOf(schema.StructOf(schema.NewField("content", text), schema.NewField("role", text)))),
		schema.NewField("ability", text),
		schema.NewField("reward_model", schema.StructOf(schema.NewField("ground_truth", text), schema.NewField("style", text))),
		schema.NewField("extra_info", schema.StructOf(schema.NewField("answer", text), schema.NewField("index", schema.Int64Type),
			schema.NewField("question", text), schema.NewField("split", text))),
		schema.NewField("agent_name", text),
	}}
	constant := func(v string) record.Leaf { c := schema.TextValue(v); return record.Leaf{Const: &c} }
	questions, answers := gsm8k(t, times)
	var out []*record.Batch
	for from := 0; from < len(questions); from += slice {
		q, a := questions[from:min(from+slice, len(questions))], answers[from:min(from+slice, len(questions))]
		var contents, roles, truths []string
		var rep []uint8
		for i := range q {
			contents = append(contents, "You are a math expert. Think step by step and call the tool `calc_gsm8k_reward` with your answer before you give the last one.",
				q[i]+" Let's think step by step and output the final answer after \"####\".")
			roles = append(roles, "system", "user")
			rep = append(rep, 0, 1)
			truths = append(truths, strings.Fields(a[i][strings.Index(a[i], "####")+4:])[0])
		}
		content, role := textVector(contents), textVector(roles)
		content.Rep, content.Rows, role.Rep, role.Rows = rep, len(q), rep, len(q)
		out = append(out, &record.Batch{Schema: s, Rows: len(q), File: "train", SplitRow: int64(from), Leaves: []record.Leaf{
			constant("openai/gsm8k"), {Vec: content}, {Vec: role}, constant("math"), {Vec: textVector(truths)}, constant("rule"),
			{Vec: textVector(a)}, {Seq: &record.Seq{}}, {Vec: textVector(q)}, constant("train"), constant("tool_agent"),
		}})
	}
	return s, out
}

// BenchmarkEncode encodes 74,730 rows of gsm8k in verl's form, in row groups of 24,910, with each codec.
func BenchmarkEncode(b *testing.B) {
	s, batches := verlBatches(b, 10, 4982)
	for _, codec := range []Codec{None, Snappy, Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			e := NewEncoder(s, EncoderOptions{Codec: codec})
			b.ReportAllocs()
			size, raw, rows := 0, int64(0), int64(0)
			for b.Loop() {
				size, raw, rows = 0, 0, 0
				for i, batch := range batches {
					if err := e.Append(batch); err != nil {
						b.Fatal(err)
					}
					if i%5 == 4 {
						g, err := e.Finish()
						if err != nil {
							b.Fatal(err)
						}
						rows += g.Rows
						for _, c := range g.Chunks {
							size, raw = size+int(c.Pages.Len()), raw+c.Uncompressed
						}
						g.Release()
					}
				}
			}
			b.SetBytes(raw)
			b.ReportMetric(float64(size)/float64(rows), "B/row")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

// BenchmarkPageSize shows why pages are as large as they are.
func BenchmarkPageSize(b *testing.B) {
	s, batches := verlBatches(b, 10, 4982)
	for _, size := range []int{128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20} {
		for _, rows := range []int{5_000, 20_000, 1 << 30} {
			b.Run(fmt.Sprintf("%dKiB/%drows", size>>10, rows), func(b *testing.B) {
				smallPages(b, size, rows)
				e := NewEncoder(s, EncoderOptions{Codec: Zstd})
				total, raw := 0, int64(0)
				for b.Loop() {
					for _, batch := range batches {
						if err := e.Append(batch); err != nil {
							b.Fatal(err)
						}
					}
					g, err := e.Finish()
					if err != nil {
						b.Fatal(err)
					}
					total, raw = 0, 0
					for _, c := range g.Chunks {
						total, raw = total+int(c.Pages.Len()), raw+c.Uncompressed
					}
					g.Release()
				}
				b.SetBytes(raw)
				b.ReportMetric(float64(total)/74730, "B/row")
			})
		}
	}
}

// BenchmarkDecode reads the same rows back in slices of 4,096.
func BenchmarkDecode(b *testing.B) {
	s, batches := verlBatches(b, 10, 4982)
	for _, codec := range []Codec{None, Snappy, Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			e := NewEncoder(s, EncoderOptions{Codec: codec})
			for _, batch := range batches {
				if err := e.Append(batch); err != nil {
					b.Fatal(err)
				}
			}
			g, err := e.Finish()
			if err != nil {
				b.Fatal(err)
			}
			f := reopen(b, s, g)
			leaves := make([]int, len(s.Leaves()))
			for i := range leaves {
				leaves[i] = i
			}
			b.ReportAllocs()
			b.SetBytes(f.RowGroups()[0].Uncompressed)
			for b.Loop() {
				r, err := f.Reader(0, leaves, 0, f.NumRows())
				if err != nil {
					b.Fatal(err)
				}
				rows := 0
				for {
					v, err := r.Next(4096)
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					rows += v[0].Rows
				}
				if rows != 74730 {
					b.Fatal(rows)
				}
				r.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/74730, "ns/row")
		})
	}
}
