package crawler

import (
	"container/heap"
	"maps"
	"slices"
	"time"
)

// waitingList is a queue of host names, each once, of bounded length.
type waitingList struct {
	max    int
	queue  []string
	member map[string]bool
}

func (w *waitingList) init(most int) { w.max, w.member = most, make(map[string]bool) }

func (w *waitingList) len() int { return len(w.queue) }

func (w *waitingList) room() int { return w.max - len(w.queue) }

// add reports whether there was room.
func (w *waitingList) add(key string) bool {
	if w.member[key] {
		return true
	}
	if len(w.queue) >= w.max {
		return false
	}
	w.member[key] = true
	w.queue = append(w.queue, key)
	return true
}

func (w *waitingList) take() string {
	key := w.queue[0]
	w.queue = w.queue[1:]
	delete(w.member, key)
	return key
}

// drop removes the hosts that are not kept.
func (w *waitingList) drop(kept func(key string) bool) {
	w.queue = slices.DeleteFunc(w.queue, func(key string) bool {
		if kept(key) {
			return false
		}
		delete(w.member, key)
		return true
	})
}

// parkedHosts holds the hosts that are not in memory, and when each has a job again. A
// sweep has to find those that it has no room for.
type parkedHosts struct {
	max  int
	heap queue[*parkedHost] // by at
	by   map[string]*parkedHost
}

type parkedHost struct {
	key   string
	at    time.Time
	index int
}

func (s *parkedHosts) init(most int) {
	s.max, s.by = most, make(map[string]*parkedHost)
	s.heap = queue[*parkedHost]{
		less:  func(a, b *parkedHost) bool { return a.at.Before(b.at) },
		place: func(p *parkedHost) *int { return &p.index },
	}
}

func (s *parkedHosts) has(key string) bool { return s.by[key] != nil }

func (s *parkedHosts) keys() []string { return slices.Sorted(maps.Keys(s.by)) }

// add reports whether there was room.
func (s *parkedHosts) add(key string, at time.Time) bool {
	s.remove(key)
	if s.heap.Len() >= s.max {
		return false
	}
	e := &parkedHost{key: key, at: at}
	s.by[key] = e
	heap.Push(&s.heap, e)
	return true
}

func (s *parkedHosts) remove(key string) {
	if e := s.by[key]; e != nil {
		heap.Remove(&s.heap, e.index)
		delete(s.by, key)
	}
}

func (s *parkedHosts) first() (at time.Time, ok bool) {
	if s.heap.Len() == 0 {
		return at, false
	}
	return s.heap.items[0].at, true
}

func (s *parkedHosts) due(now time.Time) bool {
	at, ok := s.first()
	return ok && !at.After(now)
}

func (s *parkedHosts) take() string {
	key := s.heap.items[0].key
	s.remove(key)
	return key
}
