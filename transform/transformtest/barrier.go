package transformtest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/rlprep/rlprep/transform"
)

// A keyed is a row before a Barrier.
type keyed struct {
	table  *Table
	row    int // of the table
	number int64
	key    transform.Key
	value  uint64
}

// barrier carries out a Barrier on the files of a split and returns the tables that come out, of one row each.
func barrier(files []*Table, step transform.Barrier) (out []*Table, err error) {
	var rows []keyed
	var keys *transform.Keys
	for _, f := range files {
		if keys, err = step.Keys(f.Schema); err != nil {
			return nil, err
		}
		for i := range f.Rows {
			k := keyed{table: f, row: i, number: int64(len(rows))}
			if keys.Bind != nil {
				k.key, k.value = keys.Bind()(f.View(i, keys.Reads))
			}
			rows = append(rows, k)
		}
	}
	if keys == nil {
		return nil, errors.New("a barrier without files")
	}
	if keys.Select != nil {
		rows = selected(rows, keys)
	}
	if keys.Order || keys.Arrange != nil && keys.Bind != nil {
		slices.SortStableFunc(rows, func(a, b keyed) int { return bytes.Compare(a.key[:], b.key[:]) })
	}
	if keys.Arrange != nil {
		if rows, err = arranged(rows, keys); err != nil {
			return nil, err
		}
	}
	for _, k := range rows {
		one := &Table{Schema: k.table.Schema, Rows: k.table.Rows[k.row : k.row+1], Numbers: []int64{k.number}}
		plan, err := step.Plan(one.Schema)
		if err != nil {
			return nil, err
		}
		if one, _, err = one.run(plan); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// selected returns the rows that Select does not drop.
func selected(rows []keyed, keys *transform.Keys) []keyed {
	groups := map[transform.Key][]keyed{}
	for _, k := range rows {
		groups[k.key] = append(groups[k.key], k)
	}
	dropped := map[int64]bool{}
	for key, group := range groups {
		if len(group) == 1 && !keys.Singletons {
			continue
		}
		var each iter.Seq[transform.KeyRow] = func(yield func(transform.KeyRow) bool) {
			for _, k := range group {
				if !yield(transform.KeyRow{Number: k.number, Value: k.value}) {
					return
				}
			}
		}
		keys.Select(key, each, func(number int64) { dropped[number] = true })
	}
	return slices.DeleteFunc(rows, func(k keyed) bool { return dropped[k.number] })
}

// arranged returns the rows that Arrange names.
func arranged(rows []keyed, keys *transform.Keys) (out []keyed, err error) {
	ranks, err := keys.Arrange(int64(len(rows)))
	if err != nil {
		return nil, err
	}
	if !keys.Order && !slices.IsSorted(ranks) {
		return nil, errors.New("ranks do not increase, and Order is not set")
	}
	for at, rank := range ranks {
		if int(rank) >= len(rows) {
			return nil, fmt.Errorf("rank %d of %d rows", rank, len(rows))
		}
		k := rows[rank]
		if keys.Order {
			k.number = int64(at)
		}
		out = append(out, k)
	}
	return out, nil
}
