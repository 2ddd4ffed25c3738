package build

import (
	"io"
	"maps"
	"slices"
	"time"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
)

// An UnknownKey is a key of JSON Lines that no column has.
type UnknownKey struct {
	File    string      `json:"file"`
	Row     int64       `json:"row"`  // the first that has it
	Line    int64       `json:"line"` // and where that begins
	Key     schema.Path `json:"key"`
	Nearest schema.Path `json:"nearest,omitempty"`
}

// UnknownKeys returns the keys of JSON Lines in the input that no column has.
func UnknownKeys(set *source.Set) (out []UnknownKey) {
	for _, k := range set.UnknownKeys() {
		out = append(out, UnknownKey{k.Pos.File, k.Pos.Row, k.Pos.Line, k.Pos.Path, k.Nearest})
	}
	return out
}

// A Summary says what became of a run. Its form in JSON is part of what scripts may rely on (docs/scripting.md).
type Summary struct {
	Out       string           `json:"out"`
	Status    string           `json:"status"` // "written", "up to date"
	RowsIn    int64            `json:"rows_in"`
	RowsOut   int64            `json:"rows_out"`
	Rejected  map[string]int64 `json:"rejected"`
	Resumed   int              `json:"tasks_resumed"`
	Copied    int              `json:"chunks_copied"`
	Encoded   int              `json:"chunks_encoded"`
	Bytes     int64            `json:"bytes"`
	Seconds   float64          `json:"seconds"`
	PeakBytes int64            `json:"peak_memory_bytes"`
	Unknown   []UnknownKey     `json:"unknown_keys,omitempty"` // of JSON Lines, that no column has
	Manifest  *shard.Manifest  `json:"manifest"`
}

// Print writes the summary for people.
func (s *Summary) Print(w io.Writer) {
	escape.Fprintf(w, "%s: %s rows in, %s out", s.Out, amount.Thousands(s.RowsIn), amount.Thousands(s.RowsOut))
	for _, k := range slices.Sorted(maps.Keys(s.Rejected)) {
		escape.Fprintf(w, ", %s left out (%s)", amount.Thousands(s.Rejected[k]), k)
	}
	escape.Fprintln(w)
	for _, f := range s.Manifest.Shards {
		escape.Fprintf(w, "  %-32s %9s rows %14s %9s\n", f.Name, amount.Thousands(f.Rows), amount.Of(f.RowGroups, "row group"), amount.Bytes(f.Bytes))
	}
	for _, x := range s.Manifest.Splits {
		if x.Rows == 0 {
			escape.Fprintf(w, "  split %s has no rows: no file\n", x.Name)
		}
	}
	if s.Resumed > 0 {
		escape.Fprintf(w, "  resumed from an earlier run: %d shards\n", s.Resumed)
	}
	escape.Fprintf(w, "  column chunks: %d copied, %d encoded; %s in %.1f s; peak memory %s; dataset_sha256 %s\n", s.Copied, s.Encoded,
		amount.Bytes(s.Bytes), s.Seconds, amount.Bytes(s.PeakBytes), s.Manifest.DatasetSHA256)
}

// Summary returns the summary of a data set that was written to out, from set, in elapsed time, with peak bytes of memory.
func (r *Result) Summary(out string, set *source.Set, elapsed time.Duration, peak int64) *Summary {
	s := &Summary{Out: out, Status: "written", RowsIn: r.Report.RowsIn, RowsOut: r.Report.RowsOut, Rejected: r.Report.Dropped, Resumed: r.Report.Resumed,
		Seconds: elapsed.Seconds(), PeakBytes: peak, Unknown: UnknownKeys(set), Manifest: r.Manifest}
	if other := s.Rejected["other-split"]; other > 0 { // a row is read for each split that it may go to, and is in one of them
		s.RowsIn -= other
		s.Rejected = maps.Clone(s.Rejected)
		delete(s.Rejected, "other-split")
	}
	for _, rec := range r.Report.Records {
		s.Copied += rec.Copied
		s.Encoded += rec.Encoded
		s.Bytes += rec.Bytes
	}
	return s
}
