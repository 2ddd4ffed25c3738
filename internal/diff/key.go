package diff

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/rlprep/rlprep/schema"
)

// byKey compares the rows that have the same key. It keeps 56 bytes or so a row: where it stands, and a hash of its values.
func (c *comparison) byKey(ctx context.Context) error {
	paths := append(slices.Clone(c.common), c.opt.Key)
	old, err := c.digests(ctx, c.old, paths, "OLD")
	if err != nil {
		return err
	}
	new, err := c.digests(ctx, c.new, paths, "NEW")
	if err != nil {
		return err
	}
	look := map[int64]int64{} // rows of OLD whose values differ, with those of NEW
	for key, a := range old {
		b, ok := new[key]
		if !ok {
			continue
		}
		if c.res.Rows++; a.values != b.values {
			look[a.row] = b.row
		}
	}
	if err := c.alone(ctx, c.old, new, true); err != nil {
		return err
	}
	if err := c.alone(ctx, c.new, old, false); err != nil {
		return err
	}
	return c.lookAt(ctx, paths, look)
}

// A digest is where a row stands and what is in it.
type digest struct {
	row    int64
	values xxh3.Uint128
}

// digests reads a table. A key that occurs twice is reported, and means its first row.
func (c *comparison) digests(ctx context.Context, t *Table, paths []schema.Path, side string) (map[xxh3.Uint128]digest, error) {
	cur, err := t.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	defer cur.Close()
	out := make(map[xxh3.Uint128]digest, t.Rows)
	var buf []byte
	for row := int64(0); ; row++ {
		ok, err := cur.Next(ctx)
		if err != nil || !ok {
			return out, err
		}
		key := cur.At(c.key)
		if key.IsNull() || key.IsMissing() {
			return nil, fmt.Errorf("%s: row %d: key %s is null", side, row, c.opt.Key)
		}
		buf = appendValue(buf[:0], key, schema.Type{})
		id := xxh3.Hash128(buf)
		if first, twice := out[id]; twice {
			c.addRow(Difference{Kind: Row, Path: string(c.opt.Key), Row: row, Key: text(key), Old: map[bool]string{true: fmt.Sprintf("twice, first in row %d", first.row)}[side == "OLD"],
				New: map[bool]string{true: fmt.Sprintf("twice, first in row %d", first.row)}[side == "NEW"]})
			continue
		}
		buf = buf[:0]
		for i := range c.common {
			buf = appendValue(buf, cur.At(i), c.shapes[i])
		}
		out[id] = digest{row, xxh3.Hash128(buf)}
	}
}

// addRow adds a row that differs as a whole, and counts it.
func (c *comparison) addRow(d Difference) {
	c.res.RowsDiffer++
	if c.res.RowsDiffer <= int64(c.opt.Values) {
		c.add(d)
	}
}

// alone tells the rows of t whose key the other side lacks, in their order.
func (c *comparison) alone(ctx context.Context, t *Table, other map[xxh3.Uint128]digest, isOld bool) error {
	cur, err := t.Open(ctx, []schema.Path{c.opt.Key})
	if err != nil {
		return err
	}
	defer cur.Close()
	var buf []byte
	for row := int64(0); ; row++ {
		ok, err := cur.Next(ctx)
		if err != nil || !ok {
			return err
		}
		buf = appendValue(buf[:0], cur.At(0), schema.Type{})
		if _, ok := other[xxh3.Hash128(buf)]; ok {
			continue
		}
		d := Difference{Kind: Row, Path: string(c.opt.Key), Row: row, Key: text(cur.At(0)), Old: "nothing", New: "a row"}
		if isOld {
			d.Old, d.New = d.New, d.Old
		}
		c.addRow(d)
	}
}

// lookAt compares the values of pairs of rows: those of OLD as they come, those of NEW read beforehand, some at a time.
func (c *comparison) lookAt(ctx context.Context, paths []schema.Path, look map[int64]int64) error {
	if len(look) == 0 {
		return nil
	}
	wanted := make([]int64, 0, len(look))
	for a := range look {
		wanted = append(wanted, a)
	}
	slices.Sort(wanted)
	most := max(c.opt.Values, 1) // each differs in a cell at least
	for _, a := range wanted[min(most, len(wanted)):] {
		delete(look, a)
		c.res.RowsDiffer++
		c.res.CellsDiffer++ // at least
	}
	rows := map[int64]int64{}
	for a, b := range look {
		rows[b] = a
	}
	kept := map[int64]*keptRow{}
	err := eachRow(ctx, c.new, paths, rows, func(_, a int64, cur Cursor) {
		k := &keptRow{}
		for i := range paths {
			k.values = append(k.values, cur.At(i).Clone())
		}
		kept[a] = k
	})
	if err != nil {
		return err
	}
	compared := c.res.Rows
	err = eachRow(ctx, c.old, paths, look, func(a, _ int64, cur Cursor) {
		c.row(a, text(cur.At(c.key)), cur, kept[a])
	})
	c.res.Rows = compared
	return err
}

// eachRow calls f for the rows of t that are in rows, with what they are there.
func eachRow(ctx context.Context, t *Table, paths []schema.Path, rows map[int64]int64, f func(row, with int64, cur Cursor)) error {
	cur, err := t.Open(ctx, paths)
	if err != nil {
		return err
	}
	defer cur.Close()
	for row, left := int64(0), len(rows); left > 0; row++ {
		ok, err := cur.Next(ctx)
		if err != nil || !ok {
			return err
		}
		if with, is := rows[row]; is {
			f(row, with, cur)
			left--
		}
	}
	return nil
}

// A keptRow is a row that stays valid, as a Cursor that stands on it.
type keptRow struct{ values []schema.Value }

func (k *keptRow) Next(context.Context) (bool, error) { return false, nil }
func (k *keptRow) At(i int) schema.Value              { return k.values[i] }
func (k *keptRow) Close() error                       { return nil }

// appendValue writes v, as far as both sides have it, so that what same takes for equal is written alike, whatever its type.
func appendValue(b []byte, v schema.Value, t schema.Type) []byte {
	switch v.Kind() {
	case schema.Missing, schema.Null:
		return append(b, 'n')
	case schema.Bool:
		if v.Bool() {
			return append(b, 't')
		}
		return append(b, 'f')
	case schema.Int, schema.Float:
		if f := v.Float(); v.Kind() == schema.Float && (f != math.Trunc(f) || math.Abs(f) >= 1<<53) {
			return binary.LittleEndian.AppendUint64(append(b, 'd'), math.Float64bits(f))
		}
		if v.Big() {
			return binary.LittleEndian.AppendUint64(append(b, 'u'), v.Uint())
		}
		n := v.Int()
		if v.Kind() == schema.Float {
			n = int64(v.Float())
		}
		return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(n))
	case schema.List:
		b = binary.LittleEndian.AppendUint64(append(b, 'l'), uint64(v.Len()))
		var elem schema.Type
		if t.Kind == schema.List && len(t.Fields) == 1 {
			elem = t.Fields[0].Type
		} else if t.Kind == schema.Map {
			elem = schema.StructOf(t.Fields...)
		}
		for i := range v.Len() {
			b = appendValue(b, v.Elem(i), elem)
		}
		return b
	case schema.Struct:
		b = append(b, 's')
		for _, f := range t.Fields {
			b = append(append(b, f.Name...), 0)
			b = appendValue(b, v.Field(f.Name), f.Type)
		}
		return append(b, 'e')
	}
	b = binary.LittleEndian.AppendUint64(append(b, 'x', byte(v.Kind())), uint64(len(v.Text())))
	return append(b, v.Text()...)
}
