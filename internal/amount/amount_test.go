package amount

import "testing"

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -747300: "-747,300", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 1200: "1,200 files"} {
		if got := Of(n, "file"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 242_100_000: "242.1 MB", 3e15: "3000.0 TB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "500MB": 500e6, "1GiB": 1 << 30, "1.5 kib": 1536, "2tb": 2e12} {
		if got, err := ParseBytes(text); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "MB", "1XB", "NaN", "1e300", "0.1"} {
		if n, err := ParseBytes(text); err == nil {
			t.Errorf("%q: %d, want an error", text, n)
		}
	}
}
