package pipeline

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/program"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A keyer emits the keys of the rows of a range.
type keyer struct {
	bind   *record.Binding
	cursor *record.Cursor
	key    func(schema.Row) (transform.Key, uint64) // nil: rows have none
}

func (b *Barrier) newKeyer(prog *program.Program) *keyer {
	keys := b.keys[prog]
	k := &keyer{bind: record.Bind(prog.Judged(), keys.Reads)}
	k.cursor = k.bind.Cursor()
	if keys.Bind != nil {
		k.key = keys.Bind()
	}
	return k
}

// rows emits the keys of out, and notes which of the rows that were read are not in it.
func (k *keyer) rows(out *record.Batch, read int, res *result) error {
	next := 0
	for i := range out.Rows {
		at := out.ReadIndex(i)
		if at < next {
			return fmt.Errorf("%s: a step repeats the row before a step that needs unique row numbers: put it after that step", out.Pos(at))
		}
		for ; next < at; next++ {
			res.gone = append(res.gone, out.SplitRow+int64(next))
		}
		next++
	}
	for ; next < read; next++ {
		res.gone = append(res.gone, out.SplitRow+int64(next))
	}
	if k.key == nil {
		return nil
	}
	k.cursor.Reset(out)
	for k.cursor.Next() {
		key, value := k.key(k.cursor)
		res.found.EmitKey(rule.Key(key), k.cursor.Number(), value)
	}
	return nil
}
