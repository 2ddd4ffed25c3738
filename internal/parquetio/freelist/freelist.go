// Package freelist keeps values that are costly to make for their next use.
package freelist

// A List keeps values for reuse, at most 32 of them. A value stays until it is used: a sync.Pool is emptied by every second garbage
// collection, and there are many collections where little memory is in use. The methods may be called from several goroutines.
type List[T any] struct {
	free     chan T
	newValue func() T
}

// New returns an empty List. newValue is called where no value is free.
func New[T any](newValue func() T) List[T] {
	return List[T]{make(chan T, 32), newValue}
}

// Get returns a free value, or a new one. The caller owns it until it calls Put.
func (l List[T]) Get() T {
	select {
	case v := <-l.free:
		return v
	default:
		return l.newValue()
	}
}

// Put keeps v for a later Get, or drops it where the list is full. The caller does not use v after that.
func (l List[T]) Put(v T) {
	select {
	case l.free <- v:
	default:
	}
}
