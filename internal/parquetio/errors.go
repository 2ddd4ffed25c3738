package parquetio

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/parquetio/page"
)

// ErrFormat is what every *FormatError is.
var ErrFormat = page.ErrFormat

// A FormatError is a file that cannot be read as Parquet: it is another format, it is cut off, or it is damaged. errors.Is with ErrFormat
// tells it from an error of the system.
type FormatError = page.FormatError

func formatErrorf(name, format string, args ...any) error {
	return &FormatError{Name: name, Err: fmt.Errorf(format, args...)}
}
