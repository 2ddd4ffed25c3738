package parquetio

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/arrowschema"
	"github.com/rlprep/rlprep/internal/parquetio/thrift"
	"github.com/rlprep/rlprep/schema"
)

func features(t *testing.T, f *File) map[string]any {
	t.Helper()
	var v struct {
		Info struct{ Features map[string]any }
	}
	if err := json.Unmarshal([]byte(f.Metadata()[hfKey]), &v); err != nil {
		t.Fatalf("%v in %s", err, f.Metadata()[hfKey])
	}
	return v.Info.Features
}

// Features that Arrow types cannot say stay, in step with the columns.
func TestHFFeaturesFollowTheColumns(t *testing.T) {
	in := openFile(t, sample("datasets-features"))
	s := in.Schema().Clone()
	_, at := s.Column("question")
	s.Fields[at].Name = "problem"
	_, at = s.Column("prompt")
	s.Fields = slices.Delete(s.Fields, at, at+1)
	_, at = s.Column("extra")
	s.Fields[at].Type.Fields = append(s.Fields[at].Type.Fields, schema.NewField("source", schema.StringType))
	s.Fields = append(s.Fields, schema.NewField("agent_name", schema.StringType))
	text := schema.TextValue("x")
	e := fileEdit{schema: s, from: map[schema.Path]schema.Path{"problem": "question"},
		consts: map[schema.Path]schema.Value{"agent_name": text}}
	// extra is null in no row, so a constant in it has full levels
	e.consts["extra.source"] = text
	out := e.apply(t, in)

	was, got := features(t, in), features(t, out)
	str := map[string]any{"dtype": "string", "_type": "Value"}
	want := map[string]any{
		"problem": was["question"], "label": was["label"], "images": was["images"], "agent_name": str,
		"extra": map[string]any{"index": was["extra"].(map[string]any)["index"], "meta": was["extra"].(map[string]any)["meta"], "source": str},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	order := strings.Split(out.Metadata()[hfKey], `"problem"`)
	if len(order) != 2 || !strings.Contains(order[1], `"agent_name"`) {
		t.Errorf("features are not in the order of the columns: %s", out.Metadata()[hfKey])
	}
}

func TestHFPolicy(t *testing.T) {
	special, plain := sample("datasets-features"), sample("datasets")
	malformed := func(value string) string {
		return refooter(t, plain, func(footer []byte) []byte {
			return rewrite(t, footer, thrift.Edit{ID: 5, Type: thrift.List, Raw: encodeKeyValues([]KeyValue{{Key: hfKey, Value: value}})})
		})
	}
	broken, list := malformed(`{"info": {"features": {`), malformed(`{"info": {"features": []}}`)
	for _, c := range []struct {
		name, file string
		policy     HFPolicy
		drop       []string
		want       bool
	}{
		{"auto keeps what Arrow cannot say", special, HFAuto, nil, true},
		{"auto strips the rest", plain, HFAuto, nil, false},
		{"auto strips once the last such feature is gone", special, HFAuto, []string{"label", "images", "extra"}, false},
		{"strip", special, HFStrip, nil, false},
		{"keep", plain, HFKeep, nil, true},
		{"auto strips what is malformed", broken, HFAuto, nil, false},
		{"auto strips a list", list, HFAuto, nil, false},
		{"keep keeps what is malformed", broken, HFKeep, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := openFile(t, c.file)
			s := in.Schema().Clone()
			s.Fields = slices.DeleteFunc(s.Fields, func(f schema.Field) bool { return slices.Contains(c.drop, f.Name) })
			out := fileEdit{schema: s, hf: c.policy}.apply(t, in)
			_, got := out.Metadata()[hfKey]
			if got != c.want {
				t.Errorf("kept: %v, want %v", got, c.want)
			}
			if out.arrow != nil {
				if _, inner := out.arrow.Metadata().GetValue(hfKey); inner != got {
					t.Errorf("ARROW:schema has it: %v, the footer: %v", inner, got)
				}
			}
		})
	}
}

// The types that datasets has no feature for leave the column out, which it takes from Arrow then.
func TestHFFeatureOfNewColumns(t *testing.T) {
	list := schema.ListOf(schema.StructOf(schema.NewField("role", schema.StringType), schema.NewField("n", schema.Int64Type)))
	for _, c := range []struct {
		typ  schema.Type
		want string
	}{
		{schema.StringType, `{"dtype": "string", "_type": "Value"}`},
		{schema.Type{Kind: schema.Text, Layout: schema.Large}, `{"dtype": "large_string", "_type": "Value"}`},
		{schema.FloatType, `{"dtype": "float64", "_type": "Value"}`},
		{schema.Type{Kind: schema.Time, Name: "date32[day]"}, `{"dtype": "date32", "_type": "Value"}`},
		{schema.Type{Kind: schema.Time, Name: "timestamp[us, tz=UTC]"}, `{"dtype": "timestamp[us, tz=UTC]", "_type": "Value"}`},
		{schema.Type{Kind: schema.Text, Dictionary: true}, `{"dtype": "string", "_type": "Value"}`},
		{list, `{"feature": {"role": {"dtype": "string", "_type": "Value"}, "n": {"dtype": "int64", "_type": "Value"}}, "_type": "List"}`},
		{schema.Type{Kind: schema.List, Layout: schema.Fixed, Size: 2, Fields: []schema.Field{schema.NewField("e", schema.BoolType)}},
			`{"feature": {"dtype": "bool", "_type": "Value"}, "length": 2, "_type": "List"}`},
		{schema.Type{Kind: schema.Map, Fields: []schema.Field{schema.NewField("k", schema.StringType), schema.NewField("v", schema.StringType)}}, ``},
	} {
		if got := string(hfFeature(schema.NewField("x", c.typ), nil, nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.typ, got, c.want)
		}
	}
}

type pandasMeta struct {
	Index   []any `json:"index_columns"`
	Columns []struct {
		Name      *string
		FieldName string `json:"field_name"`
		Type      string `json:"pandas_type"`
	}
	Creator map[string]string
}

func pandasOf(t *testing.T, f *File) (m pandasMeta) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.Metadata()[pandasKey]), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPandasMetadataFollowsTheColumns(t *testing.T) {
	in := openFile(t, sample("pandas-index"))
	s := in.Schema().Clone()
	_, at := s.Column("c")
	s.Fields = slices.Delete(s.Fields, at, at+1)
	_, at = s.Column("key")
	s.Fields[at].Name = "id"
	s.Fields = append(s.Fields, schema.NewField("agent_name", schema.StringType))
	e := fileEdit{schema: s, from: map[schema.Path]schema.Path{"id": "key"}, consts: map[schema.Path]schema.Value{"agent_name": schema.TextValue("x")}}
	m := pandasOf(t, e.apply(t, in))
	var names []string
	for _, c := range m.Columns {
		names = append(names, c.FieldName)
		if c.Name == nil || *c.Name != c.FieldName {
			t.Errorf("column %s is shown as %v", c.FieldName, c.Name)
		}
	}
	if want := []string{"x", "y", "when", "id", "agent_name"}; !slices.Equal(names, want) {
		t.Errorf("columns %v, want %v", names, want)
	}
	if !reflect.DeepEqual(m.Index, []any{"id"}) || m.Columns[4].Type != "unicode" || m.Creator["library"] != "pyarrow" {
		t.Errorf("%+v", m)
	}

	s = in.Schema().Clone() // without its index
	_, at = s.Column("key")
	s.Fields = slices.Delete(s.Fields, at, at+1)
	if m := pandasOf(t, fileEdit{schema: s}.apply(t, in)); len(m.Index) != 0 || m.Index == nil {
		t.Errorf("index_columns %v, want none", m.Index)
	}
}

// A range index that no longer spans the rows would be wrong.
func TestPandasRangeIndex(t *testing.T) {
	in := openFile(t, sample("pandas-range-index"))
	same := pandasOf(t, withColumn(in, 0, "agent_name", schema.TextValue("x")).apply(t, in))
	if len(same.Index) != 1 {
		t.Errorf("index_columns %v with all rows", same.Index)
	}
	value, ok := updatePandas(in.Metadata()[pandasKey], in.Schema(), in, in.NumRows()-1)
	var m pandasMeta
	if err := json.Unmarshal([]byte(value), &m); err != nil || !ok || len(m.Index) != 0 {
		t.Errorf("%v, %v: index_columns %v with a row less", ok, err, m.Index)
	}
	for _, bad := range []string{``, `[]`, `{"columns": 3}`, `{"columns": [1], "index_columns": []}`, `{"columns": []`} {
		if v, ok := updatePandas(bad, in.Schema(), in, 3); ok {
			t.Errorf("%q became %q", bad, v)
		}
	}
}

func TestMetadataOption(t *testing.T) {
	in := openFile(t, sample("polars"))
	w := Writer{schema: in.Schema(), o: WriterOptions{Base: in, Metadata: []KeyValue{{Key: "rlprep", Value: "1"}, {Key: "rlprep.x", Value: "2"}}}}
	got := map[string]string{}
	for _, kv := range w.keyValues() {
		got[kv.Key] = kv.Value
	}
	if got["rlprep"] != "1" || got["rlprep.x"] != "2" || got[arrowschema.Key] == "" {
		t.Errorf("%v", got)
	}
	w.o.Base = nil
	if kv := w.keyValues(); len(kv) != 2 {
		t.Errorf("without a base: %v", kv)
	}
}
