package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzDecode holds the decoders to encoding/json: Decode takes all that is JSON, DecodeStrict nothing else, and what is decoded reads back from
// what it prints.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,null,true],"b":{"c":"é\n\u00e9\ud83d\ude00"}}`, `[NaN,-Infinity]`, `{"a":1,"a":2}`, `"\ud83d"`, "\"\xff\"", `-0`, `1e999`,
		`18446744073709551615`, ` [ ] `, `{"a":}`, `"` + "\t" + `"`, `01`, `[1] x`, `tru`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		valid := json.Valid(text)
		v, err := Decode(text)
		if valid && err != nil && !strings.Contains(err.Error(), "nested more") {
			t.Fatalf("JSON is refused: %v", err)
		}
		if _, strict := DecodeStrict(text); strict == nil && !valid {
			t.Fatal("DecodeStrict takes what is no JSON")
		}
		if err != nil || !utf8.Valid(text) {
			return
		}
		again, err := Decode(v.AppendJSON(nil))
		if err != nil || !again.Equal(v) {
			t.Fatalf("%s reads back as %s, %v", v.AppendJSON(nil), again.AppendJSON(nil), err)
		}
	})
}
