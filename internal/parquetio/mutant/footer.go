package mutant

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A change changes a struct and says what it changed.
type change func(r *rand.Rand, v *value, prefix string) (what string, ok bool)

// inFooter makes mutants of a change of the footer.
func inFooter(c change) func(*rand.Rand, *Seed) *Mutant {
	return func(r *rand.Rand, s *Seed) *Mutant {
		footer := s.footer.clone()
		what, ok := c(r, footer, "")
		if !ok {
			return nil
		}
		return &Mutant{Data: s.withFooter(footer), What: what}
	}
}

var footerKinds = []kind{
	{"footer value", inFooter(changeNumber)},
	{"footer field missing", inFooter(removeField)},
	{"footer field twice", inFooter(repeatField)},
	{"footer field of another type", inFooter(retype)},
	{"footer field unknown", inFooter(addField)},
	{"footer list", inFooter(changeList)},
	{"footer text", inFooter(changeText)},
	{"chunk value", inFooter(changeChunk)},
	{"statistics that lie", lie},
	{"key-value metadata", inFooter(changeMetadata)},
	{"damaged ARROW:schema", inFooter(changeArrow)},
}

// changeList drops, repeats, swaps or empties elements of a list.
func changeList(r *rand.Rand, v *value, prefix string) (string, bool) {
	s, ok := pick(r, spots(v, prefix), func(s spot) bool { return isList(s) && len(s.field().items) > 0 })
	if !ok {
		return "", false
	}
	f := s.field()
	i, j := r.IntN(len(f.items)), r.IntN(len(f.items))
	switch r.IntN(5) {
	case 0:
		f.items = slices.Delete(f.items, i, i+1)
		return fmt.Sprintf("%s: element %d missing", s.name, i), true
	case 1:
		f.items = slices.Insert(f.items, j, f.items[i].clone())
		return fmt.Sprintf("%s: element %d twice", s.name, i), true
	case 2:
		f.items[i], f.items[j] = f.items[j], f.items[i]
		return fmt.Sprintf("%s: elements %d and %d exchanged", s.name, i, j), true
	case 3:
		f.items = nil
		return s.name + ": empty", true
	}
	f.elem = []byte{typeI32, typeBinary, typeStruct, typeList, 13, 0}[r.IntN(6)]
	return fmt.Sprintf("%s: elements of type %d", s.name, f.elem), true
}

// changeText changes a name, a key, a bound or whatever else is bytes.
func changeText(r *rand.Rand, v *value, prefix string) (string, bool) {
	all := spots(v, prefix)
	s, ok := pick(r, all, isText)
	if !ok {
		return "", false
	}
	f := s.field()
	other, _ := pick(r, all, func(o spot) bool { return isText(o) && o.name == s.name })
	texts := [][]byte{nil, other.field().bytes, []byte("a.b"), []byte("x\x00y"), []byte("\xff\xfe"), []byte("parquet-mr version 1.2.0"),
		[]byte(strings.Repeat("long", 50000)), append(slices.Clone(f.bytes), '.'), []byte("\x1b[31m\n::error::"), {0}}
	f.bytes = texts[r.IntN(len(texts))]
	return fmt.Sprintf("%s to %.40q", s.name, f.bytes), true
}

// changeChunk changes two numbers of one column chunk, or gives it those of another.
func changeChunk(r *rand.Rand, v *value, _ string) (string, bool) {
	var metas []*value
	for _, g := range v.at(4).items {
		for _, c := range g.at(1).items {
			metas = append(metas, c.at(3))
		}
	}
	if len(metas) == 0 {
		return "", false
	}
	m, other := metas[r.IntN(len(metas))], metas[r.IntN(len(metas))]
	if r.IntN(2) == 0 {
		ids := []int16{1, 2, 4, 5, 6, 7, 9, 11, 12, 13}
		id := ids[r.IntN(len(ids))]
		of := []int16{id}
		if id >= 7 && id <= 11 { // places go together
			of = []int16{6, 7, 9, 11}
		}
		for _, id := range of {
			m.remove(id)
			if from := other.at(id); from.typ != 0 {
				m.add(id, from.clone())
			}
		}
		return fmt.Sprintf("fields %d of another chunk", of), true
	}
	what := ""
	for range 2 {
		one, ok := changeNumber(r, m, "4.1.3.")
		if !ok {
			return "", false
		}
		what += one + "; "
	}
	return what, true
}

// lie changes statistics of a chunk, so that they say what is not so.
func lie(r *rand.Rand, s *Seed) *Mutant {
	footer := s.footer.clone()
	what := ""
	for range 1 + r.IntN(3) {
		groups := footer.at(4).items
		if len(groups) == 0 {
			return nil
		}
		chunks := groups[r.IntN(len(groups))].at(1).items
		meta := chunks[r.IntN(len(chunks))].at(3)
		what += lieAbout(r, meta) + "; "
	}
	return &Mutant{Data: s.withFooter(footer), What: what, Same: true}
}

func lieAbout(r *rand.Rand, meta *value) string {
	st := meta.at(12)
	if st.typ == 0 {
		st = &value{typ: typeStruct}
		meta.add(12, st)
	}
	values := meta.at(5).num
	switch r.IntN(6) {
	default:
		n := []int64{0, 0, values, r.Int64N(values + 1)}[r.IntN(4)]
		st.set(3, typeI64, n)
		return fmt.Sprintf("null_count %d", n)
	case 2:
		n := []int64{0, 1, values, 1 << 40, -1}[r.IntN(5)]
		st.set(4, typeI64, n)
		return fmt.Sprintf("distinct_count %d", n)
	case 3:
		st.at(5).bytes, st.at(6).bytes = st.at(6).bytes, st.at(5).bytes
		st.at(1).bytes, st.at(2).bytes = st.at(2).bytes, st.at(1).bytes
		return "min and max exchanged"
	case 4:
		for _, id := range []int16{7, 8} {
			st.remove(id)
			st.add(id, &value{typ: typeTrue + byte(r.IntN(2))})
		}
		return "exactness of min and max"
	case 5:
		all := &value{typ: typeStruct, fields: []*field{{1, &value{typ: typeI32}}, {2, &value{typ: typeI32, num: 8}}, {3, &value{typ: typeI32, num: 1}}}}
		meta.remove(13)
		meta.add(13, &value{typ: typeList, elem: typeStruct, items: []*value{all}})
		return "encoding_stats say that all is in a dictionary"
	}
}

// keyValue returns an entry of the footer's metadata.
func keyValue(key, text string) *value {
	return &value{typ: typeStruct, fields: []*field{{1, &value{typ: typeBinary, bytes: []byte(key)}}, {2, &value{typ: typeBinary, bytes: []byte(text)}}}}
}

// changeMetadata adds entries that readers look at, or look at twice.
func changeMetadata(r *rand.Rand, v *value, _ string) (string, bool) {
	kv := v.at(5)
	if kv.typ == 0 {
		kv = &value{typ: typeList, elem: typeStruct}
		v.add(5, kv)
	}
	texts := []string{"", "{}", "null", "[1", `{"info": {"features": 5}}`, `{"index_columns": [{"kind": "range", "start": 0, "stop": 3, "step": 0}], "columns": []}`,
		`{"index_columns": ["no such"], "columns": null}`, strings.Repeat("[", 20000), strings.Repeat("x", 200000), "\x00\xff"}
	keys := []string{"ARROW:schema", "pandas", "huggingface", "", "my.key", "org.apache.spark.sql.parquet.row.metadata", strings.Repeat("k", 70000)}
	what := ""
	for range 1 + r.IntN(3) {
		key, at := keys[r.IntN(len(keys))], r.IntN(len(kv.items)+1)
		entry := keyValue(key, texts[r.IntN(len(texts))])
		if len(kv.items) > 0 && r.IntN(3) == 0 {
			entry = kv.items[r.IntN(len(kv.items))].clone()
		}
		if r.IntN(8) == 0 {
			entry.remove(int16(1 + r.IntN(2)))
		}
		kv.items = slices.Insert(kv.items, at, entry)
		what += fmt.Sprintf("%.20q = %.20q at %d; ", entry.at(1).bytes, entry.at(2).bytes, at)
	}
	return what, true
}

// changeArrow damages the value of ARROW:schema.
func changeArrow(r *rand.Rand, v *value, _ string) (string, bool) {
	for _, e := range v.at(5).items {
		if string(e.at(1).bytes) != "ARROW:schema" {
			continue
		}
		text := e.at(2)
		raw, err := base64.StdEncoding.DecodeString(string(text.bytes))
		if err != nil || len(raw) < 16 {
			return "", false
		}
		what := ""
		switch r.IntN(6) {
		case 0:
			raw, what = raw[:r.IntN(len(raw))], "cut off"
		case 1:
			text.bytes = text.bytes[:r.IntN(len(text.bytes))]
			return "its text is cut off", true
		default:
			n := 1 + r.IntN(3)
			for range n {
				raw[r.IntN(len(raw))] ^= 1 << r.IntN(8)
			}
			what = fmt.Sprintf("%d bits", n)
		}
		text.bytes = []byte(base64.StdEncoding.EncodeToString(raw))
		return what, true
	}
	return "", false
}
