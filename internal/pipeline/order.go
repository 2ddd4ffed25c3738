package pipeline

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/rlprep/rlprep/internal/judge"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/spill"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// bucketBytes is the size of a bucket, uncompressed. A test makes it smaller.
var bucketBytes int64 = 8 << 20

// maxBuckets bounds the files that are open at once: rows of more than maxBuckets × bucketBytes make larger buckets.
const maxBuckets = 256

// run does both passes. Ranks are the rows that go on, in order, of a barrier that arranges them; nil: all.
func (o *Order) run(ctx context.Context, s Split, p *Plan, b *Barrier, keys *judge.Keys, ranks []uint32) (err error) {
	create := func() (*os.File, error) { return spill.Nameless(p.Job.TempDir) }
	o.gone = b.selection.gone
	if o.positions, err = spill.NewNumbers(create); err != nil {
		return err
	}
	reached := b.pass.Rows - o.gone.Len()
	place := func(rank int64) int64 { return rank }
	o.rows = reached
	if o.renumber {
		o.rows = int64(len(ranks))
		places := make([]uint32, reached) // one more than the position; 0: none
		for at, rank := range ranks {
			places[rank] = uint32(at + 1)
		}
		place = func(rank int64) int64 { return int64(places[rank]) - 1 }
	}
	if err := o.makeBuckets(s, create); err != nil {
		return err
	}
	p.input.Files()[o.file].Rows = o.rows
	if b.one.Bind == nil {
		err = o.placeRows(reached, place)
	} else {
		err = o.placeKeys(keys, place, create)
	}
	if err != nil {
		return err
	}
	err = o.fill(ctx)
	if reject := (*RejectError)(nil); errors.As(err, &reject) {
		return b.fault(fmt.Errorf("a step before it rejects a row, and must come after it: %w", err))
	}
	return err
}

// makeBuckets plans the pass that fills the buckets, and makes them.
func (o *Order) makeBuckets(s Split, create func() (*os.File, error)) (err error) {
	if err := o.scatter.cut(s); err != nil {
		return err
	}
	bytes := int64(0)
	for _, t := range o.scatter.Tasks {
		for _, g := range t.RowGroups {
			for _, r := range g.Ranges {
				bytes += r.bytes()
			}
		}
	}
	n := min(maxBuckets, bytes/bucketBytes+1, max(o.rows, 1))
	o.size = max(1, (o.rows+n-1)/n)
	for at := int64(0); at < o.rows; at += o.size {
		k := &bucket{rows: min(o.size, o.rows-at), bytes: bytes / n}
		o.buckets = append(o.buckets, k)
		if k.file, err = create(); err != nil {
			return err
		}
		if k.writer, err = parquetio.NewWriter(outFile{k.file}, o.bucketSchema(s.Name), parquetio.WriterOptions{CreatedBy: "rlprep"}); err != nil {
			return err
		}
	}
	return nil
}

// outFile is a nameless file as a parquetio.Out.
type outFile struct{ *os.File }

// Name implements parquetio.Out.
func (outFile) Name() string { return "rows that are put into order" }

// placeRows gives every row its position by its rank.
func (o *Order) placeRows(reached int64, place func(rank int64) int64) error {
	for rank := range reached {
		if err := o.positions.Add(place(rank)); err != nil {
			return err
		}
	}
	return o.positions.Seal()
}

// placeKeys gives every row its position by the rank of its key: keys are visited in order, and their rows in the order of their numbers.
func (o *Order) placeKeys(keys *judge.Keys, place func(rank int64) int64, create func() (*os.File, error)) error {
	sorter := spill.NewSorter(16, 1<<17, 1<<10, create)
	defer sorter.Close()
	rank := int64(0)
	var failed error
	err := keys.Each(func(g *judge.Group) {
		for number := range g.Rows() {
			if failed == nil {
				failed = sorter.Add(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(number)), uint64(place(rank))))
			}
			rank++
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	m, err := sorter.Merge()
	if err != nil {
		return err
	}
	b, err := m.Next()
	for ; err == nil; b, err = m.Next() {
		if err := o.positions.Add(int64(binary.BigEndian.Uint64(b[8:]))); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return err
	}
	return o.positions.Seal()
}

// fill writes the rows into the buckets.
func (o *Order) fill(ctx context.Context) error {
	r := o.scatter.newRunner(ctx)
	r.out = bucketOutput{noOutput{r.keys}, o}
	defer r.close()
	if err := r.do(o.scatter.Tasks); err != nil {
		return err
	}
	o.records = r.report.Records
	for _, k := range o.buckets {
		w, err := k.writer.Close()
		if err != nil {
			return err
		}
		if w.Rows != k.rows {
			return fmt.Errorf("put rows into order: %d rows in a bucket of %d", w.Rows, k.rows)
		}
		st, err := k.file.Stat()
		if err != nil {
			return err
		}
		if k.from, err = parquetio.OpenAt(outFile{}.Name(), k.file, st.Size()); err != nil {
			return err
		}
	}
	return nil
}

// addTo adds to a report the rows that did not come as far as the buckets.
func (o *Order) addTo(rep *Report) {
	out := int64(0)
	for _, rec := range o.records {
		rep.RowsIn += rec.RowsIn
		out += rec.RowsOut
		for k, n := range rec.Dropped {
			rep.Dropped[k] += n
		}
	}
	rep.RowsIn -= o.rows // the steps after it count these
	if left := out - o.rows; left > 0 {
		rep.Dropped[o.reason] += left
	}
}

// bucketOutput is the output of the pass that fills the buckets.
type bucketOutput struct {
	noOutput
	order *Order
}

func (o bucketOutput) write(_ *Task, res *result, _ *Record) error {
	for k, g := range res.buckets {
		if g != nil {
			if err := o.order.buckets[k].writer.Write(g); err != nil {
				return err
			}
			g.Release()
		}
	}
	return nil
}

// An orderedInput is an input, and the files that the buckets of orders are.
type orderedInput struct {
	Input
	facts  Facts
	files  []*rule.File
	orders []*Order
}

// Files implements Input.
func (in *orderedInput) Files() []*rule.File { return in.files }

// of returns the order whose buckets are a file, nil for a file of the input.
func (in *orderedInput) of(file int) *Order {
	if n := len(in.files) - len(in.orders); file >= n {
		return in.orders[file-n]
	}
	return nil
}

// Ranges implements Input: a range is a bucket.
func (in *orderedInput) Ranges(file int) (out []ReadRange, err error) {
	o := in.of(file)
	if o == nil {
		return in.Input.Ranges(file)
	}
	first := int64(0)
	for k, b := range o.buckets {
		out = append(out, ReadRange{File: file, RowGroup: -1, FileRow: first, Rows: b.rows, Bytes: b.bytes, Packed: b.bytes, Handle: [2]int64{int64(k), 0}})
		first += b.rows
	}
	return out, nil
}

// Cut implements Input. Handle is the bucket and the first row within it.
func (in *orderedInput) Cut(r ReadRange, rows int64) (a, b ReadRange, err error) {
	if in.of(r.File) == nil {
		return in.Input.Cut(r, rows)
	}
	h := r.Handle.([2]int64)
	a, b = r, r
	a.Rows, b.Rows = rows, r.Rows-rows
	a.Bytes, a.Packed = r.Bytes*rows/r.Rows, r.Packed*rows/r.Rows
	b.Bytes, b.Packed, b.FileRow, b.Handle = r.Bytes-a.Bytes, r.Packed-a.Packed, r.FileRow+rows, [2]int64{h[0], h[1] + rows}
	return a, b, nil
}

// Unchanged implements Input.
func (in *orderedInput) Unchanged(file int) error {
	if in.of(file) != nil {
		return nil
	}
	return in.Input.Unchanged(file)
}

// Open implements Input: a bucket is read as a whole and its rows are put into order.
func (in *orderedInput) Open(ctx context.Context, r ReadRange, decode []int) (Reader, error) {
	o := in.of(r.File)
	if o == nil {
		return in.Input.Open(ctx, r, decode)
	}
	h := r.Handle.([2]int64)
	f := o.buckets[h[0]].from
	leaves := f.Schema().Leaves()
	n := len(leaves) - len(hidden)
	all := slices.Clone(decode)
	for i := range hidden {
		all = append(all, n+i)
	}
	vecs, err := readAll(f, all)
	if err != nil {
		return nil, err
	}
	places := make([][]int64, len(hidden))
	for i := range places {
		places[i] = vecs[len(decode)+i].Ints()
	}
	rows := make([]int32, len(places[0]))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, func(a, b int32) int { return int(places[0][a] - places[0][b]) })
	rows = rows[h[1] : h[1]+r.Rows]
	out := &orderedReader{batch: record.Batch{Schema: in.files[r.File].Schema, RowGroup: -1, FileRow: r.FileRow}, rows: rows, vecs: vecs[:len(decode)], decode: decode}
	number := places[1]
	if o.renumber {
		number = places[0]
	}
	for _, i := range rows {
		file := int(places[2][i])
		out.from = append(out.from, record.InputRow{Number: number[i], File: file, Name: in.files[file].Name, RowGroup: int(places[3][i]), Row: places[4][i], Line: places[5][i]})
	}
	return out, ctx.Err()
}

// readAll returns the values of leaves of all row groups of a file.
func readAll(f *parquetio.File, leaves []int) ([]*record.Vector, error) {
	all := make([][]*record.Vector, len(leaves))
	for g, group := range f.RowGroups() {
		r, err := f.Reader(g, leaves, 0, group.Rows)
		if err != nil {
			return nil, err
		}
		for read := int64(0); read < group.Rows; {
			vecs, err := r.Next(int(group.Rows - read))
			if err != nil {
				r.Close()
				return nil, err
			}
			for i, v := range vecs {
				all[i] = append(all[i], v)
			}
			read += int64(vecs[0].Rows)
		}
		r.Close()
	}
	out := make([]*record.Vector, len(leaves))
	for i, parts := range all {
		var err error
		if out[i], err = concat(parts, f.Schema().Leaves()[leaves[i]].MaxDef); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// concat joins vectors in halves, so that none is copied often.
func concat(parts []*record.Vector, maxDef uint8) (*record.Vector, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	a, err := concat(parts[:len(parts)/2], maxDef)
	if err != nil {
		return nil, err
	}
	b, err := concat(parts[len(parts)/2:], maxDef)
	if err != nil {
		return nil, err
	}
	return a.Concat(b, maxDef)
}

// An orderedReader returns the rows of a bucket in their order.
type orderedReader struct {
	batch  record.Batch
	rows   []int32
	from   []record.InputRow
	vecs   []*record.Vector
	decode []int
}

// Next implements Reader.
func (r *orderedReader) Next(_ context.Context, limit int) (*record.Batch, error) {
	n := min(limit, len(r.rows))
	if n == 0 {
		return nil, io.EOF
	}
	b := r.batch
	b.Rows, b.From, b.File = n, r.from[:n], r.from[0].Name
	for _, l := range b.Schema.Leaves() {
		b.Leaves = append(b.Leaves, record.Leaf{Leaf: l})
	}
	for k, v := range r.vecs {
		l := &b.Leaves[r.decode[k]]
		l.Vec = v.SelectRows(r.rows[:n], l.MaxDef)
	}
	r.rows, r.from = r.rows[n:], r.from[n:]
	return &b, nil
}

// Close implements Reader.
func (r *orderedReader) Close() error { return nil }

// Prejudge implements Facts.
func (in *orderedInput) Chunk(r ReadRange, leaf int) (rule.ColumnFacts, bool, error) {
	if in.facts == nil || in.of(r.File) != nil {
		return rule.ColumnFacts{}, false, nil
	}
	return in.facts.Chunk(r, leaf)
}

// Nulls implements Facts.
func (in *orderedInput) Nulls(r ReadRange, leaf int) (int64, error) {
	if in.facts == nil || in.of(r.File) != nil {
		return -1, nil
	}
	return in.facts.Nulls(r, leaf)
}

// Counts implements Facts.
func (in *orderedInput) Counts(r ReadRange, leaf int) (nulls, bytes int64) {
	if in.facts == nil || in.of(r.File) != nil {
		return -1, 0
	}
	return in.facts.Counts(r, leaf)
}

// Raw implements Facts.
func (in *orderedInput) Raw(r ReadRange, leaf int) *record.Raw {
	if in.facts == nil || in.of(r.File) != nil {
		return nil
	}
	return in.facts.Raw(r, leaf)
}

// keyRows are the rows of a group as a barrier sees them.
func keyRows(g *judge.Group) iter.Seq[transform.KeyRow] {
	return func(yield func(transform.KeyRow) bool) {
		for number, value := range g.Rows() {
			if !yield(transform.KeyRow{Number: number, Value: value}) {
				return
			}
		}
	}
}
