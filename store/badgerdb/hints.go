package badgerdb

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
)

// hints remember where the newest version of a column is, so that the usual read
// (the newest version at or below a timestamp of now) is one Get of an exact key,
// which Badger's Bloom filters serve, and not an iterator with a seek in every
// table file.
//
// A hint is an upper bound of the timestamps of one column of a versioned group. A
// reader Gets the version at the bound. If it is there, it is the newest there is;
// if not, the reader iterates, as it does without a hint.
//
// Invariant, for a hint of column H with bound B and sequence number Q, and every
// view v (views.go) with v.seq >= Q: no version of H that v can see has a timestamp
// above B. So a reader of v may use it; a reader of an older view may not. It holds
// because
//
//   - the committer calls raise before it writes a group, and so before any view can
//     see it, with a bound of all timestamps ever put into H (newest.go), and with Q of
//     the group.
//   - fill is called by a reader of view v that has found the newest version of H
//     that v can see. It is turned away if the committer raised anything in the
//     bucket for a group after v: that may have been H, whose hint may have been
//     pushed out since. Else nothing was put into H after v. Q becomes v: what was
//     deleted up to v may be above the bound, and older views still see it.
//
// A short value is kept in the hint itself (known), and then the reader needs no Get
// at all: the write record of a long value, which a transaction in two phases stores
// in a cell of its own, is one. Further invariant: every view v with v.seq >= Q sees,
// at the bound, that value, until the committer calls raise or drop for the column,
// which it does before any view can see what it writes:
//
//   - raise keeps the value that is put, if it is put at the bound;
//   - drop, when a version is removed, forgets the value at that version and, like
//     raise, rejects the results of readers that looked before.
//
// A hint that is pushed out costs its next reader a look. Two columns are taken for
// one if they fall into one bucket and have the same tag, 80 bits of two hashes with
// seeds of this process; among a million cells that happens with a probability of
// about 10⁻¹².
//
// A bucket is one line of the processor's cache: a read takes a microsecond, so a
// second cache miss would be noticeable. The short values are stored separately, for
// readers that need one.
//
// # Growth
//
// The buckets begin as few and double while hints push each other out, up to a bound. A
// table of the final size from the start would be spread over memory that nothing else
// uses: each cell of a small store would have a page of its own, which the system has to
// provide and the processor to find.
//
// The committer copies the buckets while no other goroutine raises or drops hints. A reader
// may still hold the old buckets. That is harmless. It took its view before it took the
// buckets, so the view has no group after the last one before the growth. For such a view
// the old hints stay right for ever, because what is raised or dropped later concerns later
// views. What the reader fills into the old buckets is lost.
type hints struct {
	seed maphash.Seed // of the second hash; the first is the planner's
	most int          // buckets
	// pushedOut counts hints that gave way to others since the buckets were made.
	pushedOut atomic.Int64
	table     atomic.Pointer[hintTable] // only the committer replaces it
}

// hintTable is the buckets of one size.
type hintTable struct {
	buckets []hintBucket
	values  [][hintsInBucket]shortValue
}

const (
	hintsInBucket = 2
	// hintValueBytes bounds the values that are kept. A write record without its
	// value has 10 bytes.
	hintValueBytes = 15
	// firstHintBuckets is the initial number of buckets. The first hash chooses the
	// bucket: that many of its bits at first, and more after the table has grown.
	firstHintBuckets = 1 << firstHintBits
	firstHintBits    = 13
	moreHintBits     = 12 // kept in each hint, so the table can double this many times
	// hintCrowd is the share of the slots, as a divisor, that must have been pushed out
	// since the last growth for the next one.
	hintCrowd = 8
)

type hintBucket struct {
	mu      sync.Mutex
	touched uint64 // the last group that the committer raised or dropped something for
	slots   [hintsInBucket]hintSlot
}

// hintSlot is a hint as it is kept.
type hintSlot struct {
	tag   uint64 // of the column; 0 if the slot is free
	bound uint64
	rest  uint64 // moreHintBits of the column's first hash, then seq, and in the lowest bit known
}

const (
	hintKnown   = 1
	hintSeqBits = 64 - moreHintBits - 1 // of a number that counts groups, from 1
)

func restOf(c columnHash, seq uint64) uint64 {
	return c.a>>firstHintBits<<(64-moreHintBits) | seq<<1
}

func (s *hintSlot) seq() uint64 { return s.rest >> 1 & (1<<hintSeqBits - 1) }

func (s *hintSlot) known() bool { return s.rest&hintKnown != 0 }

// more is the part of the first hash that is kept, above the first bits.
func (s *hintSlot) more() uint64 { return s.rest >> (64 - moreHintBits) }

type shortValue struct {
	size  uint8
	bytes [hintValueBytes]byte
}

// hint is what is known of a column.
type hint struct {
	column columnHash
	bound  uint64 // the timestamp plus one; 0 says that the column has no version
	seq    uint64
	known  bool // value is the one at the bound
	value  shortValue
}

// short is the value, if it is known.
func (h *hint) short() []byte { return h.value.bytes[:h.value.size] }

// keep notes the value at the bound, if it is short.
func (h *hint) keep(value []byte) {
	if h.known = len(value) <= hintValueBytes; h.known {
		h.value.size = uint8(copy(h.value.bytes[:], value))
	}
}

// learn is keep for an item that an iterator has found.
func (h *hint) learn(item *badger.Item) error {
	if item.EstimatedSize()-int64(len(item.Key())) > 1+hintValueBytes { // before anything is copied
		return nil
	}
	return item.Value(func(stored []byte) error {
		if _, long := parsePointer(stored); long {
			return nil
		}
		value, err := splitPlain(stored, item.Key())
		if err == nil {
			h.keep(value)
		}
		return err
	})
}

// columnHash identifies a column of a row of a group.
type columnHash struct{ a, b uint64 }

// newHints makes hints for up to the given number of cells; a negative number means no
// hints.
func newHints(cells int) *hints {
	if cells < 0 {
		return nil
	}
	n := 1
	for n*hintsInBucket < cells && n < firstHintBuckets<<moreHintBits {
		n *= 2
	}
	h := &hints{seed: maphash.MakeSeed(), most: n}
	h.table.Store(newHintTable(min(n, firstHintBuckets)))
	return h
}

func newHintTable(buckets int) *hintTable {
	return &hintTable{buckets: make([]hintBucket, buckets), values: make([][hintsInBucket]shortValue, buckets)}
}

// growIfCrowded doubles the buckets if many hints were pushed out. Only the committer calls it.
func (h *hints) growIfCrowded() {
	n := len(h.table.Load().buckets)
	if n < h.most && h.pushedOut.Load() >= int64(n*hintsInBucket/hintCrowd) {
		h.grow()
	}
}

func (h *hints) grow() {
	old := h.table.Load()
	grown := newHintTable(2 * len(old.buckets))
	for i := range old.buckets {
		old.copyTo(grown, i)
	}
	h.pushedOut.Store(0)
	h.table.Store(grown)
}

// copyTo divides bucket i among the two of a table of twice the size into which its
// columns now fall. Both count as touched when it was.
func (t *hintTable) copyTo(grown *hintTable, i int) {
	n := len(t.buckets)
	b := &t.buckets[i]
	b.mu.Lock() // readers fill it
	defer b.mu.Unlock()
	low, high := &grown.buckets[i], &grown.buckets[i+n]
	low.touched, high.touched = b.touched, b.touched
	for k, s := range b.slots {
		j := i
		if s.more()<<firstHintBits&uint64(n) != 0 {
			j += n
		}
		grown.buckets[j].slots[k] = s
		grown.values[j][k] = t.values[i][k]
	}
}

// hash of a column whose first hash is known.
func (h *hints) hash(first uint64, head []byte) columnHash {
	return columnHash{first, maphash.Bytes(h.seed, head)}
}

// bucket returns where a column belongs, with the bucket's mutex locked.
func (h *hints) bucket(c columnHash) (b *hintBucket, values *[hintsInBucket]shortValue) {
	t := h.table.Load()
	i := c.a & uint64(len(t.buckets)-1)
	b = &t.buckets[i]
	b.mu.Lock()
	return b, &t.values[i]
}

// tag identifies the column in its bucket.
func (c columnHash) tag() uint64 { return c.b | 1 }

// slot returns the column's slot, or -1.
func (b *hintBucket) slot(c columnHash) int {
	for i := range b.slots {
		if b.slots[i].tag == c.tag() {
			return i
		}
	}
	return -1
}

// of returns the hint of a column for a reader of the view seq.
func (h *hints) of(c columnHash, seq uint64) (e hint, ok bool) {
	b, values := h.bucket(c)
	defer b.mu.Unlock()
	i := b.slot(c)
	if i < 0 {
		return hint{}, false
	}
	s := &b.slots[i]
	e = hint{column: c, bound: s.bound, seq: s.seq(), known: s.known()}
	if e.known {
		e.value = values[i]
	}
	return e, e.seq <= seq
}

// raise notes that the group seq, not yet written, puts a value into the column at
// ts, and that no timestamp in it is or was above bound.
func (h *hints) raise(c columnHash, ts, bound, seq uint64, value []byte) {
	e := hint{column: c, bound: bound + 1, seq: seq}
	if ts == bound {
		e.keep(value)
	}
	h.growIfCrowded()
	b, values := h.bucket(c)
	defer b.mu.Unlock()
	b.touched = seq
	h.set(b, values, &e)
}

// drop notes that the group seq, not yet written, removes the version at ts.
func (h *hints) drop(c columnHash, ts, seq uint64) {
	b, _ := h.bucket(c)
	defer b.mu.Unlock()
	b.touched = seq
	if i := b.slot(c); i >= 0 && b.slots[i].bound == ts+1 {
		b.slots[i].rest &^= hintKnown
	}
}

// fill notes what a reader of the view met.seq found: the newest version, or none.
func (h *hints) fill(met hint) {
	b, values := h.bucket(met.column)
	defer b.mu.Unlock()
	if b.touched > met.seq {
		return
	}
	if i := b.slot(met.column); i >= 0 && b.slots[i].seq() > met.seq {
		return
	}
	h.set(b, values, &met)
}

// set puts a hint in its slot, or in the place of the one that was set before the
// others.
func (h *hints) set(b *hintBucket, values *[hintsInBucket]shortValue, e *hint) {
	i := b.slot(e.column)
	if i < 0 {
		i = 0
		for k := range b.slots {
			if b.slots[k].seq() < b.slots[i].seq() {
				i = k
			}
		}
		if b.slots[i].tag != 0 {
			h.pushedOut.Add(1)
		}
	}
	b.slots[i] = hintSlot{tag: e.column.tag(), bound: e.bound, rest: restOf(e.column, e.seq)}
	if e.known {
		b.slots[i].rest |= hintKnown
		values[i] = e.value
	}
}
