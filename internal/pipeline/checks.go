package pipeline

import (
	"fmt"
	"slices"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// checks runs the rules over one part. Rules that a dictionary or a count answers do not look at rows.
type checks struct {
	m      *machine
	active []*check
	reads  []schema.Path
	bind   *record.Binding
	cursor *record.Cursor
}

// A check is one rule at work.
type check struct {
	checker  rule.Checker
	pass     *rule.Pass
	number   int // of the rule in the job
	view     rowView
	reads    []schema.Path
	bind     *record.Binding // of its own reads, for Chunk
	answered []int           // reads that it will not look at

	scanner rule.Scanner // nil: it is shown every row
	marked  []bool       // by row: it is shown this one
}

// A rowView shows a rule its own reads of the cursor that all rules share.
type rowView struct {
	*record.Cursor
	at []int
}

// At implements schema.Row.
func (v *rowView) At(i int) schema.Value { return v.Cursor.At(v.at[i]) }

// passes makes a pass of every rule of the job that holds, with what it reports going to sink.
func (j *Job) passes(s *schema.Schema, sink func(rule.Finding)) []*rule.Pass {
	out := make([]*rule.Pass, len(j.Rules))
	for i, r := range j.Rules {
		p, ok := rule.NewPass(r, j.Env)
		if !ok {
			continue
		}
		p.Schema = s
		p.Sink = func(f rule.Finding) {
			if f.Level == rule.Error && slices.Contains(j.Soften, r.ID) {
				f.Level = rule.Warning
			}
			sink(f)
		}
		out[i] = p
	}
	return out
}

func (p *Plan) newChecks(t *Task, m *machine) *checks {
	c := &checks{m: m}
	shared := &rule.Task{}
	channels := map[string]bool{}
	for i, pass := range p.Job.passes(m.prog.out, m.res.findings.add) {
		if pass == nil || pass.Rule.Reads == nil || channels[pass.Rule.Channel] {
			continue
		}
		if pass.Rule.Channel != "" {
			channels[pass.Rule.Channel] = true
		}
		pass.Task = shared
		k := &check{checker: pass.Rule.New(pass), pass: pass, number: i, reads: pass.Rule.Reads(pass)}
		k.scanner, _ = k.checker.(rule.Scanner)
		if len(k.reads) == 0 {
			continue
		}
		pass.Out = func(key rule.Key, row schema.Row, value uint64) {
			o := row.Origin()
			if m.res.hits == nil {
				m.res.hits = *hitPool.Get().(*[]byte)
			}
			m.res.hits = hit{rule: uint16(i), key: key, file: uint32(m.part.File), row: o.Row, group: int32(o.RowGroup), line: o.Line, value: value}.append(m.res.hits)
		}
		c.active = append(c.active, k)
	}
	return c
}

// chunks asks each rule whether what is known of the row group is enough, and resolves the reads of the others.
func (c *checks) chunks() error {
	pos := schema.FilePos(c.m.fileName())
	pos.RowGroup = c.m.part.RowGroup
	var left []*check
	for _, k := range c.active {
		k.bind = record.Bind(c.m.prog.out, k.reads)
		var failed error
		chunks := &rule.Chunks{Rows: c.m.part.Rows, Pos: pos, At: func(i int) rule.Chunk {
			ch, err := c.chunk(k, i)
			if err != nil && failed == nil {
				failed = err
			}
			return ch
		}}
		done := k.checker.Chunk(chunks)
		if failed != nil {
			return failed
		}
		if !done {
			k.answered = chunks.Answered
			left = append(left, k)
		}
	}
	c.active = left
	c.bindRows()
	return nil
}

// bindRows resolves what the rules left read, each path once for all of them.
func (c *checks) bindRows() {
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
	c.bind = record.Bind(c.m.prog.out, c.reads)
	c.cursor = c.bind.Cursor()
	for _, k := range c.active {
		k.view.Cursor = c.cursor
	}
}

// answered stands for a read that no rule will look at: it is no path of any schema.
const answered = schema.Path("")

// chunk says what is known of read i of a rule.
func (c *checks) chunk(k *check, i int) (rule.Chunk, error) {
	if !k.bind.Has(i) {
		return rule.Chunk{Missing: true}, nil
	}
	leaf := k.bind.Leaf(i)
	if leaf < 0 {
		return rule.Chunk{Nulls: -1}, nil
	}
	s := c.m.prog.slots[c.m.at[c.m.prog.from[leaf]]]
	switch {
	case s.konst != nil && s.konst.IsNull():
		return rule.Chunk{Nulls: c.m.part.Rows, Dict: []schema.Value{}}, nil
	case s.konst != nil:
		return rule.Chunk{Dict: []schema.Value{*s.konst}}, nil
	case s.seq != nil:
		c.m.told = c.m.told || c.m.prog.distinct[leaf]
		return rule.Chunk{Distinct: c.m.prog.distinct[leaf] && !c.m.repeats}, nil
	case s.input >= 0:
		ch, ok, err := c.m.job.Source.Chunk(c.m.part, s.input)
		if err != nil {
			return rule.Chunk{}, fmt.Errorf("%s: %w", c.m.fileName(), err)
		}
		if ok {
			return asText(ch, c.m.prog.leaf[leaf].Type), nil
		}
	}
	return rule.Chunk{Nulls: -1}, nil
}

// asText makes the values texts where a step has said of bytes that they are.
func asText(ch rule.Chunk, t schema.Type) rule.Chunk {
	if t.Kind != schema.Text || len(ch.Dict) == 0 || ch.Dict[0].Kind() != schema.Binary {
		return ch
	}
	dict := make([]schema.Value, len(ch.Dict))
	for i, v := range ch.Dict {
		dict[i] = schema.TextValue(v.Text())
	}
	ch.Dict = dict
	return ch
}

// leaves lists the leaves of the output that the rules left read.
func (c *checks) leaves() []int { return c.bind.Leaves() }

// rows shows each row of b to each rule.
func (c *checks) rows(b *record.Batch) {
	if len(c.active) == 0 || b.Rows == 0 {
		return
	}
	var all, some []*check
	for _, k := range c.active {
		switch {
		case k.scanner == nil:
			all = append(all, k)
		case k.scan(b):
			some = append(some, k)
		}
	}
	if len(all)+len(some) == 0 {
		return
	}
	c.cursor.Reset(b)
	for row := 0; c.cursor.Next(); row++ {
		for _, k := range all {
			k.checker.Row(&k.view)
		}
		for _, k := range some {
			if k.marked[row] {
				k.checker.Row(&k.view)
			}
		}
	}
}

// scan marks the rows of b that its scanner asks for and reports whether there are any.
func (k *check) scan(b *record.Batch) bool {
	k.marked = append(k.marked[:0], make([]bool, b.Rows)...)
	found := false
	for i, p := range k.reads {
		if slices.Contains(k.answered, i) {
			continue
		}
		at := slices.IndexFunc(b.Leaves, func(l record.Leaf) bool { return l.Path == p })
		if at < 0 {
			continue // the file has no such column
		}
		rows, all := k.scanLeaf(i, &b.Leaves[at])
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

// scanLeaf returns the rows whose texts the scanner asks for; all: those of a leaf that has one value or none.
func (k *check) scanLeaf(i int, l *record.Leaf) (rows []int, all bool) {
	if l.Const != nil {
		return nil, l.Const.Kind() == schema.Text && k.scanner.Scan(i, l.Const.Text())
	}
	texts, ok := l.Vec.Texts()
	if !ok {
		return nil, true
	}
	var values []int
	for v := range texts.Len() {
		if k.scanner.Scan(i, texts.At(v)) {
			values = append(values, v)
		}
	}
	return l.Vec.RowsOf(values, l.MaxDef), false
}
