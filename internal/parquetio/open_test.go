package parquetio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

func TestNotParquet(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"empty":       {"", "is empty"},
		"short":       {"PAR1", "cut off after 4 bytes"},
		"headOnly":    {"PAR1" + strings.Repeat("x", 100), "does not end as a Parquet file"},
		"lfs":         {"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n", "git lfs pull"},
		"dvc":         {"outs:\n- md5: abc\n  size: 3\n  path: train.parquet\n", "dvc pull"},
		"xet":         {"# xet version 0\nfilesize = 12\nhash = 'ab'\n", "Xet pointer"},
		"json":        {`{"question": "1+1"}` + "\n", "looks like JSON"},
		"jsonArray":   {"\ufeff [1]", "looks like JSON"},
		"html":        {"<!DOCTYPE html><html>", "HTML page"},
		"gzip":        {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00", "gzip"},
		"arrow":       {"ARROW1\x00\x00aaaaaaaa", "Arrow IPC"},
		"text":        {"hello, this is no data file", "does not begin with PAR1"},
		"encrypted":   {"PARE" + strings.Repeat("x", 20) + "\x04\x00\x00\x00PARE", "encrypted"},
		"pareFooter":  {"PAR1" + strings.Repeat("x", 20) + "\x04\x00\x00\x00PARE", "encrypted"},
		"footerSize":  {"PAR1" + "xxxx" + "\xff\xff\xff\x7fPAR1", "claims a footer of 2147483647 bytes"},
		"emptyFooter": {"PAR1" + "\x00\x00\x00\x00PAR1", "cut off"},
		"zeroFooter":  {"PAR1" + "\x00" + "\x01\x00\x00\x00PAR1", "schema, row count or row groups are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "train.parquet")
			if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if err == nil || !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want a format error of %s with %q", err, path, c.want)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.parquet")); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrFormat) {
		t.Errorf("no such file: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrFormat) {
		t.Errorf("directory: %v", err)
	}
}

// A file cut off anywhere is refused, and by name.
func TestCutFiles(t *testing.T) {
	whole, err := os.ReadFile(sample("pyarrow-v1-zstd"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.parquet")
	for n := 0; n < len(whole); n += 1 + n/50 {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// The footer says something of a chunk that is not so.
func TestValidate(t *testing.T) {
	set := func(id int16, typ byte, v int64) func([]byte) []byte {
		return func(meta []byte) []byte { return rewrite(t, meta, thrift.Edit{ID: id, Type: typ, Num: v}) }
	}
	for name, c := range map[string]struct {
		change func(meta []byte) []byte
		want   string
	}{
		"data beyond the end":    {set(9, thrift.I64, 1<<40), "outside of the file"},
		"negative offset":        {set(9, thrift.I64, -5), "column data_source"},
		"dictionary after data":  {set(11, thrift.I64, 1<<20), "after the data page"},
		"negative dictionary":    {set(11, thrift.I64, -1), "negative offset"},
		"size beyond the end":    {set(7, thrift.I64, 1<<40), "outside of the file"},
		"negative size":          {set(7, thrift.I64, -1), "negative size"},
		"negative uncompressed":  {set(6, thrift.I64, -1), "negative size"},
		"too many values":        {set(5, thrift.I64, 1<<40), "values for"},
		"fewer values than rows": {set(5, thrift.I64, 1), "1 values for"},
		"other type":             {set(1, thrift.I32, 0), "physical type"},
		"unknown type":           {set(1, thrift.I32, 77), "physical type"},
		"bloom beyond the end":   {set(14, thrift.I64, 1<<40), "bloom filter"},
		"negative bloom":         {set(14, thrift.I64, -1<<40), "bloom filter"},
		"codec gone":             {func(m []byte) []byte { return rewrite(t, m, thrift.Edit{ID: 4}) }, "no codec"},
		"codec of another type":  {func(m []byte) []byte { return rewrite(t, m, thrift.Edit{ID: 4, Type: thrift.Binary}) }, "has type 8, not 5"},
		"offset gone":            {func(m []byte) []byte { return rewrite(t, m, thrift.Edit{ID: 9}) }, "negative offset, or none"},
		"path of another column": {func(m []byte) []byte {
			return rewrite(t, m, thrift.Edit{ID: 3, Type: thrift.List, Raw: []byte{0x18, 1, 'x'}})
		}, "another column"},
		"more nulls than values":  {nulls(t, 1<<30), "nulls among"},
		"negative number of them": {nulls(t, -7), "-7 nulls"},
	} {
		t.Run(name, func(t *testing.T) {
			path := refooter(t, sample("pyarrow-v1-zstd"), func(f []byte) []byte { return mapChunks(t, f, c.change) })
			_, err := Open(path)
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path+": row group 0: ") &&
				!strings.Contains(err.Error(), "footer: row group 0") {
				t.Errorf("%v, want a format error with %q", err, c.want)
			}
		})
	}
}

func nulls(t *testing.T, n int64) func([]byte) []byte {
	return func(meta []byte) []byte {
		stats := rewrite(t, rawFields(t, meta)[12], thrift.Edit{ID: 3, Type: thrift.I64, Num: n})
		return rewrite(t, meta, thrift.Edit{ID: 12, Type: thrift.Struct, Raw: stats})
	}
}

func TestValidateRowGroups(t *testing.T) {
	groups := func(t *testing.T, footer []byte, e ...thrift.Edit) []byte {
		list := mapList(t, rawFields(t, footer)[4], func(_ int, g []byte) []byte { return rewrite(t, g, e...) })
		return rewrite(t, footer, thrift.Edit{ID: 4, Type: thrift.List, Raw: list})
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, footer []byte) []byte
		want   string
	}{
		"rows do not add up": {func(t *testing.T, f []byte) []byte {
			return rewrite(t, f, thrift.Edit{ID: 3, Type: thrift.I64, Num: 1})
		}, "but the row groups have"},
		"negative rows": {func(t *testing.T, f []byte) []byte {
			return groups(t, f, thrift.Edit{ID: 3, Type: thrift.I64, Num: -1})
		}, "-1 rows"},
		"no chunks":      {func(t *testing.T, f []byte) []byte { return groups(t, f, thrift.Edit{ID: 1}) }, "0 column chunks for"},
		"leftover bytes": {func(_ *testing.T, f []byte) []byte { return append(f, 0, 0, 0) }, "3 bytes are left over"},
		"encrypted columns": {func(t *testing.T, f []byte) []byte {
			return rewrite(t, f, thrift.Edit{ID: 8, Type: thrift.Struct, Raw: []byte{1<<4 | thrift.Struct, 0, 0}})
		}, "is encrypted"},
		"columns elsewhere": {func(t *testing.T, f []byte) []byte {
			list := mapList(t, rawFields(t, f)[4], func(_ int, g []byte) []byte {
				columns := mapList(t, rawFields(t, g)[1], func(_ int, c []byte) []byte {
					return rewrite(t, c, thrift.Edit{ID: 1, Type: thrift.Binary, Raw: []byte("part-0.parquet")})
				})
				return rewrite(t, g, thrift.Edit{ID: 1, Type: thrift.List, Raw: columns})
			})
			return rewrite(t, f, thrift.Edit{ID: 4, Type: thrift.List, Raw: list})
		}, "in another file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := refooter(t, sample("pyarrow-v1-zstd"), func(f []byte) []byte { return c.change(t, f) })
			if _, err := Open(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want a format error with %q", err, c.want)
			}
		})
	}
}

// Every bit of a footer flipped: an error, or a file that can be walked and copied by its footer.
func TestFlippedFooterBits(t *testing.T) {
	whole, err := os.ReadFile(sample("pyarrow-required"))
	if err != nil {
		t.Fatal(err)
	}
	f := openFile(t, sample("pyarrow-required"))
	from := len(whole) - trailer - len(f.footer)
	for i := from * 8; i < len(whole)*8; i++ {
		b := append([]byte{}, whole...)
		b[i/8] ^= 1 << (i % 8)
		walkFooter(t, b)
	}
}

// walkFooter parses the footer at the end of b as Open does, and uses what it says.
func walkFooter(t testing.TB, b []byte) {
	if len(b) < 12 {
		return
	}
	n := int(b[len(b)-8]) | int(b[len(b)-7])<<8 | int(b[len(b)-6])<<16
	if n > len(b)-12 {
		return
	}
	f := &File{name: "fuzz", size: int64(len(b)), footer: b[len(b)-8-n : len(b)-8], length: int64(n)}
	if f.parse() != nil {
		return
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		if c.values > 0 && (c.start() < 4 || c.start()+c.compressed > f.size-8-int64(n) || c.compressed < 0) {
			t.Fatalf("chunk %d lies outside of the file: %+v", i, c)
		}
		o := outChunk{raw: c, start: 4}
		if _, err := o.moveMeta(nil, c.raw.Of(f.footer), c.path.Of(f.footer), section{}); err != nil {
			t.Fatalf("chunk %d was read and cannot be written: %v", i, err)
		}
	}
	if _, err := physicalSchema(f.schema, f); err != nil && !strings.Contains(err.Error(), "struct without fields") {
		t.Fatalf("schema was read and cannot be written: %v", err)
	}
	more := f.schema.Clone()
	more.Fields = append(more.Fields, schema.NewField("agent_name", schema.StringType))
	for _, s := range []*schema.Schema{f.schema, more} {
		tree, err := physicalSchema(s, f)
		if err != nil {
			continue
		}
		w := Writer{schema: s, leaves: s.Leaves(), o: WriterOptions{Base: f}, tree: tree}
		if _, _, err := w.footer(); err != nil {
			t.Fatalf("footer was read and cannot be written: %v", err)
		}
	}
}

// FuzzFooter parses footers. Run "go test -fuzz FuzzFooter"; what it found stands in testdata/fuzz.
func FuzzFooter(f *testing.F) {
	for _, name := range samples(f) {
		file := openFile(f, name)
		f.Add(file.footer, uint32(file.size))
		for _, more := range [][]byte{
			repeatFields(f, file.footer),
			rewrite(f, file.footer, thrift.Edit{ID: 5, Type: thrift.List, Raw: encodeKeyValues(repeatKeys(file.meta.keyValues, func(e KeyValue) KeyValue { return e }))}),
		} {
			f.Add(more, uint32(int(file.size)+len(more)-len(file.footer)))
		}
	}
	f.Fuzz(func(t *testing.T, footer []byte, size uint32) {
		if len(footer) >= 1<<24 {
			return
		}
		n := len(footer)
		pad := min(max(0, int(size)-n-12), 1<<16)
		b := append([]byte(magic), make([]byte, pad)...)
		b = append(append(b, footer...), byte(n), byte(n>>8), byte(n>>16), 0, 'P', 'A', 'R', '1')
		walkFooter(t, b)
	})
}
