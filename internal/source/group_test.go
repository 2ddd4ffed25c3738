package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"pgregory.net/rapid"
)

type chatRow struct {
	ID     int64   `parquet:"id"`
	Text   *string `parquet:"text,optional"`
	Prompt []struct {
		Role string `parquet:"role"`
	} `parquet:"prompt,list"`
}

// parquetBytes makes a Parquet file with these row groups.
func parquetBytes(t testing.TB, groups ...int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[chatRow](&out)
	id := 0
	for _, n := range groups {
		for range n {
			row := chatRow{ID: int64(id)}
			if id%3 > 0 {
				text := fmt.Sprint("row ", id)
				row.Text = &text
			}
			for k := range id % 4 {
				row.Prompt = append(row.Prompt, struct {
					Role string `parquet:"role"`
				}{fmt.Sprint("r", k)})
			}
			if _, err := w.Write([]chatRow{row}); err != nil {
				t.Fatal(err)
			}
			id++
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func openParquet(t *testing.T, data []byte) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.parquet")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := Resolve(t.Context(), Spec{Args: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set.Files()[0]
}

func TestParquetUnits(t *testing.T) {
	f := openParquet(t, parquetBytes(t, 100, 1, 250))
	if f.Format != "parquet" || f.Rows != 351 || !slices.Equal(f.RowGroups, []int64{100, 1, 250}) {
		t.Fatalf("file %+v", f.File)
	}
	units := f.ReadRanges(0)
	if len(units) != 3 || !units[2].Whole || units[2].FileRow != 101 || units[2].RowGroup != 2 {
		t.Fatalf("units %+v", units)
	}
	want, _, err := readUnits(f, units, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range want {
		if r.Row != int64(i) || !strings.HasPrefix(r.JSON, fmt.Sprintf(`{"id":%d,`, i)) {
			t.Fatalf("row %d is %+v", i, r)
		}
	}
	if len(want) != 351 || want[7].JSON != `{"id":7,"text":"row 7","prompt":[{"role":"r0"},{"role":"r1"},{"role":"r2"}]}` {
		t.Fatalf("%d rows; row 7 is %s", len(want), want[7].JSON)
	}
	rapid.Check(t, func(t *rapid.T) {
		units := f.ReadRanges(0)
		for range rapid.IntRange(0, 5).Draw(t, "cuts") {
			i := rapid.IntRange(0, len(units)-1).Draw(t, "unit")
			a, b := units[i].Cut(rapid.Int64Range(0, units[i].Rows).Draw(t, "rows"))
			if a.Rows > 0 && b.Rows > 0 && (a.Whole || b.Whole) {
				t.Fatalf("parts of a row group are Whole: %+v, %+v", a, b)
			}
			units = slices.Replace(units, i, i+1, a, b)
		}
		units = slices.DeleteFunc(units, func(u ReadRange) bool { return u.Rows == 0 })
		got, _, err := readUnits(f, units, rapid.IntRange(1, 300).Draw(t, "batch"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatal("other rows")
		}
	})
}

func TestLargeRowGroupIsCut(t *testing.T) {
	f := openParquet(t, parquetBytes(t, 100, 7))
	size := f.Parquet.RowGroups()[0].Uncompressed
	units := f.groups(size/3 + 1)
	var got []string
	for _, u := range units {
		got = append(got, fmt.Sprintf("%d:%d+%d@%d %v", u.RowGroup, u.FileRow, u.Rows, u.InGroup, u.Whole))
	}
	if want := []string{"0:0+33@0 false", "0:33+33@33 false", "0:66+34@66 false", "1:100+7@0 true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if whole := f.groups(0); len(whole) != 2 || !whole[0].Whole {
		t.Errorf("not cut: %+v", whole)
	}
}

func TestRawAndDecoded(t *testing.T) {
	f := openParquet(t, parquetBytes(t, 50))
	u := f.ReadRanges(0)[0]
	part, _ := u.Cut(20)
	for _, tt := range []struct {
		unit   ReadRange
		decode []int
		raw    bool
	}{{u, nil, true}, {u, []int{2, 0, 2}, true}, {part, []int{1}, false}, {part, nil, false}} {
		r, err := f.Open(t.Context(), tt.unit, tt.decode)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		raws := map[int]*record.Raw{}
		for {
			b, err := r.Next(t.Context(), 15)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.FileRow != int64(rows) || len(b.Leaves) != 3 {
				t.Errorf("batch %+v", b)
			}
			for i, l := range b.Leaves {
				if (l.Vec != nil) != slices.Contains(tt.decode, i) || (l.Raw != nil) != tt.raw {
					t.Errorf("decode %v, whole %v: leaf %d: Vec %v, Raw %v", tt.decode, tt.unit.Whole, i, l.Vec != nil, l.Raw != nil)
				}
				if l.Vec != nil && l.Vec.Rows != b.Rows {
					t.Errorf("leaf %d has %d of %d rows", i, l.Vec.Rows, b.Rows)
				}
				if raws[i] != nil && raws[i] != l.Raw {
					t.Error("another Raw in the next batch")
				}
				raws[i] = l.Raw
			}
			rows += b.Rows
		}
		if int64(rows) != tt.unit.Rows {
			t.Errorf("%d rows of %d", rows, tt.unit.Rows)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Open(t.Context(), u, []int{3}); err == nil {
		t.Error("leaf 3: no error")
	}
}

func TestParquetByContent(t *testing.T) {
	data := string(parquetBytes(t, 5))
	dir := write(t, map[string]string{"a.pq": data, "b.jsonl": data, "c": data})
	for _, name := range []string{"a.pq", "b.jsonl", "c", "*"} {
		set, err := Resolve(t.Context(), Spec{Args: []string{filepath.Join(dir, name)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range set.Files() {
			if f.Format != "parquet" || f.Rows != 5 {
				t.Errorf("%s: %+v", name, f.File)
			}
		}
		set.Close()
	}
}

func TestParquetFromStdin(t *testing.T) {
	spool := t.TempDir()
	data := parquetBytes(t, 5)
	set, err := Resolve(t.Context(), Spec{Args: []string{"-"}, Stdin: bytes.NewReader(data), TempDir: spool})
	if err != nil {
		t.Fatal(err)
	}
	f := set.Files()[0]
	got, _, err := readUnits(f, f.ReadRanges(0), 2)
	if err != nil || len(got) != 5 || f.Name != "-" {
		t.Errorf("%s: %d rows, %v", f.Name, len(got), err)
	}
	checkSum(t, f, true, data, nil)
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(spool); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	_, err = Resolve(t.Context(), Spec{Args: []string{"-"}, Stdin: bytes.NewReader(data[:len(data)-1]), TempDir: spool})
	if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), "-: ") || strings.Contains(err.Error(), spool) {
		t.Errorf("cut off: %v", err)
	}
	if left, _ := os.ReadDir(spool); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestDamagedParquet(t *testing.T) {
	dir := t.TempDir()
	data := parquetBytes(t, 200)
	for name, damage := range map[string]func([]byte) []byte{
		"cut":    func(b []byte) []byte { return b[:len(b)/2] },
		"footer": func(b []byte) []byte { b[len(b)-20] ^= 0xff; b[len(b)-40] ^= 0xff; return b },
		"length": func(b []byte) []byte { b[len(b)-5] = 0x7f; return b },
	} {
		path := filepath.Join(dir, name+".parquet")
		if err := os.WriteFile(path, damage(bytes.Clone(data)), 0o644); err != nil {
			t.Fatal(err)
		}
		set, err := Resolve(t.Context(), Spec{Args: []string{path}})
		if err == nil {
			set.Close()
			if name != "footer" { // where the flip may hit text that nobody checks
				t.Errorf("%s: no error", name)
			}
			continue
		}
		if !errors.Is(err, ErrFormat) || !errors.Is(err, parquetio.ErrFormat) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChangedParquet(t *testing.T) {
	f := openParquet(t, parquetBytes(t, 20))
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(f.path, later, later); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readUnits(f, f.ReadRanges(0), 100); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("error %v", err)
	}
}

// TestGSM8K reads the real dataset as its recipe does.
func TestGSM8K(t *testing.T) {
	dir := shared(t, "data/gsm8k")
	set, err := Resolve(t.Context(), Spec{Args: []string{dir}, Hash: true, Fields: func(string) []schema.Field { return gsm8kFields }})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if got, want := shown(set, dir), "train: train.jsonl | test: test.jsonl"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for i, want := range []struct {
		rows int
		sum  string
	}{{7473, "17f347dc"}, {1319, "3730d312"}} { // sums of openai/grade-school-math
		f := set.Files()[i]
		got, faults, err := readUnits(f, f.ReadRanges(1<<20), 1000)
		if err != nil || len(got) != want.rows || f.Rows != int64(want.rows) || len(faults) > 0 {
			t.Errorf("%s: %d rows, %v, %v", f.Name, len(got), faults, err)
		}
		data, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, f, data, got, faults)
		if sum, err := f.SHA256(t.Context()); err != nil || !strings.HasPrefix(sum, want.sum) {
			t.Errorf("%s: sha256 %s, %v", f.Name, sum, err)
		}
	}
}
