package badgerdb

import "sync"

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
//  3. A reader never waits for a writer, only for this mutex, which is never held
//     over I/O.
//  4. What a reader can see is not discarded: Badger may drop, of each key, all
//     but the newest entry at or below its discard version, and that is set to
//     oldest(), which is at most the seq of every open view and of every view
//     opened later, because current.seq only grows.
//  5. A resident group that a view calls empty is empty at its seq: both are set
//     in one critical section, from the committer's state after the group seq.
type views struct {
	mu      sync.Mutex
	head    *view // of a list, oldest first, that ends at current
	current *view
}

// view is one sequence number; it is shared by the readers that came while it
// was current.
type view struct {
	seq   uint64
	empty groupSet // resident groups that are empty at seq
	users int
	next  *view
}

// groupSet is a set of group numbers.
type groupSet [maxGroups / 64]uint64

func (s *groupSet) add(g int)      { s[g/64] |= 1 << (g % 64) }
func (s *groupSet) has(g int) bool { return s[g/64]&(1<<(g%64)) != 0 }

func newViews(seq uint64, empty groupSet) *views {
	v := &view{seq: seq, empty: empty}
	return &views{head: v, current: v}
}

// acquire returns the current view; it must be released.
func (vs *views) acquire() *view {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.current.users++
	return vs.current
}

func (vs *views) release(v *view) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v.users--
}

// publish makes seq current and returns the oldest sequence number that is, or
// can yet be, read.
func (vs *views) publish(seq uint64, empty groupSet) (oldest uint64) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := &view{seq: seq, empty: empty}
	vs.current.next = v
	vs.current = v
	for vs.head != v && vs.head.users == 0 {
		vs.head = vs.head.next
	}
	return vs.head.seq
}
