package parquetio

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// parquet returns parquet-go's view of the file: the independent reader of these tests. Its leaf columns and row groups are
// numbered as ours are.
func (f *File) parquet(options ...parquet.FileOption) (pq *parquet.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet-go panicked: %v", p)
		}
	}()
	return parquet.OpenFile(f.f, f.size, options...)
}
