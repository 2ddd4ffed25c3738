package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"

	"github.com/rlprep/rlprep/schema"
)

// asLines returns what a decompressor makes of text.
func asLines(t *testing.T, c *decompressor, text string) (string, error) {
	t.Helper()
	r, err := c.open(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// CSV becomes JSON Lines whose lines have the numbers of the records, whatever is quoted.
func TestCSVLines(t *testing.T) {
	fields := []schema.Field{schema.NewField("n", schema.Int64Type), schema.NewField("ok", schema.BoolType), schema.NewField("tags", schema.ListOf(schema.StringType))}
	for _, c := range []struct{ name, text, want, fault string }{
		{"header alone", "a,b\n", "", ""},
		{"text", "a,b\n1,\"x, \"\"y\"\"\"\n", "\n{\"a\":\"1\",\"b\":\"x, \\\"y\\\"\"}\n", ""},
		{"mark, CRLF, no last newline", "\ufeffa\r\nx\r\ny", "\n{\"a\":\"x\"}\n{\"a\":\"y\"}\n", ""},
		{"two lines in a value", "a\n\"x\ny\"\nz\n", "\n{\"a\":\"x\\ny\"}\n\n{\"a\":\"z\"}\n", ""},
		{"types that are declared", "n,ok,tags\n3,TRUE,\"[\"\"u\"\"]\"\n,,\nfour,no,v\n", "\n{\"n\":3,\"ok\":true,\"tags\":[\"u\"]}\n{\"n\":null,\"ok\":null,\"tags\":null}\n{\"n\":\"four\",\"ok\":\"no\",\"tags\":\"v\"}\n", ""},
		{"an index of pandas", ",a\n0,x\n", "\n{\"Unnamed: 0\":\"0\",\"a\":\"x\"}\n", ""},
		{"empty", "", "", "it is empty: the first line must name the columns"},
		{"two of a name", "a,a\n", "", `two columns are called "a"`},
		{"too few", "a,b\n1,2\n3\n", "", "line 3: the record has another number of values than the header, which has 2"},
		{"a quote inside", "a\nx\"y\n", "", "line 2, column 2: a quote inside a value without quotes"},
		{"a quote that is not closed", "a\n\"x\ny\n", "", "a quote that is not closed"},
		{"not UTF-8", "a\n\xff\n", "", `line 2: column "a" is not UTF-8`},
		{"a huge record", "a\n\"" + strings.Repeat("x", 1<<20), "", "a record is longer than --max-line-bytes allows"},
	} {
		got, err := asLines(t, csvLines(',', fields, 64<<10), c.text)
		if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) || c.fault == "" && (err != nil || got != c.want) {
			t.Errorf("%s: got %q, %v; want %q, %q", c.name, got, err, c.want, c.fault)
		}
	}
}

// Files of all forms are opened by their names: compressed, tab-separated, in a folder alone and beside Parquet.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("q\nx\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"t.tsv": "q\ta\nx\ty\n", "t.csv.gz": packed.String(), "folder/train.csv": "q\nx\n", "both/train.jsonl": "{\"q\":1}\n", "both/train.csv": "q\nx\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for arg, want := range map[string]string{"t.tsv": "tsv 1 q, a", "t.csv.gz": "csv 1 q", "folder": "csv 1 q", "both": "jsonl 1 q"} {
		set, err := Resolve(context.Background(), Spec{Args: []string{filepath.Join(dir, arg)}})
		if err != nil {
			t.Fatal(err)
		}
		f := set.Files()[0]
		if got := f.Format + " 1 " + strings.Join(f.Schema.Names(), ", "); got != want || f.Rows != 1 || len(set.Files()) != 1 {
			t.Errorf("%s: %s with %d rows in %d files, want %s", arg, got, f.Rows, len(set.Files()), want)
		}
		set.Close()
	}
}

// arrowRows writes two batches of rows as an Arrow file or stream.
func arrowRows(t *testing.T, name string, stream bool, fields ...arrow.Field) {
	t.Helper()
	s := arrow.NewSchema(fields, nil)
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	if stream {
		w = ipc.NewWriter(out, ipc.WithSchema(s))
	} else if w, err = ipc.NewFileWriter(out, ipc.WithSchema(s)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`[{"z":"x","m":[{"role":"user","content":"a\"b"}],"n":1,"f":2},{"z":null,"m":[],"n":null,"f":0.5}]`, `[{"z":"y","m":null,"n":3,"f":null}]`} {
		batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestArrow(t *testing.T) {
	message := arrow.StructOf(arrow.Field{Name: "role", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "content", Type: arrow.BinaryTypes.String, Nullable: true})
	fields := []arrow.Field{{Name: "z", Type: arrow.BinaryTypes.LargeString, Nullable: true}, {Name: "m", Type: arrow.ListOf(message), Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}
	want := "{\"z\":\"x\",\"m\":[{\"role\":\"user\",\"content\":\"a\\\"b\"}],\"n\":1,\"f\":2.0}\n{\"z\":null,\"m\":[],\"n\":null,\"f\":0.5}\n{\"z\":\"y\",\"m\":null,\"n\":3,\"f\":null}\n"
	for _, stream := range []bool{false, true} {
		dir := t.TempDir()
		name := filepath.Join(dir, "data-00000-of-00001.arrow")
		arrowRows(t, name, stream, fields...)
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := arrowLines(in).open(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("stream %t: got\n%s%v\nwant\n%s", stream, got, err, want)
		}
		r.Close()
		in.Close()
		for _, other := range []string{"state.json", "dataset_info.json"} { // as save_to_disk leaves them
			if err := os.WriteFile(filepath.Join(dir, other), []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		set, err := Resolve(context.Background(), Spec{Args: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		f := set.Files()[0]
		if got := strings.Join(f.Schema.Names(), " "); f.Format != "arrow" || f.Rows != 3 || got != "z m n f" {
			t.Errorf("format %s, %d rows, columns %s", f.Format, f.Rows, got)
		}
		set.Close()
		cut(t, name)
	}
	name := filepath.Join(t.TempDir(), "b.arrow")
	s := arrow.NewSchema([]arrow.Field{{Name: "image", Type: arrow.BinaryTypes.Binary}}, nil)
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := ipc.NewWriter(out, ipc.WithSchema(s)).Close(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if _, err := Resolve(context.Background(), Spec{Args: []string{name}}); err == nil || !strings.Contains(err.Error(), `column "image": type binary of Arrow is not supported`) {
		t.Errorf("binary: %v", err)
	}
}

// cut cuts an Arrow file off at many places: each is an error about the file, or the rows before the cut.
func cut(t *testing.T, name string) {
	t.Helper()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 41 {
		if err := os.WriteFile(name, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		set, err := Resolve(context.Background(), Spec{Args: []string{name}})
		if err == nil {
			set.Close()
		} else if !errors.Is(err, ErrFormat) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}
