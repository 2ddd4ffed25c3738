package parquetio

import (
	"io"
	"runtime"
	"testing"

	"github.com/rlprep/rlprep/internal/parquetio/page"
)

// What a File keeps of a row group that was read (its counts) does not keep the dictionary: memory would grow with the file.
func TestDictionaryIsFreed(t *testing.T) {
	f := openFile(t, sample("pyarrow-v1-zstd"))
	leaf := -1
	freed := make(chan struct{})
	func() {
		for i := range f.leaves {
			r, err := f.Reader(0, []int{i}, 0, f.groups[0].Rows)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				if _, err = r.Next(1); err == nil && leaf < 0 && r.leaves[0].dict != nil {
					leaf = i
					runtime.SetFinalizer(r.leaves[0].dict, func(*page.Dict) { close(freed) })
				}
			}
			if err != io.EOF {
				t.Fatal(err)
			}
			r.Close()
		}
	}()
	if leaf < 0 {
		t.Fatal("no column has a dictionary")
	}
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(f)
			return
		default:
			runtime.Gosched()
		}
	}
	t.Errorf("the dictionary of column %s is kept", f.leaves[leaf].Path)
}
