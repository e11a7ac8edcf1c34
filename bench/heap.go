package bench

import (
	"runtime/metrics"
	"sync"
	"time"
)

// heapEvery is how often the heap is looked at.
const heapEvery = 20 * time.Millisecond

// Heap is the largest that was seen of the process's heap, in bytes.
type Heap struct {
	Live    uint64 `json:"live_bytes"`    // what the collector found alive
	Objects uint64 `json:"objects_bytes"` // with garbage not yet swept
}

// heapWatch samples the heap until it is closed.
type heapWatch struct {
	mu   sync.Mutex
	peak Heap // since the last take
	stop chan struct{}
	done sync.WaitGroup
}

func watchHeap() *heapWatch {
	w := &heapWatch{stop: make(chan struct{})}
	w.done.Go(func() {
		ticker := time.NewTicker(heapEvery)
		defer ticker.Stop()
		for {
			w.sample()
			select {
			case <-ticker.C:
			case <-w.stop:
				return
			}
		}
	})
	return w
}

func (w *heapWatch) sample() {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peak.Live = max(w.peak.Live, s[0].Value.Uint64())
	w.peak.Objects = max(w.peak.Objects, s[1].Value.Uint64())
}

// take returns the peaks since the last call.
func (w *heapWatch) take() Heap {
	w.sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	peak := w.peak
	w.peak = Heap{}
	return peak
}

func (w *heapWatch) close() {
	close(w.stop)
	w.done.Wait()
}
