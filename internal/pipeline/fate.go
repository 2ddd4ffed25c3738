package pipeline

import "github.com/rlprep/rlprep/schema"

// A Fate is what becomes of one leaf of the output.
type Fate struct {
	Path schema.Path
	// How is "copied" (its compressed pages, undecoded), "constant", "row numbers", "computed" or "encoded" (decoded and written
	// anew).
	How string
}

// Fates says how the columns of a split come about, as far as its first row group shows it, and which leaves of the input are
// decoded on the way. Where a step leaves rows out of a row group, what is said to be copied is decoded too.
func (p *Plan) Fates(split string) (out []Fate, decoded []schema.Path, err error) {
	for _, t := range p.Tasks {
		if t.Split != split {
			continue
		}
		u := t.Units[0]
		w := newWorker(p)
		r := &result{dropped: map[string]int64{}, findings: newFindings()}
		m := w.newMachine(t, u, u.Parts[0], r, true)
		for i, l := range m.prog.leaf {
			out = append(out, Fate{l.Path, m.how(i)})
		}
		if err := m.checks.chunks(); err != nil { // rules read rows only where chunks do not answer them
			return nil, nil, err
		}
		leaves := m.prog.in.Leaves()
		for _, i := range m.decode() {
			decoded = append(decoded, leaves[i].Path)
		}
		return out, decoded, nil
	}
	return nil, nil, nil
}

// how says how a leaf of the output comes about.
func (m *machine) how(leaf int) string {
	switch s := &m.prog.slots[m.at[m.prog.from[leaf]]]; {
	case s.konst != nil:
		return "constant"
	case s.seq != nil:
		return "row numbers"
	case s.edit != nil:
		return "encoded"
	case s.input < 0:
		return "computed"
	case m.raw[leaf] != nil:
		return "copied"
	}
	return "encoded"
}
