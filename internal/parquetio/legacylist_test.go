package parquetio

import (
	"slices"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

// What a repeated group of a legacy list is depends on the name of the list: renaming it, or dropping fields of the group, must not change
// the type.
func TestLegacyListsKeepTheirType(t *testing.T) {
	in := openFile(t, "../../testdata/parquet/hostile/java_legacy_v1.parquet")
	for _, name := range []string{"x_two", "x_twos", "x_tup", "x_arr", "x_bag", "x_bare", "x_bareg", "x_req", "prompt"} {
		for _, to := range []string{"zz", "array", name + "_tuple"} {
			s := in.Schema().Clone()
			_, at := s.Column(name)
			s.Fields[at].Name = to
			checkLegacy(t, name+" to "+to, in, s, at, map[schema.Path]schema.Path{})
		}
	}
	// A group with two fields is always the element; with one it is so by its name alone.
	s := in.Schema().Clone()
	_, at := s.Column("x_arr")
	s.Fields[at].Name = "list_of_s"
	elem := &s.Fields[at].Type.Fields[0]
	elem.Type.Fields = slices.Delete(slices.Clone(elem.Type.Fields), 0, 1)
	checkLegacy(t, "x_arr without v", in, s, at, map[schema.Path]schema.Path{"list_of_s[].s": "x_arr[].s"})
}

// A list of three levels whose middle group would mark the element under the new name gets another middle group.
func TestListRenamedIntoItsGroup(t *testing.T) {
	in := openFile(t, "../../testdata/parquet/hostile/java_legacy_v1.parquet")
	tuple := func(from string) *File { // a list X whose middle group is Y_tuple, as no marker of X
		name := refooter(t, in.Name(), func(footer []byte) []byte {
			elements := mapList(t, rawFields(t, footer)[2], func(_ int, e []byte) []byte {
				if string(rawFields(t, e)[4]) == string(thrift.AppendBytes(nil, "x_tup")) {
					return rewrite(t, e, thrift.Edit{ID: 4, Type: thrift.Binary, Raw: []byte(from)})
				}
				return e
			})
			old, now := thrift.AppendBytes(nil, "x_tup"), thrift.AppendBytes(nil, from)
			footer = mapChunks(t, footer, func(meta []byte) []byte {
				s := thrift.Scanner{Buf: rawFields(t, meta)[3]}
				var path []byte
				n := s.ListOf(thrift.Binary)
				for range n {
					if e := thrift.AppendBytes(nil, s.Bytes()); string(e) == string(old) {
						path = append(path, now...)
					} else {
						path = append(path, e...)
					}
				}
				return rewrite(t, meta, thrift.Edit{ID: 3, Type: thrift.List, Raw: append(thrift.AppendList(nil, thrift.Binary, n), path...)})
			})
			return rewrite(t, footer, thrift.Edit{ID: 2, Type: thrift.List, Raw: elements})
		})
		return openFile(t, name)
	}
	f := tuple("other")
	s := f.Schema().Clone()
	_, at := s.Column("other")
	if got := s.Fields[at].Type.String(); got != "list<v: int32>" && got != "list<element: int32>" {
		t.Fatalf("the list is a %s", got)
	}
	s.Fields[at].Name = "x_tup"
	checkLegacy(t, "other to x_tup", f, s, at, map[schema.Path]schema.Path{})
}

// checkLegacy writes in with the columns s, of which number at changed, and compares its type, as it is read again, and its values.
func checkLegacy(t *testing.T, what string, in *File, s *schema.Schema, at int, from map[schema.Path]schema.Path) {
	t.Helper()
	leaves := s.Leaves()
	if len(from) == 0 {
		for i, l := range in.leaves {
			from[leaves[i].Path] = l.Path
		}
	}
	out := fileEdit{schema: s, from: from}.apply(t, in)
	if got, want := out.Schema().Fields[at].Type, s.Fields[at].Type; !got.Equal(want) {
		t.Errorf("%s: read as %s, written as %s", what, got, want)
		return
	}
	for i, l := range out.leaves {
		path, ok := from[leaves[i].Path]
		if !ok {
			path = leaves[i].Path
		}
		want := in.leafAt(t, path)
		if string(out.pages(t, 0, i)) != string(in.pages(t, 0, want)) {
			t.Errorf("%s: leaf %s has other pages", what, l.Path)
		}
	}
}
