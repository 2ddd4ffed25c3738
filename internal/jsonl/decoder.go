package jsonl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/jsontext"
)

const (
	maxRowFaults = 16 // noted of one row; one is enough to reject it
	maxUnknown   = 64 // keys remembered that no column is declared for
	excerptLen   = 120
)

// A node is a field of the declared schema on the way from JSON to its leaves. A row is the struct at the root.
type node struct {
	path     schema.Path
	typ      schema.Type
	nullable bool
	above    uint8 // definition level of a null here
	def      uint8 // definition level where the node is not null
	rep      uint8 // list: repetition level of all elements but the first

	col         *column // leaf
	first, last int     // the leaves below: decoder.cols[first:last]

	kids    []node // struct: its fields; list: the element
	names   []string
	index   map[string]int // where there are many names
	seen    []uint32       // by kid: the turn in which its key was last seen
	at      []int          // by kid: where its value stands (exact)
	turn    uint32
	unknown map[string]struct{}
}

// A decoder turns JSON objects into columns. It first takes each row as it comes; where that finds a wrong type or a key
// that occurs twice, it takes the row back and reads it again with more care (exact).
type decoder struct {
	jsontext.Parser
	root  node
	cols  []*column
	rows  int // of the batch
	total int // of all batches before it
	exact bool
	utf8  bool // text that is not UTF-8 is a fault

	faults    []record.Fault
	rowFaults int
	line      int64                 // of the present row
	unknown   map[schema.Path]Place // by key: the row that has it first; its number counts from the decoder's first row
}

func newDecoder(s *schema.Schema) (*decoder, error) {
	for _, f := range s.Fields {
		if err := readable(schema.Path("").Field(f.Name), f); err != nil {
			return nil, err
		}
	}
	leaves := s.Leaves()
	if err := levels(leaves); err != nil {
		return nil, err
	}
	d := &decoder{unknown: map[schema.Path]Place{}}
	for _, l := range leaves {
		d.cols = append(d.cols, &column{leaf: l})
	}
	next := 0
	d.root = d.node("", schema.Field{Type: schema.StructOf(s.Fields...)}, 0, 0, &next)
	return d, nil
}

func (d *decoder) node(path schema.Path, f schema.Field, def, rep uint8, next *int) node {
	n := node{path: path, typ: f.Type, nullable: f.Nullable, above: def, def: def, first: *next}
	if f.Nullable {
		n.def++
	}
	switch f.Type.Kind {
	case schema.Struct:
		for _, c := range f.Type.Fields {
			n.kids = append(n.kids, d.node(path.Field(c.Name), c, n.def, rep, next))
			n.names = append(n.names, c.Name)
		}
		n.seen, n.at = make([]uint32, len(n.kids)), make([]int, len(n.kids))
		if len(n.names) > 8 {
			n.index = make(map[string]int, len(n.names))
			for i, name := range n.names {
				n.index[name] = i
			}
		}
	case schema.List:
		n.rep = rep + 1
		n.kids = []node{d.node(path.Elem(), f.Type.Fields[0], n.def+1, n.rep, next)}
	default:
		n.col = d.cols[*next]
		*next++
	}
	n.last = *next
	return n
}

// find returns the kid of that name; want is the one that comes next if the order is the declared one.
func (n *node) find(key []byte, want int) int {
	if want < len(n.names) && n.names[want] == string(key) {
		return want
	}
	if n.index != nil {
		if i, ok := n.index[string(key)]; ok {
			return i
		}
		return -1
	}
	for i, name := range n.names {
		if name == string(key) {
			return i
		}
	}
	return -1
}

// start begins a batch of about that many rows and bytes.
func (d *decoder) start(rows int, size int64) {
	d.total += d.rows
	d.rows, d.faults = 0, nil
	for _, c := range d.cols {
		c.start(rows, int(size)/max(1, len(d.cols)))
	}
}

// row adds the object that text holds and nothing else. On false the syntax error stands in the parser.
func (d *decoder) row(text []byte) bool {
	for _, c := range d.cols {
		c.mark = c.where()
	}
	d.Src, d.ErrMsg, d.exact, d.rowFaults = text, "", false, 0
	if !d.object() && d.ErrMsg == "" {
		for _, c := range d.cols {
			c.back(c.mark)
		}
		d.exact = true
		d.object()
	}
	if d.ErrMsg != "" {
		for _, c := range d.cols {
			c.back(c.mark)
		}
		return false
	}
	d.rows++
	return true
}

// BrokenReason is the reason of the fault of a row that is no JSON object.
const BrokenReason = "broken-line"

// broken adds a row of nulls for text, which is no object.
func (d *decoder) broken(text []byte, e *Error) {
	d.forget()
	for k := range d.root.kids {
		d.nearestNull(&d.root.kids[k], 0)
	}
	value := schema.Cut(strings.ToValidUTF8(string(text[:min(len(text), 4*excerptLen)]), "\uFFFD"), excerptLen)
	d.faults = append(d.faults, record.Fault{Row: int32(d.rows), Reason: BrokenReason, Message: fmt.Sprintf("column %d: %s", e.Column, e.Message), Value: value, Unread: true})
	d.rows++
}

// forget forgets the keys that the present row has first.
func (d *decoder) forget() {
	var walk func(n *node)
	walk = func(n *node) {
		for key := range n.unknown {
			path := n.unknownPath(key)
			if d.unknown[path].Row == int64(d.total+d.rows) {
				delete(d.unknown, path)
				delete(n.unknown, key)
			}
		}
		for k := range n.kids {
			walk(&n.kids[k])
		}
	}
	walk(&d.root)
}

// unknownPath is the path that a key without a column is reported under.
func (n *node) unknownPath(key string) schema.Path { return n.path.Field(schema.Cut(key, 80)) }

func (d *decoder) object() bool {
	d.Pos = 0
	if d.Peek() != '{' {
		return d.Unexpected("an object")
	}
	if !d.members(&d.root, 0) {
		return false
	}
	if d.Peek() != 0 || d.Pos < len(d.Src) {
		return d.Unexpected("nothing more behind the object")
	}
	return true
}

// value reads the value at d.Pos into n. It returns false on a syntax error, and where the row must be read exactly.
func (d *decoder) value(n *node, rep uint8) bool {
	c := d.Peek()
	if c == 'n' {
		if !n.nullable {
			return d.fault(n, rep, "null", "null, but the column takes none")
		}
		if !d.Literal("null") {
			return false
		}
		d.absent(n, n.above, rep)
		return true
	}
	switch n.typ.Kind {
	case schema.Text, schema.Binary:
		if c == '"' {
			return d.textValue(n, rep)
		}
	case schema.Int, schema.Float:
		if c == '-' || ('0' <= c && c <= '9') || c == 'N' || c == 'I' {
			return d.numberValue(n, rep)
		}
	case schema.Bool:
		if c == 't' || c == 'f' {
			if c == 't' && !d.Literal("true") || c == 'f' && !d.Literal("false") {
				return false
			}
			n.col.bools = append(n.col.bools, c == 't')
			n.col.present(rep)
			return true
		}
	case schema.List:
		if c == '[' {
			return d.elements(n, rep)
		}
	case schema.Struct:
		if c == '{' {
			return d.members(n, rep)
		}
	case schema.Other:
		return d.rawValue(n, rep)
	}
	return d.wrongType(n, rep, c)
}

func (d *decoder) textValue(n *node, rep uint8) bool {
	col, start := n.col, d.Pos
	had := len(col.data)
	var ok bool
	if col.data, ok = d.AppendText(col.data); !ok {
		return false
	}
	if d.utf8 && !utf8.Valid(col.data[had:]) {
		col.data = col.data[:had]
		d.Pos = start
		return d.fault(n, rep, "not-utf8", "text is not UTF-8: convert the file, or this line, with iconv for example")
	}
	if d.Lone && !d.Keep {
		col.data = col.data[:had]
		d.Pos = start
		return d.fault(n, rep, "wrong-text", "half a surrogate pair (\\ud800 to \\udfff) in text, which no UTF-8 can hold")
	}
	col.end()
	col.present(rep)
	return true
}

func (d *decoder) numberValue(n *node, rep uint8) bool {
	start := d.Pos
	num, ok := d.Number()
	if !ok {
		return false
	}
	if n.typ.Kind == schema.Float {
		if became, exact := num.In(n.typ.Bits); !exact && !d.Keep { // a trainer's loader rounds it: rows that are only judged are as it has them
			d.Pos = start
			return d.fault(n, rep, "rounded", fmt.Sprintf("the integer %s would become %s in a column of %s: write it as text, or keep fractions and integers apart",
				schema.Cut(string(num.Text), 40), became, n.typ))
		}
		n.col.float(num.Double())
		n.col.present(rep)
		return true
	}
	if num.Float {
		d.Pos = start
		return d.wrongType(n, rep, '.')
	}
	if v, ok := num.Int(); !ok || !n.col.int(v) {
		d.Pos = start
		return d.fault(n, rep, "out-of-range", schema.Cut(string(num.Text), 40)+" does not fit "+n.typ.String())
	}
	n.col.present(rep)
	return true
}

// rawValue keeps the text of a value of mixed kinds.
func (d *decoder) rawValue(n *node, rep uint8) bool {
	start := d.Pos
	if !d.Skip(1) {
		return false
	}
	n.col.data = append(n.col.data, d.Src[start:d.Pos]...)
	n.col.end()
	n.col.present(rep)
	return true
}

func (d *decoder) elements(n *node, rep uint8) bool {
	d.Pos++
	if d.Peek() == ']' {
		d.Pos++
		d.absent(n, n.def, rep)
		return true
	}
	for {
		if !d.value(&n.kids[0], rep) {
			return false
		}
		rep = n.rep
		if again, ok := d.More(']'); !again {
			return ok
		}
	}
}

func (d *decoder) members(n *node, rep uint8) bool {
	if d.exact {
		return d.exactMembers(n, rep)
	}
	d.Pos++
	n.turn++
	turn, found, want := n.turn, 0, 0
	empty := d.Peek() == '}'
	if empty {
		d.Pos++
	}
	for again := !empty; again; {
		key, ok := d.Member()
		if !ok {
			return false
		}
		if k := n.find(key, want); k >= 0 {
			if n.seen[k] == turn {
				return false // twice: exact
			}
			n.seen[k] = turn
			found++
			want = k + 1
			if !d.value(&n.kids[k], rep) {
				return false
			}
		} else {
			d.note(n, key)
			if !d.Skip(1) {
				return false
			}
		}
		if again, ok = d.More('}'); !ok {
			return false
		}
	}
	if found < len(n.kids) {
		for k := range n.kids {
			if n.seen[k] != turn && !d.missing(&n.kids[k], rep) {
				return false
			}
		}
	}
	return true
}

// exactMembers finds where each field's value stands, the last one counting where a key is there twice, as in Python, and
// then reads them.
func (d *decoder) exactMembers(n *node, rep uint8) bool {
	for k := range n.at {
		n.at[k] = -1
	}
	d.Pos++
	empty := d.Peek() == '}'
	if empty {
		d.Pos++
	}
	for again := !empty; again; {
		key, ok := d.Member()
		if !ok {
			return false
		}
		if k := n.find(key, 0); k >= 0 {
			n.at[k] = d.Pos
		} else {
			d.note(n, key)
		}
		if !d.Skip(1) {
			return false
		}
		if again, ok = d.More('}'); !ok {
			return false
		}
	}
	end := d.Pos
	for k := range n.kids {
		kid := &n.kids[k]
		if d.Pos = n.at[k]; d.Pos < 0 {
			d.missing(kid, rep)
		} else if !d.value(kid, rep) {
			return false
		}
	}
	d.Pos = end
	return true
}

// missing stands for a field that the object does not have.
func (d *decoder) missing(n *node, rep uint8) bool {
	if n.nullable {
		d.absent(n, n.above, rep)
		return true
	}
	if !d.exact {
		return false
	}
	d.addFault(n, "missing", "missing, but the column takes no null", "")
	d.nearestNull(n, rep)
	return true
}

// absent adds an entry at level def to every leaf below n.
func (d *decoder) absent(n *node, def, rep uint8) {
	for _, c := range d.cols[n.first:n.last] {
		c.absent(def, rep)
	}
}

// nearestNull adds a null, or where n takes none what comes nearest.
func (d *decoder) nearestNull(n *node, rep uint8) {
	switch {
	case n.nullable:
		d.absent(n, n.above, rep)
	case n.typ.Kind == schema.Struct:
		for k := range n.kids {
			d.nearestNull(&n.kids[k], rep)
		}
	case n.typ.Kind == schema.List:
		d.absent(n, n.def, rep)
	default:
		n.col.zero(rep)
	}
}

// note remembers a key that no column is declared for.
func (d *decoder) note(n *node, key []byte) {
	if _, ok := n.unknown[string(key)]; ok || len(d.unknown) >= maxUnknown {
		return
	}
	if n.unknown == nil {
		n.unknown = map[string]struct{}{}
	}
	n.unknown[string(key)] = struct{}{}
	d.unknown[n.unknownPath(string(key))] = Place{Row: int64(d.total + d.rows), Line: d.line}
}

// wrongType notes that the value at d.Pos, which begins with c ('.': a number with a fraction or an exponent), is not of n's type.
func (d *decoder) wrongType(n *node, rep uint8, c byte) bool {
	if !d.exact {
		return false
	}
	got := map[byte]string{'"': "string", '{': "struct", '[': "list", 't': "bool", 'f': "bool", '.': "float", 'N': "float", 'I': "float"}[c]
	if got == "" {
		start := d.Pos
		if num, ok := d.Number(); !ok {
			return false
		} else if got = "int"; num.Float {
			got = "float"
		}
		d.Pos = start
	}
	return d.fault(n, rep, "wrong-type", fmt.Sprintf("expected %s, got %s", n.typ.Kind, got))
}

// fault passes over the value at d.Pos, which n cannot take, and puts a null in its place.
func (d *decoder) fault(n *node, rep uint8, reason, message string) bool {
	if !d.exact {
		return false
	}
	start := d.Pos
	if !d.Skip(1) {
		return false
	}
	d.addFault(n, reason, message, schema.Cut(string(d.Src[start:min(d.Pos, start+4*excerptLen)]), excerptLen))
	d.nearestNull(n, rep)
	return true
}

func (d *decoder) addFault(n *node, reason, message, value string) {
	if d.rowFaults++; d.rowFaults > maxRowFaults {
		return
	}
	d.faults = append(d.faults, record.Fault{Row: int32(d.rows), Reason: reason, Path: n.path,
		Message: string(n.path) + ": " + message, Value: value})
}

// leaves hands the gathered rows over.
func (d *decoder) leaves() []record.Leaf {
	out := make([]record.Leaf, len(d.cols))
	for i, c := range d.cols {
		out[i] = record.Leaf{Leaf: c.leaf, Vec: c.vector(d.rows)}
	}
	return out
}
