package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/pipeline"
)

// sizeFlags say how large the shards of a split are to be.
type sizeFlags struct {
	shards int
	rows   int64
	bytes  string
}

func (s *sizeFlags) register(f *pflag.FlagSet) {
	f.IntVar(&s.shards, "shards", 0, "write each split as just N files (default 1)")
	f.Int64Var(&s.rows, "shard-rows", 0, "write files of N rows each, the last of a split fewer")
	f.StringVar(&s.bytes, "shard-size", "", "write files of about this size at most, such as 500MB or 1GiB")
}

// asked reports whether any size was asked for.
func (s *sizeFlags) asked() bool { return s.shards != 0 || s.rows != 0 || s.bytes != "" }

// size reads the flags.
func (s *sizeFlags) size() (pipeline.Size, error) {
	given := 0
	for _, is := range []bool{s.shards != 0, s.rows != 0, s.bytes != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return pipeline.Size{}, usagef("--shards, --shard-rows and --shard-size: give one of them")
	case s.shards < 0:
		return pipeline.Size{}, usagef("--shards %d: give a number of files", s.shards)
	case s.rows < 0:
		return pipeline.Size{}, usagef("--shard-rows %d: give a number of rows", s.rows)
	case s.bytes == "":
		return pipeline.Size{Shards: s.shards, Rows: s.rows}, nil
	}
	n, err := parseSize(s.bytes)
	if err != nil {
		return pipeline.Size{}, usagef("--shard-size %s: %v", s.bytes, err)
	}
	return pipeline.Size{Bytes: n}, nil
}

var errSize = errors.New("expected a number of bytes, such as 500MB or 1GiB")

// parseSize reads a number of bytes, with a unit of thousands (kB, MB, GB, TB) or of 1,024 (KiB, MiB, GiB, TiB).
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTbkmgti ")
	n, err := strconv.ParseFloat(digits, 64)
	unit := strings.ToLower(strings.TrimSpace(text[len(digits):]))
	scale := map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}[unit]
	if n *= scale; err != nil || !(n >= 1 && n < math.MaxInt64) {
		return 0, errSize
	}
	return int64(n), nil
}
