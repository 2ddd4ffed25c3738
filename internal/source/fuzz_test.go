package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rlprep/rlprep/internal/jsonl/jsonltest"
	"github.com/rlprep/rlprep/schema"
)

// FuzzJSONLines compares what is read with what encoding/json makes of the same lines, and reads the file again in two
// units and in small batches.
func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{
		`{"question":"q","answer":"a \u00e9\ud83d\ude00\n#### 1"}` + "\n" + `{"answer":null}`,
		`[{"a":1},{"a":2.5,"b":[{"c":"x"},null,[]]}]`, "\ufeff{\"a\":1}\r\n\r\n{\"a\":\"x\"}", `{"a":"\ud800"}`, `{"a":NaN,"b":-Infinity,"c":1e400}`,
		`{"a":{"b":{"c":[[],[1,null],null]}}}` + "\n" + `{"a":{}}` + "\n" + `{"a":null}`, `{"a":1,"a":"x"}`, `{"a":-0,"b":9223372036854775808,"c":true}`, `{"e":{},"l":[{}]}`,
		"{\"a\":\"\xff\"}", `{"a":"` + "\x00" + `"}`, `{"a":01}`, `{"p":[{"role":"user","content":"x"}],"n":{"k":1}}` + "\n" + `{"p":[],"n":{"j":2,"k":null}}`,
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		file, err := embedded(t, string(data), nil)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("%T: %v", err, err)
			}
			if want, ok := reference(data); ok && !strings.Contains(err.Error(), "nested more") && !strings.Contains(err.Error(), "more than 4096") {
				t.Fatalf("refused: %v\nthough encoding/json reads %d rows", err, len(want))
			}
			return
		}
		got, faults := readValues(t, file, file.ReadRanges(0), 1000)
		sameRows(t, file, data, got, faults)
		if len(got) > 1 {
			a, b := file.ReadRanges(0)[0].Cut(int64(max(cut, -cut, 0) % len(got)))
			again, _ := readValues(t, file, slices.DeleteFunc([]ReadRange{a, b}, func(u ReadRange) bool { return u.Rows == 0 }), 2)
			if !slices.EqualFunc(got, again, func(a, b jsonltest.Row) bool { return a == b }) {
				t.Fatalf("cut:\n%v\nwhole:\n%v", again, got)
			}
		}
	})
}

func readValues(t *testing.T, f *File, units []ReadRange, batch int) ([]jsonltest.Row, []string) {
	t.Helper()
	rows, faults, err := readUnits(f, units, batch)
	if err != nil {
		t.Fatal(err)
	}
	return rows, faults
}

// reference reads data as encoding/json does; false where it would not, or would replace bytes.
func reference(data []byte) ([]map[string]any, bool) {
	if !utf8.Valid(data) {
		return nil, false
	}
	data = bytes.TrimPrefix(data, bom)
	var rows []map[string]any
	parse := func(b []byte, v any) bool {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		return json.Valid(b) && d.Decode(v) == nil
	}
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		var elems []json.RawMessage
		if !parse(data, &elems) {
			return nil, false
		}
		for _, e := range elems {
			var row map[string]any
			if e = bytes.TrimSpace(e); len(e) == 0 || e[0] != '{' || !parse(e, &row) {
				return nil, false
			}
			rows = append(rows, row)
		}
		return rows, true
	}
	for _, line := range bytes.Split(data, []byte("\n")) {
		if line = bytes.Trim(line, " \t\r"); len(line) == 0 {
			continue
		}
		var row map[string]any
		if line[0] != '{' || !parse(line, &row) {
			return nil, false
		}
		rows = append(rows, row)
	}
	return rows, true
}

// sameRows compares the rows that were read with encoding/json's.
func sameRows(t *testing.T, f *File, data []byte, got []jsonltest.Row, faults []string) {
	want, ok := reference(data)
	if !ok {
		return
	}
	if len(got) != len(want) || f.Rows != int64(len(want)) {
		t.Fatalf("%d rows, %d counted, encoding/json reads %d", len(got), f.Rows, len(want))
	}
	if len(faults) > 0 { // only half a surrogate pair can be wrong in rows of their own type
		for _, fault := range faults {
			if !strings.Contains(fault, ": wrong-text: ") {
				t.Fatal(fault)
			}
		}
		return
	}
	if mixed(f.Schema) {
		return
	}
	for i, row := range want {
		expected := appendAs([]byte("{"), schema.StructOf(f.Schema.Fields...), row)
		if string(expected) == got[i].JSON {
			continue
		}
		t.Fatalf("row %d of %s:\n%s\nwant\n%s", i, f.Schema.Fields, got[i].JSON, expected)
	}
}

// mixed reports whether a column is kept as its text, or has a part without leaves, which reads as missing.
func mixed(s *schema.Schema) bool {
	var odd func(fields []schema.Field) bool
	odd = func(fields []schema.Field) bool {
		return slices.ContainsFunc(fields, func(f schema.Field) bool {
			return f.Type.Kind == schema.Other || f.Type.Kind == schema.Struct && len(f.Type.Fields) == 0 || odd(f.Type.Fields)
		})
	}
	return odd(s.Fields)
}

// appendAs writes what encoding/json read as a value of that type is written by schema.Value; b ends in the bracket.
func appendAs(b []byte, typ schema.Type, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		if b[len(b)-1] != '{' || len(b) > 1 {
			b = append(b, '{')
		}
		for i, f := range typ.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(schema.AppendQuoted(b, f.Name), ':')
			b = appendAs(b, f.Type, v[f.Name])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendAs(b, typ.Fields[0].Type, e)
		}
		return append(b, ']')
	case string:
		return schema.AppendQuoted(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		if typ.Kind == schema.Int {
			n, err := strconv.ParseInt(v.String(), 10, 64)
			if err != nil {
				return fmt.Appendf(b, "%v", err)
			}
			return strconv.AppendInt(b, n, 10)
		}
		x, err := strconv.ParseFloat(v.String(), 64)
		if err != nil && !math.IsInf(x, 0) {
			return fmt.Appendf(b, "%v", err)
		}
		return schema.FloatValue(x).AppendJSON(b)
	}
	return append(b, "null"...)
}

// FuzzDeclared reads anything into declared columns: it must end in rows or in a *FormatError, with the columns' levels
// sound.
func FuzzDeclared(f *testing.F) {
	for _, s := range []string{`{"s":"x","n":1,"p":[{"role":"u","content":"c"}],"e":{"a":1,"b":{"c":[[1]]}},"x":1.5,"b":true,"z":null,"r":"y"}`,
		`{"s":1,"n":"x","p":[1,{"role":2},null],"e":[],"x":"y","b":0,"z":1}`, `{"s":"\ud800","s":"b","r":null}`, `{"n":1.0,"n":99999999999999999999}`, `[{"p":{}},{"e":{"b":{"c":[1,[2,"x"]]}}}]`} {
		f.Add([]byte(s))
	}
	cols := jsonltest.Fields(f, "s string", "n int64", "p chat", "e nested", "x double", "b bool", "z null", "i int32", "r string!", "q chat!", "m mixed")
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := embedded(t, string(data), cols)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, u := range file.ReadRanges(0) {
			r, err := file.Open(t.Context(), u, nil)
			if err != nil {
				t.Fatal(err)
			}
			for {
				b, err := r.Next(t.Context(), 5)
				if err != nil {
					break
				}
				for _, l := range b.Leaves {
					sound(t, b.Rows, &l)
				}
			}
			r.Close()
		}
		if _, _, err := readUnits(file, file.ReadRanges(0), 7); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}
