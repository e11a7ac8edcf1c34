package badgerdb

import (
	"sync"
	"sync/atomic"
)

// views keeps the sequence number that readers may use, and those in use.
//
// Every group of writes is one Badger transaction at its own sequence number,
// which is Badger's version of all its entries. current.seq is the greatest one
// whose entries are all in place.
//
// Claims, and why they hold:
//
//  1. A reader at current.seq sees whole groups only. Badger inserts the entries
//     of a transaction one by one, but all with the version seq = current.seq+1,
//     and a reader at current.seq passes over greater versions. publish(seq) is
//     called after CommitAt returned, and CommitAt returns after the last insert.
//     A read at the greatest version would see halves: the probe in
//     torn_test.go counts them.
//  2. A reader sees everything acknowledged before: a caller is answered after
//     publish.
//  3. A reader never waits for a writer: acquiring a view takes two atomic operations.
//  4. What a reader can see is not discarded: Badger may drop, of each key, all
//     but the newest entry at or below its discard version, and that is set to
//     oldest(), which is at most the seq of every open view and of every view
//     opened later, because current.seq only grows.
//  5. A resident group that a view calls empty is empty at its seq: both are set
//     in one critical section, from the committer's state after the group seq.
//  6. A view that a reader has acquired is not passed until it is released. The
//     reader counts itself in, and then sees that the view is still current; publish
//     makes another one current, and then looks at the count. If the reader saw the
//     view, it was counted before publish looked. If it did not, it counts itself
//     out and takes the new one: meanwhile it held back too much, never too little.
type views struct {
	current atomic.Pointer[view]
	reader  func(seq uint64, empty groupSet) reader

	mu     sync.Mutex // of publish
	head   *view      // of a list, oldest first, that ends at current
	length int        // of the list
	most   int        // the length at which unused views leave its middle
}

// leastViews is how long the list may always be. Behind a snapshot that stays open, it would grow by
// a view with every group of writes.
const leastViews = 64

// view is one sequence number; it is shared by the readers that came while it
// was current.
type view struct {
	seq   uint64
	empty groupSet // resident groups that are empty at seq
	reader
	users atomic.Int64
	next  *view
}

// groupSet is a set of group numbers.
type groupSet [maxGroups / 64]uint64

func (s *groupSet) add(g int)      { s[g/64] |= 1 << (g % 64) }
func (s *groupSet) has(g int) bool { return s[g/64]&(1<<(g%64)) != 0 }

// newViews begins with the view of seq. reader makes the reader that everyone
// who reads at a view shares.
func newViews(seq uint64, empty groupSet, reader func(uint64, groupSet) reader) *views {
	vs := &views{reader: reader, length: 1, most: leastViews}
	vs.head = vs.view(seq, empty)
	vs.current.Store(vs.head)
	return vs
}

func (vs *views) view(seq uint64, empty groupSet) *view {
	return &view{seq: seq, empty: empty, reader: vs.reader(seq, empty)}
}

// acquire returns the current view; it must be released.
func (vs *views) acquire() *view {
	for {
		if v := vs.current.Load(); vs.admit(v) {
			return v
		}
	}
}

// admit counts a reader of a view that was current a moment ago, if it still is.
func (vs *views) admit(v *view) bool {
	v.users.Add(1)
	if vs.current.Load() == v {
		return true
	}
	v.users.Add(-1)
	return false
}

func (vs *views) release(v *view) { v.users.Add(-1) }

// oldest returns the oldest sequence number that is, or can yet be, read.
func (vs *views) oldest() uint64 {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.pass(vs.current.Load())
}

// pass drops the unused views before v, starting with the oldest.
func (vs *views) pass(v *view) (oldest uint64) {
	for vs.head != v && vs.head.users.Load() == 0 {
		vs.head = vs.head.next
		vs.length--
	}
	return vs.head.seq
}

// sweep drops the unused views between the oldest and the last one. No reader can acquire them any
// more, because they are not current. The list may then double until the next sweep.
func (vs *views) sweep(last *view) {
	for v := vs.head; v != last; {
		if next := v.next; next != last && next.users.Load() == 0 {
			v.next = next.next
			vs.length--
		} else {
			v = next
		}
	}
	vs.most = max(leastViews, 2*vs.length)
}

// publish makes seq current and returns the oldest sequence number that is, or
// can yet be, read.
func (vs *views) publish(seq uint64, empty groupSet) (oldest uint64) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := vs.view(seq, empty)
	vs.current.Load().next = v
	vs.current.Store(v)
	vs.length++
	oldest = vs.pass(v)
	if vs.length > vs.most {
		vs.sweep(v)
	}
	return oldest
}
