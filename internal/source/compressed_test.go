package source

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/rlprep/rlprep/schema/rule"
)

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdFrameOf(t testing.TB, text string, o ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, o...)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// decompressed reads b as the file would be read.
func decompressed(b []byte) (string, error) {
	c := codec(b)
	if c == nil {
		return "", fmt.Errorf("no codec")
	}
	var out bytes.Buffer
	err := decompress(&out, bytes.NewReader(b), c)
	return out.String(), err
}

func TestCompressedFiles(t *testing.T) {
	text := strings.Repeat("{\"question\":\"1 + 1?\"}\n", 9000)
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	joined := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	g, zeros := gzipped(t, text), make([]byte, 512)
	z := zstdFrameOf(t, text)
	plain := zstdFrameOf(t, string(noise), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	skip := []byte{0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}
	for name, tt := range map[string]struct {
		in   []byte
		want string // in the error, or the text
		bad  bool
	}{
		"gzip":                         {g, text, false},
		"gzip, members":                {joined(g, gzipped(t, ""), g), text + text, false},
		"gzip, zeros behind":           {joined(g, zeros), text, false},
		"gzip, zeros between":          {joined(g, zeros, g), text + text, false},
		"gzip, many empty members":     {bytes.Repeat(gzipped(t, ""), 20_000), "", false},
		"gzip, garbage":                {joined(g, []byte("garbage")), fmt.Sprintf("ends at byte %d, and what follows is garbage", len(g)), true},
		"gzip, garbage of a byte":      {joined(g, []byte("g")), "garbage", true},
		"gzip, zeros and garbage":      {joined(g, zeros, []byte("garbage")), fmt.Sprintf("ends at byte %d", len(g)), true},
		"gzip, cut":                    {g[:len(g)-12], "unexpected EOF", true},
		"gzip, cut in its sum":         {g[:len(g)-2], "unexpected EOF", true},
		"gzip, second cut":             {joined(g, g[:5]), "unexpected EOF", true},
		"gzip, wrong sum":              {joined(g[:len(g)-8], []byte{1, 2, 3, 4}, g[len(g)-4:]), "checksum", true},
		"zstd":                         {z, text, false},
		"zstd, without sum":            {plain, string(noise), false},
		"zstd, frames":                 {joined(z, plain, zstdFrameOf(t, "", zstd.WithZeroFrames(true)), z), text + string(noise) + text, false},
		"zstd, skippable":              {joined(z, skip, z, skip), text + text, false},
		"zstd, garbage":                {joined(z, []byte("garbage")), fmt.Sprintf("ends at byte %d, and what follows is garbage", len(z)), true},
		"zstd, garbage of two bytes":   {joined(z, []byte("xx")), fmt.Sprintf("ends at byte %d", len(z)), true},
		"zstd, zeros":                  {joined(plain, zeros), fmt.Sprintf("ends at byte %d", len(plain)), true},
		"zstd, cut":                    {z[:len(z)-5], "unexpected EOF", true},
		"zstd, cut in its sum":         {z[:len(z)-1], "unexpected EOF", true},
		"zstd, cut in a block":         {plain[:len(plain)/2], "unexpected EOF", true},
		"zstd, cut in a second header": {joined(z, z[:5]), "unexpected EOF", true},
	} {
		got, err := decompressed(tt.in)
		switch {
		case tt.bad && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		case !tt.bad && (err != nil || got != tt.want):
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(tt.want), err)
		}
	}
}

// JSON in UTF-16 and UTF-32, with a byte order mark and without, is named, with the command that converts it.
func TestNotUTF8(t *testing.T) {
	utf16 := func(text string, big bool) string {
		var b strings.Builder
		for _, r := range text {
			if big {
				b.WriteString(string([]byte{byte(r >> 8), byte(r)}))
			} else {
				b.WriteString(string([]byte{byte(r), byte(r >> 8)}))
			}
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ in, want string }{
		"UTF-16, mark":        {"\xff\xfe" + utf16(`{"a":1}`, false), "text in UTF-16, not UTF-8: convert it with: iconv -f UTF-16 -t UTF-8"},
		"UTF-16, big, mark":   {"\xfe\xff" + utf16(`{"a":1}`, true), "iconv -f UTF-16 -t"},
		"UTF-16":              {utf16(`{"a":1}`, false), "text in UTF-16, not UTF-8: convert it with: iconv -f UTF-16LE -t UTF-8"},
		"UTF-16, big":         {utf16(`{"a":1}`, true), "iconv -f UTF-16BE -t"},
		"UTF-32, mark":        {"\xff\xfe\x00\x00{\x00\x00\x00", "text in UTF-32, not UTF-8: convert it with: iconv -f UTF-32 -t UTF-8"},
		"UTF-32, big, mark":   {"\x00\x00\xfe\xff\x00\x00\x00{", "iconv -f UTF-32 -t"},
		"UTF-32":              {"{\x00\x00\x00\"\x00\x00\x00", "text in UTF-32, not UTF-8: convert it with: iconv -f UTF-32LE -t UTF-8"},
		"UTF-32, big":         {"\x00\x00\x00{\x00\x00\x00\"", "iconv -f UTF-32BE -t"},
		"NUL behind the text": {"{\"a\":1}\n\x00\x00\x00\n", "unexpected"},
	} {
		if _, err := embedded(t, tt.in, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// An integer is kept exactly or its row is rejected: beside a fraction, and beyond int64, a column is double.
func TestIntegersAreNotRounded(t *testing.T) {
	for name, tt := range map[string]struct {
		values string
		want   string // of the faults; "": none
	}{
		"int64":             {"9007199254740993 -9223372036854775808 9223372036854775807", ""},
		"exact in a double": {"1.5 9007199254740992 4611686018427387904 18446744073709551616 -9007199254740992 -0 123456789012345", ""},
		"beside a fraction": {"1.5 9007199254740993", "x: the integer 9007199254740993 would become 9007199254740992 in a column of double: write it as text, or keep fractions and integers apart"},
		"beyond int64":      {"1 9223372036854775809", "x: the integer 9223372036854775809 would become 9223372036854775808 in a column of double"},
		"infinite":          {"1 1" + strings.Repeat("0", 400), "would become +Inf in a column of double"},
		"negative":          {"0.5 -9007199254740993", "the integer -9007199254740993 would become -9007199254740992"},
	} {
		var text string
		for _, v := range strings.Fields(tt.values) {
			text += fmt.Sprintf("{\"x\": %s}\n", v)
		}
		f, err := embedded(t, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Open(t.Context(), f.ReadRanges(0)[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(1, len(tt.want)); len(b.Faults) != want || want == 1 && (!strings.Contains(b.Faults[0].Message, tt.want) || b.Faults[0].Reason != "rounded") {
			t.Errorf("%s: %v", name, b.Faults)
		}
		r.Close()
	}
}

// TestSkipBroken lists the broken lines of compressed text, by their places in it.
func TestSkipBroken(t *testing.T) {
	const text = "{\"a\": 1}\n{\"a\": 2, \"b\": \n\n{\"a\": 3}\nnull\n"
	dir := write(t, map[string]string{"a.jsonl": text, "b.jsonl.gz": string(gzipped(t, text)), "c.jsonl.zst": string(zstdFrameOf(t, text)), "d.jsonl": "x\ny\n"})
	set, err := Resolve(t.Context(), Spec{Args: []string{dir}, Lenient: true, SkipBroken: true, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if len(set.Errors) != 1 || !strings.HasPrefix(set.Errors[0].Error(), filepath.Join(dir, "d.jsonl")+":1:1: ") {
		t.Errorf("a file without one good line: %v", set.Errors)
	}
	want := []rule.BrokenRow{{Row: 1, Line: 2, Message: "column 14: unexpected end, expected a value"}, {Row: 3, Line: 5, Message: "column 1: unexpected 'n', expected an object"}}
	if len(set.Files()) != 3 {
		t.Fatalf("opened %d files", len(set.Files()))
	}
	for _, f := range set.Files() {
		if !slices.Equal(f.Broken, want) || f.Rows != 4 || len(f.Schema.Fields) != 1 {
			t.Errorf("%s: broken %+v of %d rows, columns %v", f.Name, f.Broken, f.Rows, f.Schema.Names())
		}
	}
}
