package jsonl

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
)

func TestInfer(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"order of first appearance", `{"b":1,"a":"x"}` + "\n" + `{"c":true,"a":"y"}`, "b: int64, a: string, c: bool"},
		{"numbers", `{"i":1,"f":1.0,"m":1,"big":9223372036854775808,"e":1e3,"nan":NaN}` + "\n" + `{"m":2.5}`, "i: int64, f: double, m: double, big: double, e: double, nan: double"},
		{"null only", `{"z":null,"l":[],"ln":[null]}`, "z: null, l: list<element: null>, ln: list<element: null>"},
		{"null first", `{"z":null}` + "\n" + `{"z":"x"}`, "z: string"},
		{"struct fields united", `{"e":{"b":1}}` + "\n" + `{"e":null}` + "\n" + `{"e":{"a":"x","b":2.5}}`, "e: struct<b: double, a: string>"},
		{"chat", `{"p":[{"role":"user","content":"x"}]}`, "p: list<element: struct<role: string, content: string>>"},
		{"mixed", `{"m":1,"o":{"k":1},"l":["x"]}` + "\n" + `{"m":"x","o":[],"l":[1,null,[]]}`, "m: mixed<int64, string>, o: mixed<list, struct>, l: list<element: mixed<int64, string, list>>"},
		{"bool and int", `{"m":true}` + "\n" + `{"m":1}`, "m: mixed<bool, int64>"},
		{"empty struct", `{"e":{}}`, "e: struct<>"},
		{"deep", `{"d":` + strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100) + `}`, "d: " + strings.Repeat("list<element: ", 60) + "json" + strings.Repeat(">", 60)},
		{"array", `[{"a":1},{"a":2.5,"b":"x"}]`, "a: double, b: string"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := embedded(t, tt.in, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range f.schema.Fields {
				got = append(got, c.String())
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), tt.want)
			}
			if _, faults, err := readRanges(f, f.layout.Ranges(1<<20), 10); err != nil || len(faults) > 0 {
				t.Errorf("rows of the inferred type: %v %v", err, faults)
			}
		})
	}
}

func TestInferManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		b.WriteString(`{"e":{"k` + strings.Repeat("x", i%50) + hex.EncodeToString([]byte{byte(i >> 8), byte(i)}) + `":1}}` + "\n")
	}
	f, err := embedded(t, b.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := f.schema.Fields[0]; c.Type.Kind != schema.Other || c.Type.Name != "json" {
		t.Errorf("e is %s", c.Type)
	}
	if _, err := embedded(t, strings.NewReplacer(`{"e":`, "", "}}", "}").Replace(b.String()), nil); err == nil || !strings.Contains(err.Error(), "more than 4096 columns") {
		t.Errorf("error %v", err)
	}
}
