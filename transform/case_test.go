package transform_test

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/transform"
)

//go:embed testdata/case.jsonl
var caseGolden string

// TestCaseGolden compares what CPython makes of texts; testdata/case.py wrote it.
func TestCaseGolden(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(caseGolden), "\n")
	if len(lines) != 490 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		var v [5]string
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		for i, got := range []string{
			string(transform.Lower(nil, v[0])), string(transform.Upper(nil, v[0])), string(transform.Capitalize(nil, v[0])), transform.Strip(v[0]),
		} {
			if got != v[i+1] {
				t.Errorf("%+q, change %d: %+q, expected %+q", v[0], i, got, v[i+1])
			}
		}
	}
}
