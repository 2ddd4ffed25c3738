package ruletest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/schema"
)

// A node is a JSON value with its keys in order. Text keeps bytes that are no UTF-8, which encoding/json would replace.
type node struct {
	kind   schema.Kind // Null, Bool, Int, Float, Text, List, Struct
	b      bool
	i      int64
	f      float64
	s      string
	keys   []string
	values []*node // List, Struct
}

func (n *node) field(name string) *node {
	for i, k := range n.keys {
		if k == name {
			return n.values[i]
		}
	}
	return nil
}

type parser struct {
	s string
	i int
}

func parseJSON(s string) (n *node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse %q: %v", s, r)
		}
	}()
	p := &parser{s: s}
	n = p.value()
	if p.space(); p.i != len(s) {
		panic("text after the value")
	}
	return n, nil
}

func (p *parser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *parser) eat(word string) bool {
	if p.space(); !strings.HasPrefix(p.s[p.i:], word) {
		return false
	}
	p.i += len(word)
	return true
}

func (p *parser) need(word string) {
	if !p.eat(word) {
		panic(fmt.Sprintf("expected %q at %q", word, p.s[p.i:]))
	}
}

func (p *parser) value() *node {
	switch {
	case p.eat("null"):
		return &node{kind: schema.Null}
	case p.eat("true"):
		return &node{kind: schema.Bool, b: true}
	case p.eat("false"):
		return &node{kind: schema.Bool}
	case p.eat("NaN"):
		f, _ := strconv.ParseFloat("NaN", 64)
		return &node{kind: schema.Float, f: f}
	case p.eat("["):
		n := &node{kind: schema.List}
		for !p.eat("]") {
			if len(n.values) > 0 {
				p.need(",")
			}
			n.values = append(n.values, p.value())
		}
		return n
	case p.eat("{"):
		n := &node{kind: schema.Struct}
		for !p.eat("}") {
			if len(n.values) > 0 {
				p.need(",")
			}
			p.need(`"`)
			n.keys = append(n.keys, p.text())
			p.need(":")
			n.values = append(n.values, p.value())
		}
		return n
	case p.eat(`"`):
		return &node{kind: schema.Text, s: p.text()}
	}
	return p.number()
}

func (p *parser) text() string {
	var b []byte
	for {
		c := p.s[p.i]
		p.i++
		switch c {
		case '"':
			return string(b)
		case '\\':
			c = p.s[p.i]
			p.i++
			if at := strings.IndexByte("bfnrt", c); at >= 0 {
				b = append(b, "\b\f\n\r\t"[at])
			} else if c == 'u' {
				r, err := strconv.ParseUint(p.s[p.i:p.i+4], 16, 16)
				if err != nil {
					panic(err)
				}
				p.i += 4
				b = utf8.AppendRune(b, rune(r))
			} else {
				b = append(b, c)
			}
		default:
			b = append(b, c)
		}
	}
}

func (p *parser) number() *node {
	p.space()
	end := p.i
	for end < len(p.s) && strings.IndexByte("+-.0123456789eE", p.s[end]) >= 0 {
		end++
	}
	word := p.s[p.i:end]
	p.i = end
	if i, err := strconv.ParseInt(word, 10, 64); err == nil {
		return &node{kind: schema.Int, i: i}
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic(err)
	}
	return &node{kind: schema.Float, f: f}
}
