package mutant

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Mutant is a damaged file.
type Mutant struct {
	Data []byte
	Kind string // of damage: "footer value"
	What string // was changed: "num_values 60 to -1"
	// Same says that readers must find what they find in the seed: only statistics, or fields that no reader knows, were changed.
	Same bool
	// Blind says that the damage knows nothing of the format, so that checksums tell it.
	Blind bool
}

// A kind is one way to damage a file; make returns nil where the seed does not lend itself to it.
type kind struct {
	name string
	make func(*rand.Rand, *Seed) *Mutant
}

// kinds are in turns: mutant n of a seed is of kind n modulo their number, or of one that the seed lends itself to.
var kinds = slices.Concat(footerKinds, schemaKinds, pageKinds, byteKinds)

// Kinds returns how many kinds of damage there are: as many mutants of a seed meet each kind once.
func Kinds() int { return len(kinds) }

// Make makes mutant n of a seed.
func (s *Seed) Make(n int) *Mutant {
	h := fnv.New64a()
	fmt.Fprint(h, s.Name)
	r := rand.New(rand.NewPCG(uint64(n), h.Sum64()))
	own := kinds
	if s.footer == nil {
		own = byteKinds
	}
	for i := n; ; i++ {
		k := own[i%len(own)]
		if m := k.make(r, s); m != nil {
			m.Kind = k.name
			m.Blind = i%len(own) >= len(own)-len(byteKinds)
			m.Same = m.Same || strings.HasSuffix(k.name, "field unknown") && m.What != "logical_type" && m.What != "column_orders"
			return m
		}
	}
}

// pick returns one of the names of spots and one of its spots, each name as likely as the others, however often it is there.
func pick(r *rand.Rand, all []spot, wanted func(spot) bool) (spot, bool) {
	byName := map[string][]spot{}
	var list []string
	for _, s := range all {
		if !wanted(s) {
			continue
		}
		if byName[s.name] == nil {
			list = append(list, s.name)
		}
		byName[s.name] = append(byName[s.name], s)
	}
	if len(list) == 0 {
		return spot{}, false
	}
	of := byName[list[r.IntN(len(list))]]
	return of[r.IntN(len(of))], true
}

func isNumber(s spot) bool { t := s.field().typ; return t >= typeByte && t <= typeI64 }

func isBool(s spot) bool { t := s.field().typ; return t == typeTrue || t == typeFalse }

func isText(s spot) bool { return s.field().typ == typeBinary }

func isList(s spot) bool { t := s.field().typ; return t == typeList || t == typeSet }

// small are the names of numbers that stand for a word of the format.
var small = []string{"schema type", "repetition_type", "converted_type", "codec", "type", "page type", "v1 encoding", "definition_level_encoding",
	"repetition_level_encoding", "dictionary encoding", "v2 encoding", "4.1.3.13.1", "4.1.3.13.2"}

// number returns another number for one that is n.
func number(r *rand.Rand, name string, n int64) int64 {
	if slices.Contains(small, name) && r.IntN(8) > 0 {
		return int64(r.IntN(14) - 1)
	}
	for {
		list := []int64{0, 1, -1, 2, n - 1, n + 1, n * 2, n / 2, n + int64(r.IntN(64)) - 32, -n, int64(r.IntN(1000)), 1 << 20, 1 << 30, 1<<31 - 1, -1 << 31,
			1 << 32, 1 << 40, 1<<63 - 1, -1 << 63}
		if to := list[r.IntN(len(list))]; to != n {
			return to
		}
	}
}

// changeNumber changes one number or flag of v.
func changeNumber(r *rand.Rand, v *value, prefix string) (what string, ok bool) {
	s, ok := pick(r, spots(v, prefix), func(s spot) bool { return isNumber(s) || isBool(s) })
	if !ok {
		return "", false
	}
	f := s.field()
	if isBool(s) {
		f.typ = typeTrue + typeFalse - f.typ
		return s.name, true
	}
	from := f.num
	f.num = number(r, s.name, from)
	return fmt.Sprintf("%s %d to %d", s.name, from, f.num), true
}

// removeField removes one field of v.
func removeField(r *rand.Rand, v *value, prefix string) (what string, ok bool) {
	s, ok := pick(r, spots(v, prefix), func(spot) bool { return true })
	if !ok {
		return "", false
	}
	s.in.fields = slices.Delete(s.in.fields, s.i, s.i+1)
	return s.name, true
}

// repeatField gives one field of v twice, the second time as it is or with another number.
func repeatField(r *rand.Rand, v *value, prefix string) (what string, ok bool) {
	s, ok := pick(r, spots(v, prefix), func(spot) bool { return true })
	if !ok {
		return "", false
	}
	again := &field{s.field().id, s.field().value.clone()}
	what = s.name
	if again.typ >= typeByte && again.typ <= typeI64 && r.IntN(2) == 0 {
		from := again.num
		again.num = number(r, s.name, again.num)
		what += fmt.Sprintf(" %d and %d", from, again.num)
	}
	at := s.i + r.IntN(2)
	if r.IntN(3) == 0 {
		at = len(s.in.fields)
	}
	s.in.fields = slices.Insert(s.in.fields, at, again)
	return what, true
}

// retype gives one field of v another Thrift type.
func retype(r *rand.Rand, v *value, prefix string) (what string, ok bool) {
	s, ok := pick(r, spots(v, prefix), func(spot) bool { return true })
	if !ok {
		return "", false
	}
	f := s.field()
	types := []byte{typeTrue, typeFalse, typeByte, typeI16, typeI32, typeI64, typeDouble, typeBinary, typeList, typeStruct}
	to := &value{typ: types[r.IntN(len(types))], num: f.num, bytes: f.bytes, fields: f.fields, items: f.items, elem: typeStruct}
	if to.typ == typeList && f.typ != typeList {
		to.items, to.elem = []*value{{typ: typeI32, num: f.num}}, typeI32
	}
	what = fmt.Sprintf("%s from type %d to %d", s.name, f.typ, to.typ)
	f.value = to
	return what, true
}

// addField adds a field that no version of the format has: readers must pass over it.
func addField(r *rand.Rand, v *value, prefix string) (what string, ok bool) {
	structs := []spot{}
	for _, s := range spots(v, prefix) {
		if s.field().typ == typeStruct {
			structs = append(structs, s)
		}
	}
	to, name := v, "the outermost struct"
	if len(structs) > 0 && r.IntN(3) > 0 {
		s := structs[r.IntN(len(structs))]
		to, name = s.field().value, s.name
	}
	extra := []*value{
		{typ: typeI32, num: 7}, {typ: typeBinary, bytes: []byte("unknown")}, {typ: typeTrue},
		{typ: typeStruct, fields: []*field{{1, &value{typ: typeI64, num: -1}}}},
		{typ: typeList, elem: typeBinary, items: []*value{{typ: typeBinary, bytes: []byte("x")}}},
	}
	to.fields = append(to.fields, &field{int16(100 + r.IntN(1000)), extra[r.IntN(len(extra))]})
	return name, true
}
