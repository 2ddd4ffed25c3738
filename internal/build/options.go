package build

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/pipeline"
	"github.com/rlprep/rlprep/internal/shard"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/internal/starmap"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// Options say which data set to make. The zero value of a field is its default, unless its comment says otherwise.
type Options struct {
	Name   string                                 // of what is made, as the manifest has it
	Out    string                                 // the directory; required
	Source *source.Set                            // the opened input; required. The caller closes it.
	Derive func(from string) []string             // what a split of the input becomes; nil: itself
	Steps  func(split string) []transform.RowStep // of a split of the output
	Given  map[string]string                      // settings of the caller's own that change what is written: part of the plan

	Limit       int64          // rows of each split that are read; 0: all
	Size        pipeline.Size  // of the shards; zero: one for each split, named without a number
	Shards      map[string]int // of single splits, where Size is zero; a split that it lacks gets one
	Compression string         // zstd, snappy, none, or keep (the codec of the source); "": zstd
	MaxRejects  string         // rows that may be rejected: a number or a percentage; "": none
	Rejects     string         // gets the rejected rows, as JSON Lines; "": nobody
	Force       bool           // replace splits that Out has and that were made in another way
	Workers     int            // 0: one a core. What is written is the same for any number.

	Target         rule.Target // that the rows are checked against; required
	NoRules        bool        // the rows are not checked
	Kind           rule.Kind   // of the rows; rule.Any: by their columns
	Expects        []string    // rules whose findings are at most warnings
	RejectFindings bool        // a row with an error is rejected, under the id of the rule; else the run fails
	KnownAgents    []string    // agent loops that the launch registers
	KnownSources   []string    // values of data_source that the reward function scores

	Version string // of the tool, as the manifest and the files have it
	// Watch is called before the first row, with the number of rows. The pipeline calls rows for what is done, from one goroutine at a
	// time; done is called after the last.
	Watch func(total int64) (rows func(rows int64, shard string), done func())
}

// Splits returns the names of the splits of the output, in their order.
func (o *Options) Splits() []string {
	var out []string
	for _, s := range input.Derive(o.Source, o.Derive).Splits {
		out = append(out, s.Name)
	}
	return out
}

// numbered reports whether shards have a number in their name.
func (o *Options) numbered() bool { return o.Size != pipeline.Size{} || o.Shards != nil }

// settings are the options that change what is written, as the manifest has them.
func (o *Options) settings() map[string]string {
	s := map[string]string{"compression": o.compression()}
	maps.Copy(s, o.Given)
	set := func(name, value, def string) {
		if value != def {
			s[name] = value
		}
	}
	set("limit", strconv.FormatInt(o.Limit, 10), "0")
	set("shards", strconv.Itoa(o.Size.Shards), "0")
	set("shard-rows", strconv.FormatInt(o.Size.Rows, 10), "0")
	set("shard-size", strconv.FormatInt(o.Size.Bytes, 10), "0")
	set("max-rejects", o.maxRejects(), "0")
	return s
}

func usagef(format string, args ...any) error {
	return misuse.Errorf(format, args...)
}

// Check returns a *misuse.Error for the first option that cannot be what is meant. It opens nothing.
func (o *Options) Check() error {
	if o.Limit < 0 {
		return usagef("--limit %d: give a number of rows", o.Limit)
	}
	if _, err := o.codec(); err != nil {
		return err
	}
	_, err := o.tolerance()
	return err
}

func (o *Options) compression() string { return cmp.Or(o.Compression, "zstd") }

func (o *Options) maxRejects() string { return cmp.Or(o.MaxRejects, "0") }

// codec is that of what is encoded.
func (o *Options) codec() (parquetio.Codec, error) {
	switch o.compression() {
	case "zstd":
		return parquetio.Zstd, nil
	case "snappy":
		return parquetio.Snappy, nil
	case "none":
		return parquetio.None, nil
	case "keep":
		return CodecOf(o.Source), nil
	}
	return 0, usagef("unknown compression %q (zstd, snappy, none, keep)", o.Compression)
}

// CodecOf returns the codec of the first Parquet file of a set that may be nil; Zstd where there is none.
func CodecOf(set *source.Set) parquetio.Codec {
	if set != nil {
		for _, f := range set.Files() {
			if f.Parquet != nil {
				return f.Parquet.Codec()
			}
		}
	}
	return parquetio.Zstd
}

// ToleratesRejects reports whether MaxRejects allows any rejected row.
func (o *Options) ToleratesRejects() bool {
	t, err := o.tolerance()
	return err == nil && t != pipeline.Tolerance{}
}

func (o *Options) tolerance() (t pipeline.Tolerance, err error) {
	s := o.maxRejects()
	if n, ok := strings.CutSuffix(s, "%"); ok {
		t.Percent, err = strconv.ParseFloat(n, 64)
		if err != nil || t.Percent < 0 || t.Percent > 100 {
			return t, usagef("--max-rejects %s: expected a number of rows or a percentage", s)
		}
		return t, nil
	}
	if t.Rows, err = strconv.ParseInt(s, 10, 64); err != nil || t.Rows < 0 {
		return t, usagef("--max-rejects %s: expected a number of rows or a percentage", s)
	}
	return t, nil
}

// env is what rules know beside the rows.
func (o *Options) env() *rule.Env {
	return &rule.Env{Target: o.Target, Rows: o.Kind, KnownAgents: o.KnownAgents, KnownSources: o.KnownSources}
}

func (o *Options) shardName(split string, i, of int) string {
	if !o.numbered() {
		return shard.Name(split, 0, 1)
	}
	return shard.NameOf(split, i, of)
}

// Maps reports whether a step is a map function.
func (o *Options) Maps() bool {
	for _, split := range o.Splits() {
		for _, step := range o.Steps(split) {
			if l, ok := step.(transform.Located); ok {
				step = l.RowStep
			}
			if _, ok := step.(*starmap.Map); ok {
				return true
			}
		}
	}
	return false
}
