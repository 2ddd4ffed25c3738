// Package inspect shows a file of data as a trainer sees it: schema, rows, layout, and the first rows as chats.
package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/record"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// A File is what is shown of a file. Its form in JSON is part of what scripts may rely on (docs/scripting.md).
type File struct {
	Name      string               `json:"file"`
	Format    string               `json:"format"`
	Split     string               `json:"split"`
	Bytes     int64                `json:"bytes"`
	Rows      int64                `json:"rows"`
	RowGroups []int64              `json:"row_groups"` // rows of each
	CreatedBy string               `json:"created_by,omitempty"`
	Schema    *schema.Schema       `json:"schema"`
	Leaves    []parquetio.LeafInfo `json:"leaves,omitempty"`
	Metadata  map[string]string    `json:"metadata"`
	First     []json.RawMessage    `json:"first_rows"`

	chats []string
}

// Files looks at the files of a set, and at their first rows: as JSON, or else as chats. Where rows of a file cannot be read the error says so, and the
// file is returned without them. A run that was cancelled returns no files.
func Files(ctx context.Context, set *source.Set, rows int, asJSON bool) ([]*File, error) {
	out := []*File{}
	var unread error // schema and layout are known where the rows cannot be read
	for _, f := range set.Files() {
		x := newFile(f)
		err := x.first(ctx, f, rows, asJSON)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		unread = errors.Join(unread, err)
		out = append(out, x)
	}
	return out, unread
}

func newFile(f *source.File) *File {
	x := &File{Name: f.Name, Format: f.Format, Split: f.Split, Bytes: f.Bytes, Rows: f.Rows, RowGroups: f.RowGroups, Schema: f.Schema,
		Metadata: f.Metadata, First: []json.RawMessage{}}
	if f.Parquet != nil {
		x.Leaves, x.CreatedBy = f.Parquet.LeafInfos(), f.Parquet.CreatedBy()
	}
	return x
}

// first reads the first rows: whole for JSON, else as chats, which show the beginning of long text.
func (x *File) first(ctx context.Context, f *source.File, rows int, asJSON bool) error {
	all := make([]int, len(f.Schema.Leaves()))
	for i := range all {
		all[i] = i
	}
	for _, u := range f.ReadRanges(0) {
		left := rows - max(len(x.First), len(x.chats))
		if left <= 0 {
			return nil
		}
		r, err := f.Open(ctx, u, all)
		if err != nil {
			return err
		}
		b, err := r.Next(ctx, left)
		if err == nil {
			b.Schema = f.Schema
			x.show(b, asJSON)
		}
		if err = errors.Join(err, r.Close()); err == io.EOF {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *File) show(b *record.Batch, asJSON bool) {
	for i := range b.Rows {
		if !asJSON {
			x.chats = append(x.chats, chat(shorten(b.RowValue(i)).AppendJSON(nil)))
			continue
		}
		row := b.RowJSON(i)
		if !json.Valid(row) { // NaN: as Python writes it, which is no JSON
			row = schema.AppendQuoted(nil, string(row))
		}
		x.First = append(x.First, row)
	}
}

// shownText is more than is shown of any text.
const shownText = 4 << 10

// shorten returns v with long text cut: a row of hundreds of megabytes is not to be copied for its first lines.
func shorten(v schema.Value) schema.Value {
	switch v.Kind() {
	case schema.List, schema.Struct:
		elems := make([]schema.Value, v.Len())
		for i := range elems {
			elems[i] = shorten(v.Elem(i))
		}
		if v.Kind() == schema.List {
			return schema.ListValue(elems)
		}
		return schema.StructValue(v.Type(), elems)
	case schema.Text, schema.Binary:
		if text := v.Text(); len(text) > shownText {
			return schema.OpaqueValue(v.Kind(), text[:shownText])
		}
	}
	return v
}

// Print shows the file to people.
func (x *File) Print(w io.Writer) {
	escape.Fprintf(w, "%s: %s, %s rows, %s", x.Name, x.Format, amount.Thousands(x.Rows), amount.Bytes(x.Bytes))
	if n := len(x.RowGroups); n > 0 {
		least, most := amount.Thousands(slices.Min(x.RowGroups)), amount.Thousands(slices.Max(x.RowGroups))
		if least != most {
			least += " to " + most
		}
		escape.Fprintf(w, ", %s of %s rows", amount.Of(n, "row group"), least)
	}
	if x.CreatedBy != "" {
		escape.Fprintf(w, ", by %s", x.CreatedBy)
	}
	escape.Fprintln(w)
	for _, f := range x.Schema.Fields {
		escape.Fprintf(w, "  %s\n", f)
	}
	if len(x.Leaves) > 0 {
		escape.Fprintln(w)
		var rows [][]string
		for _, l := range x.Leaves {
			nulls := amount.Thousands(l.Nulls)
			if l.Nulls < 0 {
				nulls = "?"
			}
			rows = append(rows, []string{"  " + string(l.Path), strings.Join(l.Codecs, ","), amount.Bytes(l.Compressed), "of " + amount.Bytes(l.Uncompressed),
				nulls + " nulls", strings.Join(l.Encodings, " ")})
		}
		_ = escape.Table(w, rows) // a stream that cannot be written is reported when the command ends
	}
	for _, k := range slices.Sorted(maps.Keys(x.Metadata)) {
		escape.Fprintf(w, "  metadata %s: %s\n", k, schema.Cut(x.Metadata[k], 120))
	}
	for i, c := range x.chats {
		escape.Fprintf(w, "\nrow %d\n%s", i, escape.Raw(c))
	}
}

// chat shows a row: its messages as a chat, then the other columns, a line each.
func chat(row []byte) string {
	var b strings.Builder
	cols, err := ordered(row)
	if err != nil {
		return escape.Sprintf("  %s\n", schema.Cut(string(row), 400))
	}
	for _, c := range cols {
		var messages []struct {
			Role    any             `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if (c.name == "prompt" || c.name == "messages") && json.Unmarshal(c.value, &messages) == nil {
			for _, m := range messages {
				var text string
				if json.Unmarshal(m.Content, &text) != nil {
					text = string(m.Content)
				}
				escape.Fprintf(&b, "  %s | %v: %s\n", c.name, m.Role, escape.Raw(indent(escape.Lines(schema.Cut(text, 600)))))
			}
			continue
		}
		escape.Fprintf(&b, "  %s: %s\n", c.name, schema.Cut(string(escape.JSON(c.value)), 300))
	}
	return b.String()
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }

// A member is one of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// ordered returns the members of a JSON object in their order.
func ordered(object []byte) ([]member, error) {
	if !utf8.Valid(object) {
		return nil, errors.New("no UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(string(object)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("no object")
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(t)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
