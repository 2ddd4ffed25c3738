package source

import (
	"crypto/sha256"
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
			for _, c := range f.Schema.Fields {
				got = append(got, c.String())
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), tt.want)
			}
			if _, faults, err := readUnits(f, f.Units(0), 10); err != nil || len(faults) > 0 {
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
	if c := f.Schema.Fields[0]; c.Type.Kind != schema.Other || c.Type.Name != "json" {
		t.Errorf("e is %s", c.Type)
	}
	if _, err := embedded(t, strings.NewReplacer(`{"e":`, "", "}}", "}").Replace(b.String()), nil); err == nil || !strings.Contains(err.Error(), "more than 4096 columns") {
		t.Errorf("error %v", err)
	}
}

func checkSum(t *testing.T, f *File, first bool, a, b []byte) {
	t.Helper()
	if !first {
		a = b
	}
	sum := sha256.Sum256(a)
	got, err := f.SHA256(t.Context())
	if err != nil || got != hex.EncodeToString(sum[:]) {
		t.Errorf("%s: sha256 %s, %v", f.Name, got, err)
	}
}

func TestSHA256(t *testing.T) {
	for _, text := range []string{"", "{}\n", "\ufeff{\"a\":1}", "[{}]\n\n", manyRows(9000, false, func(int) int { return 40 })} {
		dir := write(t, map[string]string{"a.jsonl": text})
		for _, hash := range []bool{false, true} {
			set, err := Resolve(t.Context(), Spec{Args: []string{dir}, Hash: hash})
			if err != nil {
				t.Fatal(err)
			}
			f := set.Files()[0]
			if hash != (f.sum != "") {
				t.Errorf("hash %v: computed on the way: %q", hash, f.sum)
			}
			checkSum(t, f, true, []byte(text), nil)
			set.Close()
		}
		f, err := embedded(t, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkSum(t, f, true, []byte(text), nil)
	}
}
