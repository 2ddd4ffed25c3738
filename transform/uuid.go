package transform

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/rlprep/rlprep/schema"
)

var _ = Add(Verb{
	Name:  "uuid",
	Title: "give every row a UUID",
	Doc: `
Writes a UUID, as text: a hash of 'seed' and the number of the row within its split, in the form of version 4. Python's uuid4 makes another one in
each run; here a row has the same one in every run, with any number of workers. Where several splits must not share UUIDs, put ${split} into the
seed of a pipeline.
`,
	Short: "path",
	Args: []Arg{
		{Name: "path", Type: "path", Doc: "where to: index", Required: true},
		{Name: "seed", Type: "string", Doc: "any text"},
		afterArg, ifArg,
	},
	New: newUUID,
	Examples: []Example{
		{
			Title: "an index",
			Args:  `{"path":"index","seed":"train"}`,
			In:    `{"q":"a"}` + "\n" + `{"q":"b"}`,
			Out:   `{"q":"a","index":"575088b0-0fd2-48ed-9c30-065725813a35"}` + "\n" + `{"q":"b","index":"c1483430-b80e-48f5-8f94-c21e12ec23a5"}`,
		},
	},
})

// UUID writes a UUID made of Seed and the number of the row.
type UUID struct {
	Path  schema.Path
	Seed  string
	After schema.Path
	If    ConflictPolicy
}

// Plan returns one computed Put of text.
func (u UUID) Plan(in *schema.Schema) (*Plan, error) {
	if err := checkPut(in, u.Path); err != nil {
		return nil, err
	}
	return &Plan{Puts: []Put{{Path: u.Path, After: u.After, Type: schema.StringType, OnExisting: u.If}}, Bind: func() Func {
		text := make([]byte, 36)
		in := append([]byte(u.Seed), make([]byte, 9)...) // a zero, and the number
		return func(row schema.Row, out *Emitter) error {
			binary.BigEndian.PutUint64(in[len(in)-8:], uint64(row.Number()))
			sum := sha256.Sum256(in)
			sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // RFC 9562, version 4
			at := 0
			for i, b := range sum[:16] {
				if i == 4 || i == 6 || i == 8 || i == 10 {
					text[at] = '-'
					at++
				}
				hex.Encode(text[at:], []byte{b})
				at += 2
			}
			out.Set(0, schema.TextValue(view(text)))
			out.Emit()
			return nil
		}
	}}, nil
}

func newUUID(args Args) (RowStep, error) {
	r := newArgs("uuid", args)
	return r.done(UUID{Path: r.path("path", ""), Seed: r.text("seed", ""), After: r.path("after", ""), If: r.present(Refuse)})
}
