package notify

import (
	"container/heap"
	"container/list"
	"time"
)

// key names one observer on one row.
type key struct {
	observer int // index in the registry
	row      string
}

// place is where an entry is.
type place uint8

const (
	ready   place = iota // in its observer's ready heap
	delayed              // in its observer's heap of delayed entries, until its time
	running              // in a worker's hands
)

// entry is a row that an observer has to run on.
type entry struct {
	key
	place place
	// oldest and newest are the timestamps of the first and last notification
	// that the next or current run handles. Entries are ordered by
	// oldest.
	oldest, newest uint64
	since          time.Time // when this process learned of oldest
	readySince     time.Time // when it last became ready
	until          time.Time // delayed entries: when they become ready
	debounced      bool      // delayed for collapsing, not backing off: an idle upstream releases it
	urgent         bool      // one of these notifications was not deferrable
	mark           int64     // how many pages there were when it was debounced (deferrable.go)
	spare          *list.Element
	most           int // rows that a batch with this one may have; 0: as many as the observer takes
	// doubtful entries may have been handled already: they were found in the
	// table, or a run of theirs had an unknown outcome or a conflict. The
	// acknowledgement is looked up before they are run.
	doubtful bool
	// unknown: a run had an unknown outcome. If it did commit, the rows that it notified
	// were not added to the queue.
	unknown  bool
	attempts int // runs that did not commit, since the last that did
	failures int // the runs among them that count towards a dead letter
	// covered is set by the worker: the run handled everything up to here.
	covered uint64
	// locked: this process has the advisory lock of the row (claim.go). Only the worker
	// that has the entry, or the holder of the queue's mu, reads or writes it.
	locked bool
	// again is the newest notification that arrives during a run.
	again, againFirst uint64
	againSince        time.Time
	againUrgent       bool
	// continues: one of these came from the run itself, through txn.Txn.Continue.
	continues bool
	open      bool // the last run that committed asked for another one
	opening   bool // counted in queue.opening, by the first entry of a batch
	pos       int  // in its heap
}

// within lowers a limit on the rows of a batch to what this row admits.
func (e *entry) within(limit int) int {
	if e.most == 0 {
		return limit
	}
	return min(limit, e.most)
}

// readyHeap orders open entries before others, and each by age.
type readyHeap []*entry

func (h readyHeap) Len() int { return len(h) }
func (h readyHeap) Less(i, j int) bool {
	if h[i].open != h[j].open {
		return h[i].open
	}
	return h[i].oldest < h[j].oldest
}
func (h readyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i]; h[i].pos, h[j].pos = i, j }
func (h *readyHeap) Push(x any)   { e := x.(*entry); e.pos = len(*h); *h = append(*h, e) }
func (h *readyHeap) Pop() any     { return popLast((*[]*entry)(h)) }

// delayedHeap orders by the time at which entries become ready.
type delayedHeap []*entry

func (h delayedHeap) Len() int           { return len(h) }
func (h delayedHeap) Less(i, j int) bool { return h[i].until.Before(h[j].until) }
func (h delayedHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].pos, h[j].pos = i, j }
func (h *delayedHeap) Push(x any)        { e := x.(*entry); e.pos = len(*h); *h = append(*h, e) }
func (h *delayedHeap) Pop() any          { return popLast((*[]*entry)(h)) }

func popLast(h *[]*entry) *entry {
	n := len(*h) - 1
	e := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return e
}

var (
	_ heap.Interface = (*readyHeap)(nil)
	_ heap.Interface = (*delayedHeap)(nil)
)
