package transform

import "testing"

// TestPythonInt holds pythonInt to what int of Python 3.12 takes and refuses.
func TestPythonInt(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, " 7\n": 7, "\u00a012\u2003": 12, "+5": 5, "-0_1": -1, "1_000": 1000, "３": 3, "𝟝": 5, "𝟿": 9, "०९": 9} {
		if v, err := pythonInt(in); err != nil || v.Int() != want {
			t.Errorf("%q: %d, %v, want %d", in, v.Int(), err, want)
		}
	}
	for _, in := range []string{"", " ", "_1", "1_", "1__0", "+-1", "+", "1.0", "- 1", "1e3", "x", "²", "½", "+_1", "9223372036854775808"} {
		if v, err := pythonInt(in); err == nil {
			t.Errorf("%q: %d, want an error", in, v.Int())
		}
	}
}
