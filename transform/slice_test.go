package transform

import "testing"

// TestPlaces holds slices to what datasets 5.2.0 takes of train[…].
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		slice          string
		rows, from, to int64
	}{
		{":75%", 11, 0, 8}, {"-25%:", 11, 8, 11}, {":75%", 6, 0, 4}, {"-25%:", 6, 4, 6}, {":75%", 10, 0, 8}, {"-25%:", 10, 8, 10},
		{"-25%:", 2, 0, 2}, {":100", 11, 0, 11}, {"-100:", 11, 0, 11}, {"2:4", 11, 2, 4}, {"4:2", 11, 4, 4}, {":", 3, 0, 3}, {"50%:50%", 3, 2, 2}, {":-1", 3, 0, 2},
	} {
		s, err := ParseSlice(c.slice)
		if err != nil {
			t.Fatal(err)
		}
		if from, to := s.Places(c.rows); from != c.from || to != c.to {
			t.Errorf("%s of %d: %d to %d, want %d to %d", c.slice, c.rows, from, to, c.from, c.to)
		}
	}
	for _, bad := range []string{"", "1", "a:b", "101%:", "1.5:2"} {
		if _, err := ParseSlice(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
