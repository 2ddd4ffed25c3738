package parquetio

import (
	"io"
	"runtime"
	"testing"
)

// What a File keeps of a row group that was read (its counts) does not keep the dictionary: memory would grow with the file.
func TestDictionaryIsFreed(t *testing.T) {
	f := openFile(t, sample("pyarrow-plain"))
	leaf := -1
	freed := make(chan struct{})
	func() {
		for i := range f.leaves {
			r, err := f.Reader(0, []int{i}, 0, f.groups[0].Rows)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = r.Next(100)
			}
			if err != io.EOF {
				t.Fatal(err)
			}
			if dict := r.leaves[0].dict; dict != nil && leaf < 0 {
				leaf = i
				runtime.SetFinalizer(dict, func(*pageDict) { close(freed) })
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
