package mutant

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

var schemaKinds = []kind{
	{"logical type", inFooter(changeAnnotation)},
	{"schema shape", inFooter(changeShape)},
	{"schema value", inFooter(changeElement)},
}

// elements returns the elements of the schema below its root.
func elements(v *value) []*value {
	if all := v.at(2).items; len(all) > 1 {
		return all[1:]
	}
	return nil
}

// changeAnnotation gives an element another converted type, another logical type, both or none.
func changeAnnotation(r *rand.Rand, v *value, _ string) (string, bool) {
	all := elements(v)
	if len(all) == 0 {
		return "", false
	}
	e := all[r.IntN(len(all))]
	what := ""
	if r.IntN(3) > 0 {
		e.remove(6)
		if n := r.IntN(25) - 1; n >= 0 {
			e.add(6, &value{typ: typeI32, num: int64(n)})
			what = fmt.Sprintf("converted type %d; ", n)
		}
	}
	if r.IntN(3) > 0 {
		e.remove(10)
		if r.IntN(4) > 0 {
			union, said := logical(r)
			e.add(10, union)
			what += said
		}
	}
	if r.IntN(4) == 0 {
		e.set(7, typeI32, int64(r.IntN(12)-2))
		e.set(8, typeI32, int64(r.IntN(80)-2))
	}
	return what, true
}

// logical returns a LogicalType that is right in itself or not.
func logical(r *rand.Rand) (*value, string) {
	if r.IntN(8) == 0 {
		return &value{typ: typeStruct}, "logical type without a member"
	}
	id := int16(1 + r.IntN(20))
	member := &value{typ: typeStruct}
	i32 := func(n int) *value { return &value{typ: typeI32, num: int64(n)} }
	switch id {
	case 5:
		member.fields = []*field{{1, i32(r.IntN(6) - 1)}, {2, i32(r.IntN(80) - 1)}}
	case 7, 8:
		unit := &value{typ: typeStruct, fields: []*field{{int16(1 + r.IntN(4)), &value{typ: typeStruct}}}}
		member.fields = []*field{{1, &value{typ: typeTrue + byte(r.IntN(2))}}, {2, unit}}
	case 10:
		bits := []int64{8, 16, 32, 64, 7, 0, -8}[r.IntN(7)]
		member.fields = []*field{{1, &value{typ: typeByte, num: bits}}, {2, &value{typ: typeTrue + byte(r.IntN(2))}}}
	}
	if len(member.fields) > 0 && r.IntN(6) == 0 {
		member.fields = member.fields[:r.IntN(len(member.fields))]
	}
	return &value{typ: typeStruct, fields: []*field{{id, member}}}, fmt.Sprintf("logical type %d", id)
}

// changeElement changes a number of one element of the schema.
func changeElement(r *rand.Rand, v *value, _ string) (string, bool) {
	all := elements(v)
	if len(all) == 0 {
		return "", false
	}
	return changeNumber(r, all[r.IntN(len(all))], "2.")
}

// changeShape changes what lies below what.
func changeShape(r *rand.Rand, v *value, _ string) (string, bool) {
	list := v.at(2)
	all := elements(v)
	if len(all) == 0 {
		return "", false
	}
	i := r.IntN(len(all))
	e := all[i]
	switch r.IntN(8) {
	case 0, 1:
		to := int64(r.IntN(3))
		e.set(3, typeI32, to)
		return fmt.Sprintf("repetition_type %d", to), true
	case 2:
		in := list.items[r.IntN(len(list.items))]
		by := int64(r.IntN(2)*2 - 1)
		in.set(5, typeI32, in.at(5).num+by)
		return fmt.Sprintf("num_children by %d", by), true
	case 3:
		e.at(4).bytes = slices.Clone(all[r.IntN(len(all))].at(4).bytes)
		return "the name of another element", true
	case 4:
		e.set(5, typeI32, 0)
		return "a group without children", true
	case 5:
		j := r.IntN(len(all))
		all[i], all[j] = all[j], all[i]
		return "two elements exchanged", true
	case 6:
		e.remove(3)
		return "no repetition_type", true
	}
	n := 1 + r.IntN(60)
	var groups []*value
	for k := range n {
		groups = append(groups, &value{typ: typeStruct, fields: []*field{{3, &value{typ: typeI32, num: int64(r.IntN(3))}},
			{4, &value{typ: typeBinary, bytes: fmt.Appendf(nil, "g%d", k)}}, {5, &value{typ: typeI32, num: 1}}}})
	}
	list.items = slices.Insert(list.items, i+1, groups...)
	return fmt.Sprintf("%d groups around an element", n), true
}
