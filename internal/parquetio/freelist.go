package parquetio

// A freeList keeps what may be used again, as many as it has room for. What is in it stays: a sync.Pool is emptied by every
// second collection, and there are many of those where little memory is in use.
type freeList[T any] struct {
	free  chan T
	fresh func() T
}

func newFreeList[T any](fresh func() T) freeList[T] {
	return freeList[T]{make(chan T, 32), fresh}
}

func (l freeList[T]) get() T {
	select {
	case v := <-l.free:
		return v
	default:
		return l.fresh()
	}
}

func (l freeList[T]) put(v T) {
	select {
	case l.free <- v:
	default:
	}
}
