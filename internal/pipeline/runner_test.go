package pipeline

import "testing"

// Rows with images are so large that a page of them is: then fewer work at a time. Rows of text change nothing.
func TestWorkers(t *testing.T) {
	for _, c := range []struct {
		rows, bytes int64
		group, want int
	}{
		{1 << 20, 1 << 30, 0, 8}, {100, 100 * 300 << 10, 0, 2}, {5000, 5000 * 300 << 10, 0, 1}, {100, 100 * 300 << 10, -1, 8}, {10, 10 * 300 << 10, 0, 8},
	} {
		p := &Plan{Job: &Job{Workers: 8}, Tasks: []*Task{{RowGroups: []RowGroupPlan{{Ranges: []ReadRange{{RowGroup: c.group, Rows: c.rows, Bytes: c.bytes}}}}}}}
		if got := p.workers(); got != c.want {
			t.Errorf("%d rows of %d bytes: %d workers, want %d", c.rows, c.bytes/c.rows, got, c.want)
		}
	}
}

// A slice of rows with images has fewer rows.
func TestSliceOf(t *testing.T) {
	for _, c := range []struct {
		rows, bytes int64
		want        int
	}{{10000, 10000 * 500, 1024}, {100, 100 * 300 << 10, 27}, {1, 64 << 20, 1}, {0, 0, 1024}} {
		if got := sliceOf(ReadRange{Rows: c.rows, Bytes: c.bytes}); got != c.want {
			t.Errorf("%d rows of %d bytes: %d, want %d", c.rows, c.bytes, got, c.want)
		}
	}
}
