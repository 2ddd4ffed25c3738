package pipeline

import "testing"

// A worker that has seen many files holds the memory of one: each has steps of its own, and hundreds of them would be held at the end.
func TestBuildersOfOneFile(t *testing.T) {
	w := newWorker(nil)
	for range 3 {
		prog := &program{steps: []*step{{}, {}}}
		for range 2 { // two units
			for _, s := range prog.steps {
				if _, err := w.newBuilders(prog, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(w.builders) != len(prog.steps) {
			t.Fatalf("builders of %d steps are held, of a file of %d", len(w.builders), len(prog.steps))
		}
	}
}
