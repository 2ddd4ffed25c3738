package parquetio

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/rlprep/rlprep/internal/parquetio/page"
)

// DefaultMaxValue is how many bytes one value may have, unless File.LimitValues says otherwise.
const DefaultMaxValue = 256 << 20

// LimitValues sets how many bytes one value of the file may have, and with it how many a page may have: four times as many. It is called
// before the first Reader is made.
func (f *File) LimitValues(bytes int64) { f.maxValue = min(bytes, page.MaxBytes) }

// maxPage is how many bytes a page of the file may have, uncompressed.
func (f *File) maxPage() int64 { return min(page.ValuesWorth*f.maxValue, page.MaxBytes) }

// A Lane is shared by Readers whose rows are used together by one goroutine. Huge pages of one lane never wait for those of the same
// lane.
type Lane struct{ held int64 }

// hugePages are the huge pages of all lanes.
var hugePages = struct {
	sync.Mutex
	freed  *sync.Cond
	held   int64
	senior *Lane // may hold as much as one page may have, whatever others hold
}{}

func init() { hugePages.freed = sync.NewCond(&hugePages.Mutex) }

// sharedHuge is how many bytes of huge pages all lanes but the senior one may hold. A lane that finds no room waits until it is there, or
// until it is the senior one: so one lane always goes on, and memory is bounded whatever the number of workers.
var sharedHuge int64 = 256 << 20

// acquire makes room for a page of n bytes; most is the limit of its file.
func (l *Lane) acquire(n, most int64) error {
	if n < page.Limits.Huge {
		return nil
	}
	h := &hugePages
	h.Lock()
	for h.senior != l && h.held+n > sharedHuge {
		if h.senior == nil {
			h.senior = l
			break
		}
		h.freed.Wait()
	}
	defer h.Unlock()
	if l.held+n > most {
		if l.held == 0 && h.senior == l {
			h.senior = nil
			h.freed.Broadcast()
		}
		return fmt.Errorf("huge pages of %d bytes would be in memory at once, of several columns or of both sides of a comparison; at most %d are held: raise --max-value-bytes", l.held+n, most)
	}
	l.held, h.held = l.held+n, h.held+n
	debug.FreeOSMemory() // what was held before is not to be in memory beside it
	return nil
}

// release returns the room of a page.
func (l *Lane) release(n int64) {
	if n < page.Limits.Huge {
		return
	}
	h := &hugePages
	h.Lock()
	defer h.Unlock()
	l.held, h.held = l.held-n, h.held-n
	if l.held == 0 && h.senior == l {
		h.senior = nil
	}
	h.freed.Broadcast()
}

// crowded refuses a row whose columns before this one fill most of the memory that a page may have: their values and what these were
// decoded from. A slice of several rows is smaller.
func (l *leafReader) crowded(rows int, size int64) error {
	most := l.stream.Most
	if rows > 1 || size <= most/4 || size+l.lane.held <= most/4*3 {
		return nil
	}
	return l.errorf("one row has %d bytes of values in the columns before this one; at most %d are held: raise --max-value-bytes", size, most/4)
}
