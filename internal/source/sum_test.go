package source

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

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
