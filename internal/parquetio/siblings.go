package parquetio

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/rlprep/rlprep/internal/record"
)

// The leaves of one struct or list each say where it is null and how many elements it has. In a sound file they all say the same. Where
// they do not, what a reader makes of it depends on the leaf that it asks (pyarrow asks the first one), so such a file is refused.

// A groupLevel is a group of the schema, with the levels at which it is there.
type groupLevel struct {
	elem     int32
	def, rep uint8
}

// shared returns the levels of the deepest group that both leaves are in; 0 where that is never null nor repeated.
func shared(a, b *physicalLeaf) (def, rep uint8) {
	for i := range min(len(a.groups), len(b.groups)) {
		if a.groups[i].elem != b.groups[i].elem {
			break
		}
		def, rep = a.groups[i].def, a.groups[i].rep
	}
	return def, rep
}

// A sibling is two leaves of a Reader that have a group in common.
type sibling struct {
	a, b     int // by place in the Reader
	def, rep uint8
}

// siblings pairs each leaf with the one before it, in the order of the file: what all leaves of a group agree on, neighbours do.
func (f *File) siblings(leaves []int) (out []sibling) {
	order := make([]int, len(leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(leaves[i], leaves[j]) })
	for i := 1; i < len(order); i++ {
		s := sibling{a: order[i-1], b: order[i]}
		if s.def, s.rep = shared(&f.physical[leaves[s.a]], &f.physical[leaves[s.b]]); s.def > 0 {
			out = append(out, s)
		}
	}
	return out
}

// agree returns an error where the levels of siblings differ in these rows.
func (r *Reader) agree(vectors []*record.Vector) error {
	for _, s := range r.siblings {
		a, b := &r.leaves[s.a], &r.leaves[s.b]
		if s.agree(levelsOf(vectors[s.a], a), levelsOf(vectors[s.b], b)) {
			continue
		}
		return disagree(a.chunk, b.chunk)
	}
	return nil
}

func disagree(a, b *Chunk) error {
	leaves := a.file.leaves
	return formatErrorf(a.file.name, "row group %d: columns %s and %s disagree on where the struct or list around them is null, or how long it is: the file is damaged",
		a.rowGroup, leaves[min(a.leaf, b.leaf)].Path, leaves[max(a.leaf, b.leaf)].Path)
}

// levels are those of a vector.
type levels struct {
	def, rep       []uint8
	entries        int
	maxDef, maxRep uint8
}

func levelsOf(v *record.Vector, l *leafReader) levels {
	return levels{def: v.Def, rep: v.Rep, entries: v.Entries(), maxDef: l.maxDef, maxRep: l.maxRep}
}

func (s *sibling) agree(a, b levels) bool {
	if a.maxRep == s.rep && b.maxRep == s.rep {
		return a.entries == b.entries && bytes.Equal(a.rep, b.rep) && (a.def == nil && b.def == nil || s.sameDef(a, b))
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 { // entries below the group belong to the one before them
		for i < a.entries && a.repAt(i) > s.rep {
			i++
		}
		for j < b.entries && b.repAt(j) > s.rep {
			j++
		}
		if i == a.entries || j == b.entries {
			return i == a.entries && j == b.entries
		}
		if a.repAt(i) != b.repAt(j) || min(a.defAt(i), s.def) != min(b.defAt(j), s.def) {
			return false
		}
	}
}

func (s *sibling) sameDef(a, b levels) bool {
	for i := range a.entries {
		if min(a.defAt(i), s.def) != min(b.defAt(i), s.def) {
			return false
		}
	}
	return true
}

func (l *levels) defAt(i int) uint8 {
	if l.def == nil {
		return l.maxDef
	}
	return l.def[i]
}

func (l *levels) repAt(i int) uint8 {
	if l.rep == nil {
		return 0
	}
	return l.rep[i]
}

// A levelTally keeps, of the row groups that were read last, how many entries of each leaf have which definition level: leaves of one
// group are not always read together.
type levelTally struct {
	mu     sync.Mutex
	groups map[int32]map[int32]tallied // by row group and leaf
	order  []int32
}

// tallied is what was counted in all pages of a chunk.
type tallied struct{ byDef []int64 }

// tallyGroups is how many row groups are kept: more than there are workers.
const tallyGroups = 256

func (t *levelTally) get(c *Chunk) (n tallied, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, known = t.groups[c.rowGroup][c.leaf]
	return n, known
}

// put keeps what was counted in c, and returns an error where another leaf of its group was counted otherwise. It keeps the counts alone: a pointer
// into a reader would keep its dictionary in memory.
func (t *levelTally) put(c *Chunk, n tallied) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.groups[c.rowGroup]
	if of == nil {
		if t.groups == nil {
			t.groups = map[int32]map[int32]tallied{}
		}
		if len(t.order) == tallyGroups {
			delete(t.groups, t.order[0])
			t.order = slices.Delete(t.order, 0, 1)
		}
		of = map[int32]tallied{}
		t.groups[c.rowGroup] = of
		t.order = append(t.order, c.rowGroup)
	}
	of[c.leaf] = n
	for leaf, other := range of {
		def, rep := shared(&c.file.physical[leaf], c.physical())
		if leaf == c.leaf || def == 0 || rep != c.physical().MaxRep || rep != c.file.physical[leaf].MaxRep {
			continue
		}
		if n.below(def) != other.below(def) || n.entries() != other.entries() {
			return disagree(c, c.file.chunk(int(c.rowGroup), int(leaf)))
		}
	}
	return nil
}

func (n tallied) below(def uint8) (sum int64) {
	for _, k := range n.byDef[:def] {
		sum += k
	}
	return sum
}

func (n tallied) entries() int64 { return n.below(uint8(len(n.byDef))) }

// add counts the entries of a page.
func (n *tallied) add(p *openPage) {
	if p.sameDef {
		n.byDef[p.level] += int64(p.entries)
		return
	}
	left := int64(p.entries)
	for level := range n.byDef[1:] {
		k := int64(bytes.Count(p.def[:p.entries], []byte{uint8(level)}))
		n.byDef[level] += k
		if left -= k; left == 0 {
			return
		}
	}
	n.byDef[len(n.byDef)-1] += left
}

// tally hands in what was counted, where every page of the chunk was.
func (l *leafReader) tally() error {
	c := l.chunk
	if l.skipped || l.counts.entries() != c.values {
		return nil
	}
	return c.file.levels.put(c, l.counts)
}
