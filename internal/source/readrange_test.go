package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/rlprep/rlprep/internal/jsonl/jsonltest"
)

// manyRows makes a file of n rows, with blank lines, or as an array.
func manyRows(n int, array bool, width func(int) int) string {
	var b strings.Builder
	if array {
		b.WriteString("[\n")
	}
	for i := range n {
		switch {
		case array && i > 0:
			b.WriteString(",")
			if i%3 == 0 {
				b.WriteString("\n ")
			}
		case !array && i%500 == 7:
			b.WriteString("\n\r\n")
		}
		fmt.Fprintf(&b, `{"n":%d,"a":"%s"}`, i, strings.Repeat("x}{\\\"", width(i)))
		if !array {
			b.WriteString("\n")
		}
	}
	if array {
		b.WriteString("\n]")
	}
	return b.String()
}

func TestCuttingKeepsRows(t *testing.T) {
	cols := jsonltest.Fields(t, "n int64", "a string")
	for _, array := range []bool{false, true} {
		text := manyRows(2500, array, func(i int) int { return i % 8 })
		f, err := embedded(t, text, cols)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := readUnits(f, f.ReadRanges(1<<30), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) != 2500 || f.Rows != 2500 {
			t.Fatalf("%d rows read, %d counted", len(want), f.Rows)
		}
		lines := strings.Split(text, "\n")
		for i, r := range want {
			if r.Row != int64(i) || !strings.HasPrefix(r.JSON, fmt.Sprintf(`{"n":%d,`, i)) {
				t.Fatalf("row %d is %+v", i, r)
			}
			if at := lines[r.Line-1]; !strings.Contains(at, fmt.Sprintf(`{"n":%d,`, i)) {
				t.Fatalf("row %d is said to be on line %d, which is %q", i, r.Line, at)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			units := f.ReadRanges(rapid.Int64Range(1, 1<<20).Draw(t, "target"))
			for range rapid.IntRange(0, 6).Draw(t, "cuts") {
				i := rapid.IntRange(0, len(units)-1).Draw(t, "unit")
				a, b := units[i].Cut(rapid.Int64Range(-1, units[i].Rows+1).Draw(t, "rows"))
				if a.Rows+b.Rows != units[i].Rows || a.Bytes+b.Bytes != units[i].Bytes {
					t.Fatalf("cut of %+v into %+v and %+v", units[i], a, b)
				}
				units = slices.Replace(units, i, i+1, a, b)
			}
			units = slices.DeleteFunc(units, func(u ReadRange) bool { return u.Rows == 0 })
			got, _, err := readUnits(f, units, rapid.IntRange(50, 3000).Draw(t, "batch"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d units give other rows", len(units))
			}
		})
	}
}

func TestUnitsAreOfLikeSize(t *testing.T) {
	f, err := embedded(t, manyRows(20000, false, func(int) int { return 50 }), jsonltest.Fields(t, "n int64"))
	if err != nil {
		t.Fatal(err)
	}
	units := f.ReadRanges(1 << 20)
	if len(units) < 5 {
		t.Fatalf("%d units of %d bytes", len(units), f.Bytes)
	}
	next := int64(0)
	for _, u := range units {
		if u.FileRow != next || u.Bytes > 2<<20 || u.Rows == 0 {
			t.Errorf("unit %+v after row %d", u, next)
		}
		next += u.Rows
	}
	if next != f.Rows {
		t.Errorf("units end at row %d of %d", next, f.Rows)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("long ", 1<<20)
	f, err := embedded(t, fmt.Sprintf("{\"a\":%q}\n{\"a\":\"b\"}\n[", long)[:len(long)+19], jsonltest.Fields(t, "a string"))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := readUnits(f, f.ReadRanges(0), 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0].JSON) != len(long)+8 || got[1].JSON != `{"a":"b"}` {
		t.Errorf("%d rows", len(got))
	}
}

func TestBatchesOfBlankLines(t *testing.T) {
	f, err := embedded(t, "{}\n{}\n\n{}\n{}\n", jsonltest.Fields(t, "n int64"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(t.Context(), f.ReadRanges(0)[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := r.Next(t.Context(), 2)
	if err != nil || b.Rows != 2 || b.FirstLine != 1 || b.Lines != nil {
		t.Errorf("first batch %+v, %v", b, err)
	}
	b, err = r.Next(t.Context(), 2)
	if err != nil || b.Rows != 2 || b.FileRow != 2 || b.FirstLine != 4 || b.Lines != nil {
		t.Errorf("second batch %+v, %v", b, err)
	}
	if _, err = r.Next(t.Context(), 2); err != io.EOF {
		t.Errorf("then %v", err)
	}
}

func compressed(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompressed(t *testing.T) {
	text := manyRows(3000, false, func(i int) int { return i % 7 })
	plain, err := embedded(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := readUnits(plain, plain.ReadRanges(0), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.jsonl.gz", "a.json.zst", "named-plainly.jsonl"} {
		data := compressed(t, name, text)
		two := append(bytes.Clone(data), data...) // members and frames one after the other
		dir := write(t, map[string]string{name: string(data), "two-" + name: string(two), "cut-" + name: string(data[:len(data)/2])})
		spool := filepath.Join(t.TempDir(), "spool")
		for _, in := range []string{"", "two-"} {
			set, err := Resolve(t.Context(), Spec{Args: []string{filepath.Join(dir, in+name)}, TempDir: spool, Hash: in == ""})
			if err != nil {
				t.Fatal(err)
			}
			f := set.Files()[0]
			if f.spool == nil {
				t.Errorf("%s: not spooled", f.Name)
			}
			got, _, err := readUnits(f, f.ReadRanges(1<<16), 1000)
			if err != nil {
				t.Fatal(err)
			}
			if in != "" {
				if len(got) != 2*len(want) {
					t.Errorf("%s: %d rows", f.Name, len(got))
				}
			} else if !slices.Equal(got, want) {
				t.Errorf("%s: other rows than in the plain file", f.Name)
			}
			checkSum(t, f, in == "", data, two)
			if err := set.Close(); err != nil {
				t.Error(err)
			}
		}
		_, err := Resolve(t.Context(), Spec{Args: []string{filepath.Join(dir, "cut-"+name)}, TempDir: spool})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it is cut off") {
			t.Errorf("cut-%s: %v", name, err)
		}
		if left, _ := os.ReadDir(spool); len(left) > 0 {
			t.Errorf("left in %s: %v", spool, left)
		}
	}
}

func TestStdin(t *testing.T) {
	text := "{\"n\":1}\n{\"n\":2}\n"
	for name, in := range map[string][]byte{"plain": []byte(text), "gzip": compressed(t, "x.gz", text), "zstd": compressed(t, "x.zst", text)} {
		set, err := Resolve(t.Context(), Spec{Args: []string{"-"}, Stdin: bytes.NewReader(in), TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(name, err)
		}
		f := set.Files()[0]
		got, _, err := readUnits(f, f.ReadRanges(0), 10)
		if err != nil || !slices.Equal(jsonltest.Texts(got), []string{`{"n":1}`, `{"n":2}`}) || f.Name != "-" || f.Split != "train" || f.Bytes != int64(len(in)) {
			t.Errorf("%s: %v, %v, %+v", name, got, err, f.File)
		}
		checkSum(t, f, true, in, nil)
		set.Close()
	}
	if _, err := Resolve(t.Context(), Spec{Args: []string{"-"}}); err == nil {
		t.Error("no standard input: no error")
	}
}

func TestChangedFile(t *testing.T) {
	dir := write(t, map[string]string{"a.jsonl": "{\"n\":1}\n{\"n\":2}\n"})
	path := filepath.Join(dir, "a.jsonl")
	for _, now := range []string{"{\"n\":1}\n", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"} {
		set, err := Resolve(t.Context(), Spec{Args: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		f := set.Files()[0]
		if _, _, err := readUnits(f, f.ReadRanges(0), 10); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("error %v", err)
		}
		if _, err := f.SHA256(t.Context()); err == nil {
			t.Error("hash of a changed file: no error")
		}
		set.Close()
		if err := os.WriteFile(path, []byte("{\"n\":1}\n{\"n\":2}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, err := embedded(t, manyRows(1000, false, func(int) int { return 1 }), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(ctx, f.ReadRanges(0)[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := r.Next(ctx, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Resolve(ctx, Spec{Embedded: []Embedded{{Name: "a.jsonl", Data: []byte("{}\n")}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("resolve: error %v", err)
	}
}
