package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	pqcodec "github.com/parquet-go/parquet-go/compress"

	"github.com/rlprep/rlprep/internal/parquetio/page"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
)

// A foreignRow has every encoding that parquet-go writes.
type foreignRow struct {
	Plain      string     `parquet:"plain"`
	Dict       string     `parquet:"dict,dict"`
	DeltaLen   string     `parquet:"delta_length,delta"`
	Opt        *string    `parquet:"opt,optional"`
	OptDict    *string    `parquet:"opt_dict,optional,dict"`
	Int        int64      `parquet:"int"`
	IntDelta   int64      `parquet:"int_delta,delta"`
	Int32Delta int32      `parquet:"int32_delta,delta"`
	IntDict    int64      `parquet:"int_dict,dict"`
	Split      float64    `parquet:"split,split"`
	Split32    float32    `parquet:"split32,split"`
	Bool       bool       `parquet:"bool"`
	OptBool    *bool      `parquet:"opt_bool,optional"`
	Fixed      [5]byte    `parquet:"fixed"`
	List       []string   `parquet:"list,list"`
	Lists      [][]int64  `parquet:"lists,list"`
	Structs    []foreign2 `parquet:"structs,list"`
}

type foreign2 struct {
	Role    string  `parquet:"role,dict"`
	Content *string `parquet:"content,optional"`
}

func foreignRows(n int, r *rand) []foreignRow {
	rows := make([]foreignRow, n)
	opt := func(s string) *string {
		if r.n(3) == 0 {
			return nil
		}
		return &s
	}
	for i := range rows {
		text := texts[r.n(len(texts))]
		f := &rows[i]
		*f = foreignRow{Plain: text, Dict: text, DeltaLen: fmt.Sprint(text, i), Opt: opt(text), OptDict: opt(text), Int: int64(r.next()),
			IntDelta: int64(r.next() % 1000), Int32Delta: int32(i * 3), IntDict: int64(r.n(9)), Split: float64(i) / 3, Split32: float32(i), Bool: r.n(2) == 0}
		copy(f.Fixed[:], fmt.Sprintf("%05d", i))
		if r.n(2) == 0 {
			f.OptBool = &f.Bool
		}
		for range r.n(4) {
			f.List = append(f.List, texts[r.n(len(texts))])
			f.Structs = append(f.Structs, foreign2{texts[r.n(3)], opt(text)})
		}
		for range r.n(3) {
			f.Lists = append(f.Lists, make([]int64, r.n(3)))
		}
	}
	return rows
}

// foreignFile returns a file by parquet-go.
func foreignFile(t testing.TB, version int, codec pqcodec.Codec, rows int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[foreignRow](&b, parquet.DataPageVersion(version), parquet.Compression(codec), parquet.PageBufferSize(2000))
	if _, err := w.Write(foreignRows(rows, &rand{9})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openBytes(t testing.TB, b []byte) *File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f.parquet")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Every encoding and codec that parquet-go writes is read. What must come out is what parquet-go reads from its own
// uncompressed file: its LZ4_RAW comes back wrong from itself (v0.32: the buffer that it decodes into is used again).
func TestForeign(t *testing.T) {
	const rows = 700
	codecs := []pqcodec.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw}
	plain := openBytes(t, foreignFile(t, 1, codecs[0], rows))
	sameAsParquetGo(t, plain)
	for _, version := range []int{1, 2} {
		for _, codec := range codecs {
			t.Run(fmt.Sprintf("v%d %s", version, codec), func(t *testing.T) {
				got := readAll(t, openBytes(t, foreignFile(t, version, codec, rows)), 0, 0, rows, func() int { return 97 })
				for i, l := range plain.Schema().Leaves() {
					want := readByParquetGo(t, plain, 0, i)
					if d := got[i].diff(&want); d != "" {
						t.Errorf("column %s: %.500s", l.Path, d)
					}
				}
			})
		}
	}
}

// sameAsParquetGo reads every row group, whole and in part, and compares with parquet-go.
func sameAsParquetGo(t testing.TB, f *File) {
	t.Helper()
	r := &rand{5}
	for rg, g := range f.RowGroups() {
		if g.Rows == 0 || rg > 20 { // a file of a thousand row groups has them alike
			continue
		}
		got := readAll(t, f, rg, 0, g.Rows, func() int { return 1 + r.n(400) })
		first := int64(r.n(max(1, int(g.Rows))))
		part := readAll(t, f, rg, first, g.Rows-first, func() int { return 1 + r.n(400) })
		for i, l := range f.Schema().Leaves() {
			want := readByParquetGo(t, f, rg, i)
			if d := got[i].diff(&want); d != "" {
				t.Fatalf("row group %d: column %s: read, parquet-go: %.500s", rg, l.Path, d)
			}
			want = want.rows(int(first), int(g.Rows), l.MaxDef)
			if d := part[i].diff(&want); d != "" {
				t.Fatalf("row group %d: column %s: from row %d: read, parquet-go: %.500s", rg, l.Path, first, d)
			}
		}
	}
}

// The files by other writers that the repository and the shared data hold.
func TestFilesOfOthers(t *testing.T) {
	roots := []string{"../../testdata"}
	if dir := os.Getenv("RLPREP_SHARED"); dir != "" {
		roots = append(roots, dir)
	} else {
		roots = append(roots, "../../../shared/data")
	}
	files := 0
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (d.Name() == "hostile" || d.Name() == "attack") {
				return fs.SkipDir // parquet-go panics on some of them
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".parquet" {
				return nil
			}
			f, err := Open(path)
			if err != nil {
				t.Logf("not opened: %v", err)
				return nil
			}
			defer f.Close()
			files++
			sameAsParquetGo(t, f)
			return nil
		})
	}
	if files == 0 {
		t.Skip("SKIPPED: no Parquet files in testdata or in the shared data (set RLPREP_SHARED)")
	}
	t.Logf("%d files", files)
}

// readDamaged reads everything of a file that may be damaged.
func readDamaged(t tester, name string) (dumps []leafDump, err error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leaves := f.Schema().Leaves()
	numbers := make([]int, len(leaves))
	for i := range leaves {
		numbers[i] = i
	}
	dumps = make([]leafDump, len(leaves))
	for rg, g := range f.RowGroups() {
		r, err := f.Reader(rg, numbers, 0, g.Rows)
		if err != nil {
			return nil, err
		}
		for {
			vectors, err := r.Next(100)
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			for i, v := range vectors {
				dumps[i].add(t, v, leaves[i].MaxDef)
			}
		}
		r.Close()
	}
	return dumps, nil
}

// ownFile returns a file by our encoder, with small pages of every kind.
func ownFile(t testing.TB, codec Codec) []byte {
	t.Helper()
	smallPages(t, 1500, 100)
	text := schema.StringType
	s := &schema.Schema{Fields: []schema.Field{schema.NewField("text", text), schema.NewField("list", schema.ListOf(text)),
		schema.NewField("few", text), schema.NewField("index", schema.Int64Type), schema.NewField("bool", schema.BoolType), schema.NewField("const", text)}}
	var rows [][]schema.Value
	r := &rand{1}
	for i := range 400 {
		elems := make([]schema.Value, r.n(3))
		for j := range elems {
			elems[j] = schema.TextValue(texts[r.n(9)])
		}
		row := []schema.Value{schema.TextValue(fmt.Sprint(texts[9], i)), schema.ListValue(elems), schema.TextValue(texts[r.n(5)]), schema.IntValue(int64(i)), schema.BoolValue(r.n(2) == 0)}
		if r.n(5) == 0 {
			row[r.n(5)] = schema.NullValue
		}
		rows = append(rows, row)
	}
	e := NewEncoder(s, EncoderOptions{Codec: codec})
	b := batchOf(t, &schema.Schema{Fields: s.Fields[:5]}, rows)
	c := schema.TextValue("tool_agent")
	b.Leaves = append(b.Leaves, record.Leaf{Const: &c})
	if err := e.Append(b); err != nil {
		t.Fatal(err)
	}
	g, err := e.Finish()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "own.parquet")
	writeFile(t, name, s, g)
	out, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A damaged file gives an error or, where the damage is in what nobody reads, the rows that were written: page checksums
// leave nothing between.
func TestDamaged(t *testing.T) {
	for _, codec := range []Codec{None, Snappy, Zstd} {
		t.Run(codec.String(), func(t *testing.T) {
			whole := ownFile(t, codec)
			name := filepath.Join(t.TempDir(), "damaged.parquet")
			read := func(b []byte) ([]leafDump, error) {
				if err := os.WriteFile(name, b, 0o644); err != nil {
					t.Fatal(err)
				}
				return readDamaged(t, name)
			}
			want, err := read(whole)
			if err != nil {
				t.Fatal(err)
			}
			// Pages come first in the file: damage in them alone, so that the footer's own checks do not hide the reader's.
			pages := int(pagesEnd(t, name))
			refused := 0
			r := &rand{uint64(codec)}
			for n := range 300 {
				b := bytes.Clone(whole)
				at := 4 + r.n(pages-4)
				if n%10 == 9 {
					copy(b[at:], bytes.Repeat([]byte{byte(r.next())}, min(1+r.n(40), pages-at)))
				} else {
					b[at] ^= 1 << r.n(8)
				}
				got, err := read(b)
				if err != nil {
					refused++
					var fe *FormatError
					if !errors.As(err, &fe) || !strings.Contains(err.Error(), "damaged.parquet: row group 0: column ") {
						t.Fatalf("byte %d: %v", at, err)
					}
					if strings.Contains(err.Error(), "panicked") {
						t.Errorf("byte %d: %v\n%s", at, err, fe.Stack)
					}
					continue
				}
				for i := range want {
					if d := got[i].diff(&want[i]); d != "" {
						t.Fatalf("byte %d: damage that gives wrong rows: %.300s", at, d)
					}
				}
			}
			if refused < 240 {
				t.Errorf("only %d of 300 damaged files were refused", refused)
			}
		})
	}
}

// pagesEnd returns where the pages of a file end.
func pagesEnd(t testing.TB, name string) int64 {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := int64(0)
	for i := range f.chunks {
		end = max(end, f.chunks[i].start()+f.chunks[i].compressed)
	}
	return end
}

// Damage without checksums, in all encodings and codecs: whatever comes out, no panic and no hang.
func TestDamagedForeign(t *testing.T) {
	name := filepath.Join(t.TempDir(), "damaged.parquet")
	for _, codec := range []pqcodec.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw} {
		for _, version := range []int{1, 2} {
			whole := foreignFile(t, version, codec, 60)
			r := &rand{uint64(version)}
			for range 40 {
				b := bytes.Clone(whole)
				for range 1 + r.n(3) {
					b[r.n(len(b))] ^= 1 << r.n(8)
				}
				if r.n(10) == 0 {
					b = b[:r.n(len(b))]
				}
				if err := os.WriteFile(name, b, 0o644); err != nil {
					t.Fatal(err)
				}
				if _, err := readDamaged(t, name); err != nil && strings.Contains(err.Error(), "panicked") {
					var fe *FormatError
					errors.As(err, &fe)
					t.Errorf("%s v%d: %v\n%s", codec, version, err, fe.Stack)
				}
			}
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	f := openBytes(t, ownFile(t, Zstd))
	for _, tt := range []struct {
		rg          int
		leaves      []int
		first, rows int64
		want        string
	}{
		{1, nil, 0, 1, "no row group 1 (there are 1)"},
		{0, []int{6}, 0, 1, "no column 6 (there are 6)"},
		{0, []int{0}, 0, 401, "it has 400"},
		{0, []int{0}, -1, 1, "it has 400"},
		{0, []int{0}, 400, 1, "it has 400"},
	} {
		if _, err := f.Reader(tt.rg, tt.leaves, tt.first, tt.rows); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	r, err := f.Reader(0, []int{3}, 400, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(10); err != io.EOF {
		t.Errorf("no rows: %v", err)
	}
	r.Close()
	if _, err := r.Next(10); err == nil || err == io.EOF {
		t.Errorf("closed: %v", err)
	}
}

// FuzzReader reads what may be a Parquet file. Bytes that are one must not make it panic; the harness finds hangs.
func FuzzReader(f *testing.F) {
	f.Add(ownFile(f, Zstd))
	f.Add(ownFile(f, None))
	f.Add(foreignFile(f, 1, &parquet.Uncompressed, 5))
	f.Add(foreignFile(f, 2, &parquet.Snappy, 5))
	for _, name := range []string{"polars", "pyarrow-nested", "pyarrow-page-index"} { // fields that are there twice
		b, err := os.ReadFile(refooter(f, sample(name), func(footer []byte) []byte { return repeatFields(f, footer) }))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "f.parquet")
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readDamaged(t, name); err != nil && strings.Contains(err.Error(), "panicked") {
			t.Error(err)
		}
	})
}

// A Reader that uses its memory again gives the same rows, also where columns end their slices at different rows, and where the next slice
// is read before the one in use is compared.
func TestReuse(t *testing.T) {
	names, err := filepath.Glob("../../testdata/parquet/*.parquet")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	defer func(n int) { page.Limits.Slice = n }(page.Limits.Slice)
	for _, bytes := range []int{64 << 20, 48} {
		page.Limits.Slice = bytes
		slices, ahead := 0, 0
		for _, name := range names {
			f, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			leaves := make([]int, len(f.Schema().Leaves()))
			for i := range leaves {
				leaves[i] = i
			}
			for rg, g := range f.RowGroups() {
				own, err := f.Reader(rg, leaves, 0, g.Rows)
				if err != nil {
					t.Fatal(err)
				}
				again, err := f.Reader(rg, leaves, 0, g.Rows)
				if err != nil {
					t.Fatal(err)
				}
				again.Reuse()
				spare := make(chan struct{}, 1)
				if rg%2 == 0 || bytes == 48 {
					again.Ahead(7, spare)
				}
				held := false // whether this test has the place, so that nobody is free to read ahead
				for {
					if !held && slices%3 == 1 {
						spare <- struct{}{}
						held = true
					}
					a, errA := own.Next(7)
					b, errB := again.Next(7)
					if (errA == nil) != (errB == nil) {
						t.Fatalf("%s: %v, with memory used again %v", name, errA, errB)
					}
					if held && slices%3 == 2 {
						<-spare
						held = false
					}
					if s := again.ahead.next; s != nil && !held {
						<-s.done
						ahead++
					}
					if errA != nil {
						break
					}
					slices++
					for i := range a {
						if a[i].Rows != b[i].Rows || fmt.Sprint(a[i].Values) != fmt.Sprint(b[i].Values) {
							t.Fatalf("%s: row group %d: leaf %d: got %v, want %v", name, rg, i, b[i].Values, a[i].Values)
						}
					}
				}
				own.Close()
				again.Close()
			}
		}
		if slices < 50 || ahead < 10 {
			t.Errorf("only %d slices were compared, and %d read ahead", slices, ahead)
		}
	}
}
