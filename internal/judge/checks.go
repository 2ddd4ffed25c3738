package judge

import (
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// A Range is rows of one file that are judged at once: a row group, or a piece of one.
type Range struct {
	File     int // its number in the job
	Name     string
	RowGroup int
	Rows     int64
	// Known says what is known of a leaf of the schema without reading rows.
	Known func(leaf int) (rule.ColumnFacts, error)
}

// A Found is what the rows of some parts gave.
type Found struct {
	*Findings
	Hits []byte // what rules emitted, for Keys
}

// NewFound returns one that is empty.
func NewFound() *Found { return &Found{Findings: NewFindings()} }

// Release gives back the memory of Hits.
func (f *Found) Release() {
	freeHits(f.Hits)
	f.Hits = nil
}

// Checks runs the rules over one range. Rules that statistics answer do not look at rows.
type Checks struct {
	rng     Range
	schema  *schema.Schema
	active  []*check
	reads   []schema.Path
	bind    *record.Binding
	cursor  *record.Cursor
	rejects *rejects                 // nil: rows with findings stay
	seen    []seen                   // by leaf
	asked   map[int]rule.ColumnFacts // by leaf: what is known, until all rules are asked
}

// A check is one rule at work.
type check struct {
	checker rule.Checker
	pass    *rule.Pass
	view    rowView
	*reading
	known    []rule.ColumnFacts // by read: what is known of the row group
	answered []int              // reads that it will not look at

	scanner rule.Scanner // nil: it is shown every row
	marked  []bool       // by row: it is shown this one
	hits    []int        // scratch of scanLeaf
}

// A reading is what a rule reads of the rows of a program.
type reading struct {
	reads []schema.Path
	bind  *record.Binding
	leaf  []int // by read: the leaf that it is; -1: none or more than one
}

// Readings holds what the rules read of the rows of one file at a time: it is the same in all its parts. It is for one goroutine.
type Readings struct {
	of     *schema.Schema
	leaves []schema.Leaf
	byRule map[int]*reading
}

// reading resolves what the rule of that number reads.
func (rs *Readings) reading(of *schema.Schema, number int, pass *rule.Pass) *reading {
	if rs.of != of {
		rs.of, rs.leaves, rs.byRule = of, of.Leaves(), map[int]*reading{}
	}
	r := rs.byRule[number]
	if r == nil {
		reads := pass.Rule.Reads(pass)
		r = &reading{reads: reads, bind: record.Bind(of, reads), leaf: make([]int, len(reads))}
		for i, p := range reads {
			r.leaf[i] = -1
			for at, l := range rs.leaves {
				if l.Path == p {
					r.leaf[i] = at
				}
			}
		}
		rs.byRule[number] = r
	}
	return r
}

// A rowView shows a rule its own reads of the cursor that all rules share.
type rowView struct {
	*record.Cursor
	at []int
}

// At implements schema.Row.
func (v *rowView) At(i int) schema.Value { return v.Cursor.At(v.at[i]) }

// Check begins to judge a range whose rows have schema s. Its results go to found.
func (r *Rules) Check(rng Range, s *schema.Schema, rs *Readings, found *Found) *Checks {
	c := &Checks{rng: rng, schema: s}
	sink := found.Add
	if r.RejectFrom != rule.Off {
		c.rejects = &rejects{from: r.RejectFrom, found: found}
		sink = c.rejects.add
	}
	shared := &rule.Task{}
	channels := map[string]bool{}
	for i, pass := range r.passes(s, sink) {
		if pass == nil || pass.Rule.Reads == nil || channels[pass.Rule.SharesKeysAs] {
			continue
		}
		if pass.Rule.SharesKeysAs != "" {
			channels[pass.Rule.SharesKeysAs] = true
		}
		pass.Task = shared
		k := &check{checker: pass.Rule.New(pass), pass: pass, reading: rs.reading(s, i, pass)}
		k.scanner, _ = k.checker.(rule.Scanner)
		if len(k.reads) == 0 {
			continue
		}
		pass.Out = func(key rule.Key, _ schema.Row, value uint64) {
			file, group, row, line := c.cursor.Place(rng.File)
			c.rejects.emitted()
			found.emit(hit{emitter: uint16(i), key: key, file: uint32(file), row: row, group: int32(group), line: line, value: value})
		}
		c.active = append(c.active, k)
	}
	return c
}

// Prejudge asks each rule whether what is known of the range is enough, and resolves the reads of the others.
func (c *Checks) Prejudge() error {
	pos := schema.FilePos(c.rng.Name)
	pos.RowGroup = c.rng.RowGroup
	var left []*check
	c.asked = map[int]rule.ColumnFacts{}
	for _, k := range c.active {
		k.known = make([]rule.ColumnFacts, len(k.reads))
		for i := range k.known {
			k.known[i] = rule.ColumnFacts{Missing: !k.bind.Has(i), Nulls: -1} // until it is asked
		}
		var failed error
		chunks := &rule.RowGroupFacts{Rows: c.rng.Rows, Pos: pos, At: func(i int) rule.ColumnFacts {
			ch, err := c.chunk(k, i)
			if err != nil && failed == nil {
				failed = err
			}
			k.known[i] = ch
			return ch
		}}
		done := k.checker.Prejudge(chunks)
		if failed != nil {
			return failed
		}
		if c.rejects.undo() { // the rows tell which of them it is about
			k.checker = k.pass.Rule.New(k.pass)
			k.scanner, _ = k.checker.(rule.Scanner)
			chunks.Answered = nil
			chunks.At = func(i int) rule.ColumnFacts { return rule.ColumnFacts{Missing: !k.bind.Has(i), Nulls: -1} }
			done = k.checker.Prejudge(chunks)
		}
		c.rejects.flush()
		if !done {
			k.answered = chunks.Answered
			left = append(left, k)
		}
	}
	c.active, c.asked = left, nil
	c.bindRows()
	return nil
}

// bindRows resolves what the rules left read, each path once for all of them.
func (c *Checks) bindRows() {
	for _, k := range c.active {
		for i, p := range k.reads {
			if slices.Contains(k.answered, i) {
				p = answered
			}
			at := slices.Index(c.reads, p)
			if at < 0 {
				at = len(c.reads)
				c.reads = append(c.reads, p)
			}
			k.view.at = append(k.view.at, at)
		}
	}
	c.bind = record.Bind(c.schema, c.reads)
	c.cursor = c.bind.Cursor()
	for _, k := range c.active {
		k.view.Cursor = c.cursor
	}
}

// answered stands for a read that no rule will look at: it is no path of any schema.
const answered = schema.Path("")

// chunk says what is known of read i of a rule.
func (c *Checks) chunk(k *check, i int) (rule.ColumnFacts, error) {
	if !k.bind.Has(i) {
		return rule.ColumnFacts{Missing: true}, nil
	}
	leaf := k.bind.Leaf(i)
	if leaf < 0 {
		return rule.ColumnFacts{Nulls: -1}, nil
	}
	ch, ok := c.asked[leaf]
	if !ok {
		var err error
		if ch, err = c.rng.Known(leaf); err != nil {
			return rule.ColumnFacts{}, err // it names the file
		}
		c.asked[leaf] = ch
	}
	return ch, nil
}

// Leaves lists the leaves that the remaining rules read.
func (c *Checks) Leaves() []int { return c.bind.Leaves() }

// Rows shows each row of b to each rule, except rules that the columns answer. It returns the rows that findings take out.
func (c *Checks) Rows(b *record.Batch) []BadRow {
	if len(c.active) == 0 || b.Rows == 0 {
		return nil
	}
	c.rejects.begin()
	c.seen = append(c.seen[:0], make([]seen, len(b.Leaves))...)
	var all, some []*check
	for _, k := range c.active {
		switch {
		case k.scanner == nil:
			if c.rejects != nil || !c.answers(k, b) {
				all = append(all, k)
			}
		case k.scan(b):
			some = append(some, k)
		}
	}
	if len(all)+len(some) == 0 {
		return nil
	}
	c.cursor.Reset(b)
	for row := 0; c.cursor.Next(); row++ {
		c.rejects.at(row)
		for _, k := range all {
			k.checker.Row(&k.view)
		}
		for _, k := range some {
			if k.marked[row] {
				k.checker.Row(&k.view)
			}
		}
	}
	return c.rejects.end()
}

// seen is what the values of a leaf show, as rule.ColumnFacts.
type seen struct {
	looked bool
	nulls  int64
	dict   []schema.Value
}

// answers asks the rule again, of the rows of b alone: their columns are at hand now.
func (c *Checks) answers(k *check, b *record.Batch) bool {
	return k.checker.Prejudge(&rule.RowGroupFacts{Rows: int64(b.Rows), Slice: true, Pos: b.Pos(b.ReadIndex(0)), At: func(i int) rule.ColumnFacts {
		known := k.known[i]
		if known.Nulls > 0 {
			known.Nulls = -1 // they may be in other rows
		}
		if k.leaf[i] < 0 || slices.Contains(k.answered, i) {
			return known
		}
		s := &c.seen[k.leaf[i]]
		if !s.looked {
			*s = look(&b.Leaves[k.leaf[i]], b.Rows)
		}
		known.Nulls = s.nulls
		if s.dict != nil {
			known.Dict = s.dict
		}
		return known
	}})
}

// look says what the values of a leaf tell of the rows.
func look(l *record.Leaf, rows int) seen {
	s := seen{looked: true, nulls: -1}
	switch {
	case l.Const != nil && l.Const.IsNull():
		s.nulls, s.dict = int64(rows), []schema.Value{}
	case l.Const != nil:
		s.nulls, s.dict = 0, []schema.Value{*l.Const}
	case l.Seq != nil:
		s.nulls = 0
	case l.Vec != nil:
		nulls := l.Vec.Entries()
		if l.Vec.Values != nil {
			nulls -= l.Vec.Values.Len()
		}
		if nulls == 0 || l.MaxRep == 0 {
			s.nulls = int64(nulls)
		}
		if texts, ok := l.Vec.Texts(); ok && l.Type.Kind == schema.Text {
			s.dict = few(texts)
		}
	}
	return s
}

// few returns the texts that occur, nil where there are more than a few.
func few(texts schema.Texts) []schema.Value {
	out := make([]schema.Value, 0, 4)
	last := ""
	for i := range texts.Len() {
		s := texts.At(i)
		if i > 0 && s == last || slices.ContainsFunc(out, func(v schema.Value) bool { return v.Text() == s }) {
			continue
		}
		if len(out) == cap(out) {
			return nil
		}
		out, last = append(out, schema.TextValue(s)), s
	}
	return out
}

// scan marks the rows of b that its scanner asks for and reports whether there are any.
func (k *check) scan(b *record.Batch) bool {
	k.marked = append(k.marked[:0], make([]bool, b.Rows)...)
	found := false
	for i := range k.reads {
		if !k.scanner.Scans(i) || !k.bind.Has(i) || slices.Contains(k.answered, i) {
			continue
		}
		rows, all := k.scanLeaf(i, b)
		for _, row := range rows {
			k.marked[row] = true
		}
		for row := range k.marked {
			k.marked[row] = k.marked[row] || all
		}
		found = found || all || len(rows) > 0
	}
	return found
}

// scanLeaf returns the rows whose texts the scanner asks for; all: those of a leaf that has one value or none, and of what has no texts.
func (k *check) scanLeaf(i int, b *record.Batch) (rows []int, all bool) {
	if k.leaf[i] < 0 {
		return nil, true
	}
	l := &b.Leaves[k.leaf[i]]
	if l.Const != nil {
		if l.Const.Kind() != schema.Text {
			return nil, !l.Const.IsNull()
		}
		k.hits = k.scanner.Scan(i, schema.OneText(l.Const.Text()), k.hits[:0])
		return nil, len(k.hits) > 0
	}
	texts, ok := l.Vec.Texts()
	if !ok {
		return nil, true
	}
	k.hits = k.scanner.Scan(i, texts, k.hits[:0])
	return l.Vec.RowsOf(k.hits, l.MaxDef), false
}
