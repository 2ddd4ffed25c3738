package mutant

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// seeds are the Parquet files of the repository that can be taken apart.
func seeds(t *testing.T) (out []*Seed) {
	t.Helper()
	for _, dir := range []string{".", "damage"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "parquet", dir, "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := NewSeed(filepath.Base(name), b)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
	}
	if len(out) < 40 {
		t.Fatalf("%d seeds", len(out))
	}
	return out
}

// A seed that is taken apart and put together is the same, byte for byte; with a longer page its footer points where it should.
func TestApartAndTogether(t *testing.T) {
	for _, s := range seeds(t) {
		if got := s.withFooter(s.footer); !bytes.Equal(got, s.Data) {
			t.Errorf("%s: other bytes", s.Name)
		}
		if len(s.pages) == 0 {
			continue
		}
		for _, p := range []*page{&s.pages[0], &s.pages[len(s.pages)/2]} {
			header := p.header.clone()
			header.fields = append(header.fields, &field{99, &value{typ: typeBinary, bytes: []byte("unknown")}})
			longer, err := NewSeed(s.Name, s.withPage(p, header.encode(nil), s.bodyOf(p)))
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
				continue
			}
			if len(longer.pages) != len(s.pages) || longer.pages[len(s.pages)-1].end-s.pages[len(s.pages)-1].end != 11 {
				t.Errorf("%s: its pages moved wrongly", s.Name)
			}
		}
	}
}

// Mutants depend on seed and number alone, every kind is met, and most are not the seed.
func TestMake(t *testing.T) {
	met := map[string]int{}
	same, all := 0, 0
	for _, s := range seeds(t) {
		for n := range 2 * Kinds() {
			m, again := s.Make(n), s.Make(n)
			if !bytes.Equal(m.Data, again.Data) || m.Kind != again.Kind || m.What != again.What {
				t.Fatalf("%s: mutant %d is not the same twice", s.Name, n)
			}
			met[m.Kind]++
			all++
			if bytes.Equal(m.Data, s.Data) {
				same++
			}
		}
	}
	if len(met) != Kinds() {
		t.Errorf("%d of %d kinds: %v", len(met), Kinds(), met)
	}
	if same*20 > all {
		t.Errorf("%d of %d mutants are their seed", same, all)
	}
}
