package cli

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/source"
)

// readLimits are the flags of every command that reads rows: how much one value or one line may have in memory.
type readLimits struct{ value, line byteCount }

func (l *readLimits) register(f *pflag.FlagSet) {
	l.value, l.line = source.DefaultMaxValue, source.DefaultMaxLine
	f.Var(&l.value, "max-value-bytes", "refuse Parquet files with a larger value; a page may be 4 times as large")
	f.Var(&l.line, "max-line-bytes", "refuse JSON Lines with a longer line")
}

// limits returns what the flags say.
func (l *readLimits) limits() source.Limits {
	return source.Limits{Value: int64(l.value), Line: int64(l.line)}
}

// A byteCount is a flag that takes what amount.ParseBytes takes.
type byteCount int64

// Set implements pflag.Value.
func (b *byteCount) Set(text string) error {
	n, err := amount.ParseBytes(text)
	if err == nil {
		*b = byteCount(n)
	}
	return err
}

// Type implements pflag.Value.
func (b *byteCount) Type() string { return "size" }

// String implements pflag.Value.
func (b *byteCount) String() string {
	n := int64(*b)
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}
