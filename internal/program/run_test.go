package program

import "testing"

// A Scratch that has served many files holds the memory of one: each has steps of its own, and hundreds of them would be held at the end.
func TestScratchOfOneFile(t *testing.T) {
	var c Scratch
	for range 3 {
		p := &Program{steps: []step{&compute{}, &compute{}}}
		for range 2 { // two ranges
			for _, s := range p.steps {
				if _, err := c.of(p, s.(*compute)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(c.builders) != len(p.steps) {
			t.Fatalf("builders of %d steps are held, of a file of %d", len(c.builders), len(p.steps))
		}
	}
}
