package crawler

// queue is a priority queue for container/heap. Each item knows its place in it, so that
// heap.Fix and heap.Remove can be called for an item.
type queue[T any] struct {
	items []T
	less  func(a, b T) bool
	place func(T) *int // in items; -1 once the item was removed
}

func (q *queue[T]) Len() int           { return len(q.items) }
func (q *queue[T]) Less(i, j int) bool { return q.less(q.items[i], q.items[j]) }
func (q *queue[T]) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	*q.place(q.items[i]), *q.place(q.items[j]) = i, j
}

// Push appends an item; heap.Push moves it to its place.
func (q *queue[T]) Push(x any) {
	item := x.(T)
	*q.place(item) = len(q.items)
	q.items = append(q.items, item)
}

// Pop removes the last item, to which heap.Pop and heap.Remove have moved theirs.
func (q *queue[T]) Pop() any {
	last := len(q.items) - 1
	item := q.items[last]
	clear(q.items[last:])
	q.items = q.items[:last]
	*q.place(item) = -1
	return item
}
