package parquetio

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/encoding"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// Chunk's null counts and dictionaries, and the counts of the pages, agree with a full decode, in every file.
func TestChunkAgreesWithTheRows(t *testing.T) {
	dicts := 0
	for _, name := range samples(t) {
		f := openFile(t, name)
		for rg, g := range f.groups {
			if g.Rows == 0 {
				continue
			}
			dumps := readAll(t, f, rg, 0, g.Rows, func() int { return 1 << 20 })
			for leaf := range f.leaves {
				c, err := f.Chunk(rg, leaf)
				if err != nil {
					t.Fatal(err)
				}
				d := &dumps[leaf]
				counted, err := f.CountNulls(rg, leaf)
				if err != nil {
					t.Fatal(err)
				}
				if nulls := int64(len(d.def) - len(d.values)); c.Nulls >= 0 && c.Nulls != nulls || counted >= 0 && counted != nulls {
					t.Errorf("%s: row group %d: %s: %d nulls in the footer, %d in the pages, counted %d", name, rg, f.leaves[leaf].Path, c.Nulls, counted, nulls)
				}
				if c.Dict != nil {
					dicts++
					compareDict(t, f, leaf, c.Dict, d.values)
				}
			}
		}
	}
	if dicts < 200 {
		t.Errorf("only %d dictionaries were read", dicts)
	}
}

// compareDict checks that a dictionary of text holds exactly the values that occur.
func compareDict(t *testing.T, f *File, leaf int, dict []schema.Value, values [][]byte) {
	t.Helper()
	if k := f.leaves[leaf].Type.Kind; k != schema.Text && k != schema.Binary {
		return
	}
	have, want := map[string]bool{}, map[string]bool{}
	for _, v := range dict {
		have[v.Text()] = true
	}
	for _, v := range values {
		want[string(v)] = true
		if !have[string(v)] {
			t.Fatalf("%s: %s: %q is not in the dictionary", f.Name(), f.leaves[leaf].Path, v)
		}
	}
	if len(have) != len(want) || len(have) != len(dict) {
		t.Errorf("%s: %s: %d entries, %d values", f.Name(), f.leaves[leaf].Path, len(dict), len(want))
	}
}

// A dictionary is only told where no page goes without it.
func TestChunkDictionaries(t *testing.T) {
	stats := func(list ...int64) func(meta []byte) []byte {
		return func(meta []byte) []byte {
			if list == nil {
				return rewrite(t, meta, thrift.Edit{ID: 13})
			}
			b := thrift.AppendList(nil, thrift.Struct, len(list))
			for _, e := range list {
				b = append(b, rewrite(t, []byte{0}, thrift.Edit{ID: 1, Type: thrift.I32}, thrift.Edit{ID: 2, Type: thrift.I32, Num: e}, thrift.Edit{ID: 3, Type: thrift.I32, Num: 1})...)
			}
			return rewrite(t, meta, thrift.Edit{ID: 13, Type: thrift.List, Raw: b})
		}
	}
	encodings := func(change func([]byte) []byte, list ...int64) func(meta []byte) []byte {
		return func(meta []byte) []byte {
			b := thrift.AppendList(nil, thrift.I32, len(list))
			for _, e := range list {
				b = thrift.AppendInt(b, e)
			}
			return rewrite(t, change(meta), thrift.Edit{ID: 2, Type: thrift.List, Raw: b})
		}
	}
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   bool
	}{
		"all pages":                     {stats(encoding.RLEDictionary), true},
		"all pages, old name":           {stats(encoding.PlainDictionary, encoding.RLEDictionary), true},
		"fallback":                      {stats(encoding.RLEDictionary, encoding.Plain), false},
		"plain":                         {stats(encoding.Plain), false},
		"not said, no other encoding":   {encodings(stats(), encoding.PlainDictionary, encoding.RLE, encoding.BitPacked), true},
		"not said, plain among them":    {encodings(stats(), encoding.PlainDictionary, encoding.RLE, encoding.Plain), false},
		"not said, and no dictionary":   {encodings(stats(), encoding.RLE), false},
		"not said, delta among them":    {encodings(stats(), encoding.RLEDictionary, encoding.DeltaByteArray), false},
		"said against all the encoding": {encodings(stats(encoding.RLEDictionary), encoding.Plain), true},
	} {
		f := openFile(t, refooter(t, sample("pyarrow-v1-zstd"), func(b []byte) []byte { return mapChunks(t, b, c.change) }))
		got, err := f.Chunk(0, 0)
		if err != nil || (got.Dict != nil) != c.want {
			t.Errorf("%s: dictionary %v, %v; want one: %v", name, got.Dict, err, c.want)
		}
	}
}

// A damaged dictionary page is an error that says where.
func TestChunkDamagedDictionary(t *testing.T) {
	in := openFile(t, sample("pyarrow-v1-zstd")) // with page checksums
	b, err := os.ReadFile(in.Name())
	if err != nil {
		t.Fatal(err)
	}
	c := in.chunk(1, 0)
	b[c.dataPage-1] ^= 1 // the last byte of the dictionary page
	name := filepath.Join(t.TempDir(), "damaged.parquet")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = openFile(t, name).Chunk(1, 0)
	wantError(t, err, name+": row group 1: column data_source")
}

func TestCanMove(t *testing.T) {
	f := openFile(t, sample("pyarrow-v1-zstd"))
	question := f.Raw(0, f.leafAt(t, "text"))
	to := schema.Leaf{Path: "extra_info.question", Type: schema.StringType, MaxDef: 1}
	deeper, list, number, large := to, to, to, to
	deeper.MaxDef, list.MaxRep, number.Type = 2, 1, schema.Int64Type
	large.Type.Layout = schema.Large
	for _, c := range []struct {
		name  string
		to    schema.Leaf
		codec Codec
		keep  bool
		want  bool
	}{
		{"same levels, codec and type", to, Zstd, false, true},
		{"another codec", to, Snappy, false, false},
		{"any codec", to, Snappy, true, true},
		{"another definition level", deeper, Zstd, true, false},
		{"another repetition level", list, Zstd, true, false},
		{"another type", number, Zstd, true, false},
		{"another form of the same text", large, Zstd, false, true},
	} {
		if got := CanMove(question, c.to, c.codec, c.keep); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	old := openFile(t, refooter(t, f.Name(), func(footer []byte) []byte {
		return rewrite(t, footer, thrift.Edit{ID: 6, Type: thrift.Binary, Raw: []byte("parquet-mr version 1.2.8 (build x)")})
	}))
	if CanMove(old.Raw(0, old.leafAt(t, "text")), to, Zstd, true) {
		t.Error("a chunk may move whose length is not known (PARQUET-816)")
	}
}
