package measure

import (
	"runtime/metrics"
	"sync"
	"time"
)

// heapEvery is how often the heap is sampled.
const heapEvery = 20 * time.Millisecond

// Heap is what was seen of the process's heap over some time, in bytes.
type Heap struct {
	// Least and Live are the least and the most that a collection found alive. The
	// store's memtables, of some 84 MB each, and its compactions make the difference.
	// Whatever grows with the data raises Least.
	Least   uint64 `json:"least_bytes"`
	Live    uint64 `json:"live_bytes"`
	Objects uint64 `json:"objects_bytes"` // the most with garbage not yet swept
}

// HeapWatch samples the heap until it is closed.
type HeapWatch struct {
	mu   sync.Mutex
	seen Heap // since the last take
	stop func()
}

// WatchHeap begins to sample; the caller closes the watch.
func WatchHeap() *HeapWatch {
	w := &HeapWatch{}
	w.stop = Every(heapEvery, w.sample)
	return w
}

func (w *HeapWatch) sample() {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	live := s[0].Value.Uint64()
	if w.seen.Least == 0 || live < w.seen.Least {
		w.seen.Least = live
	}
	w.seen.Live = max(w.seen.Live, live)
	w.seen.Objects = max(w.seen.Objects, s[1].Value.Uint64())
}

// Take returns what was seen since the last call.
func (w *HeapWatch) Take() Heap {
	w.sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = Heap{}
	return seen
}

// Close ends the sampling, and waits for its end.
func (w *HeapWatch) Close() { w.stop() }

// Widen makes h cover o, too.
func (h *Heap) Widen(o Heap) {
	if h.Least == 0 || o.Least < h.Least {
		h.Least = o.Least
	}
	h.Live, h.Objects = max(h.Live, o.Live), max(h.Objects, o.Objects)
}
