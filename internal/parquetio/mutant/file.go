// Package mutant makes damaged Parquet files for tests: it takes a healthy file apart (the footer's Thrift fields, the pages and
// their headers), changes what one kind of damage says, and puts it together again, so that all else about the file stays right.
// A mutant depends on its seed and its number alone.
package mutant

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
)

// A Seed is a healthy file that mutants are made of. Text is any file; of a Parquet file the parts are known.
type Seed struct {
	Name string
	Data []byte

	footer *value // nil: not Parquet
	begin  int    // of the footer in Data
	pages  []page
}

// A page is a header and a body in Data.
type page struct {
	group, column int
	off, body     int // of the header, of the body
	end           int
	header        *value
}

// NewSeed takes a file apart. One whose name does not end in .parquet is bytes.
func NewSeed(name string, data []byte) (*Seed, error) {
	s := &Seed{Name: name, Data: data, begin: len(data)}
	if !strings.HasSuffix(name, ".parquet") {
		return s, nil
	}
	n := len(data)
	if n < 12 || string(data[n-4:]) != "PAR1" || int(binary.LittleEndian.Uint32(data[n-8:])) > n-12 {
		return nil, errors.New(name + ": not a Parquet file")
	}
	s.begin = n - 8 - int(binary.LittleEndian.Uint32(data[n-8:]))
	var err error
	if s.footer, _, err = parse(data[s.begin : n-8]); err != nil {
		return nil, errors.New(name + ": " + err.Error())
	}
	for g, group := range s.footer.at(4).items {
		for c, chunk := range group.at(1).items {
			if err := s.addPages(g, c, chunk.at(3)); err != nil {
				return nil, errors.New(name + ": " + err.Error())
			}
		}
	}
	return s, nil
}

func (s *Seed) addPages(group, column int, meta *value) error {
	at := int(meta.at(9).num)
	if dict := int(meta.at(11).num); dict > 0 && dict < at {
		at = dict
	}
	if meta.at(5).num == 0 {
		return nil
	}
	for end := at + int(meta.at(7).num); at < end; {
		h, n, err := parse(s.Data[at:end])
		if err != nil {
			return err
		}
		p := page{group: group, column: column, off: at, body: at + n, end: at + n + int(h.at(3).num), header: h}
		if p.end > end {
			return errors.New("a page goes beyond its column chunk")
		}
		s.pages = append(s.pages, p)
		at = p.end
	}
	return nil
}

// build returns a file of these pages and indexes, and of this footer.
func build(before []byte, footer *value) []byte {
	b := footer.encode(nil)
	out := append(slices.Clone(before), b...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), "PAR1"...)
}

// withFooter returns the seed's file with another footer.
func (s *Seed) withFooter(footer *value) []byte { return build(s.Data[:s.begin], footer) }

// withPage returns the seed's file with another page in the place of p: what the footer says of places and sizes is made to fit.
func (s *Seed) withPage(p *page, header, body []byte) []byte {
	before := slices.Concat(s.Data[:p.off], header, body, s.Data[p.end:s.begin])
	return build(before, s.moved(p, len(before)-s.begin))
}

// moved returns the footer of a file whose page p is so much longer. It names no page index: those of the seed would be wrong.
func (s *Seed) moved(p *page, by int) *value {
	footer := s.footer.clone()
	shift := func(v *value) {
		if v.typ != 0 && int(v.num) > p.off {
			v.num += int64(by)
		}
	}
	for g, group := range footer.at(4).items {
		shift(group.at(5))
		for c, chunk := range group.at(1).items {
			meta := chunk.at(3)
			for id := int16(4); id <= 7 && by != 0; id++ {
				chunk.remove(id)
			}
			for _, v := range []*value{chunk.at(2), meta.at(9), meta.at(10), meta.at(11), meta.at(14)} {
				shift(v)
			}
			if g == p.group && c == p.column {
				meta.at(7).num += int64(by)
				meta.at(6).num = max(0, meta.at(6).num+int64(by))
			}
		}
	}
	return footer
}

// seal makes the header say the size and, where it says one, the checksum of the body.
func seal(header *value, body []byte, codec int64) {
	grown := int64(len(body)) - header.at(3).num
	header.at(3).num = int64(len(body))
	if codec == 0 {
		header.at(2).num += grown
	}
	if crc := header.at(4); crc.typ != 0 {
		crc.num = int64(int32(crc32.ChecksumIEEE(body)))
	}
}

func (s *Seed) meta(p *page) *value { return s.footer.at(4).items[p.group].at(1).items[p.column].at(3) }

func (s *Seed) codec(p *page) int64 { return s.meta(p).at(4).num }

// bodyOf returns a copy of the body of p.
func (s *Seed) bodyOf(p *page) []byte { return bytes.Clone(s.Data[p.body:p.end]) }

// FirstColumn returns the name of the first column; "" of a file that is not Parquet.
func (s *Seed) FirstColumn() string {
	if s.footer == nil {
		return ""
	}
	return string(s.footer.at(2).items[1].at(4).bytes)
}
