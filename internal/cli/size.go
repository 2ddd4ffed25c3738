package cli

import (
	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/pipeline"
)

// sizeFlags say how large the shards of a split are to be.
type sizeFlags struct {
	shards int
	rows   int64
	bytes  string

	flags *pflag.FlagSet
}

func (s *sizeFlags) register(f *pflag.FlagSet) {
	s.flags = f
	f.IntVar(&s.shards, "shards", 0, "write each split as exactly N files (default 1)")
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
	case given == 0 && s.flags != nil && s.flags.Changed("shards"):
		return pipeline.Size{}, misuse.Errorf("--shards 0: give at least 1 file")
	case given > 1:
		return pipeline.Size{}, misuse.Errorf("--shards, --shard-rows and --shard-size: give one of them")
	case s.shards < 0:
		return pipeline.Size{}, misuse.Errorf("--shards %d: give a number of files", s.shards)
	case s.rows < 0:
		return pipeline.Size{}, misuse.Errorf("--shard-rows %d: give a number of rows", s.rows)
	case s.bytes == "":
		return pipeline.Size{Shards: s.shards, Rows: s.rows}, nil
	}
	n, err := amount.ParseBytes(s.bytes)
	if err != nil {
		return pipeline.Size{}, misuse.Errorf("--shard-size %s: %v", s.bytes, err)
	}
	return pipeline.Size{Bytes: n}, nil
}
