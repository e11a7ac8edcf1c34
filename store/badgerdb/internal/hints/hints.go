// Package hints remembers where the newest version of a column is, so that the usual read
// (the newest version at or below a timestamp of now) is one Get of an exact key,
// which Badger's Bloom filters serve, and not an iterator with a seek in every
// table file.
//
// A hint is an upper bound of the timestamps of one column of a versioned group. A
// reader Gets the version at the bound. If it is there, it is the newest there is;
// if not, the reader iterates, as it does without a hint.
//
// Invariant, for a hint of column H with bound B and sequence number Q, and every
// view v with v.seq >= Q: no version of H that v can see has a timestamp
// above B. So a reader of v may use it; a reader of an older view may not. It holds
// because
//
//   - the committer calls Raise before it writes a group, and so before any view can
//     see it, with a bound of all timestamps ever put into H (package newest), and with Q of
//     the group.
//   - Fill is called by a reader of view v that has found the newest version of H
//     that v can see. Fill does nothing if the committer raised anything in the
//     bucket for a group after v: that may have been H, whose hint may have been
//     pushed out since. Otherwise nothing was put into H after v. Q becomes v:
//     what was deleted up to v may be above the bound, and older views still see
//     it.
//
// A short value is kept in the hint itself (Known), and then the reader needs no Get
// at all: the write record of a long value, which a transaction in two phases stores
// in a cell of its own, is such a short value. Further invariant: every view v with
// v.seq >= Q sees, at the bound, that value, until the committer calls Raise or Drop
// for the column, which it does before any view can see what it writes:
//
//   - Raise keeps the value that is put, if it is put at the bound;
//   - Drop, when a version is removed, forgets the value at that version and, like
//     Raise, rejects the results of readers that looked before.
//
// A hint that is pushed out costs the column's next reader a look-up. Two columns
// are mistaken for one if they fall into one bucket and have the same tag, 80 bits
// of two hashes with seeds of this process; among a million cells that happens with
// a probability of about 10⁻¹².
//
// A bucket is one line of the processor's cache: a read takes a microsecond, so a
// second cache miss would be noticeable. The short values are stored separately, for
// readers that need one.
//
// # Growth
//
// There are few buckets at first. Their number doubles while hints push each other out,
// up to a bound. A table of the final size from the start would be spread over memory
// that nothing else uses: each cell of a small store would have a page of its own, which
// the system has to provide and the processor to find.
//
// The committer copies the buckets while no other goroutine raises or drops hints. A reader
// may still hold the old buckets. That is harmless. It took its view before it took the
// buckets, so the view has no group after the last one before the growth. For such a view
// the old hints stay right for ever, because what is raised or dropped later concerns later
// views. What the reader fills into the old buckets is lost.
package hints

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Table is the hints of a table.
type Table struct {
	seed maphash.Seed // of the second hash; the first is the planner's
	most int          // buckets
	// pushedOut counts hints that gave way to others since the buckets were made.
	pushedOut atomic.Int64
	table     atomic.Pointer[table] // only the committer replaces it
}

// table is the buckets of one size.
type table struct {
	buckets []bucket
	values  [][slotsInBucket]shortValue
}

const (
	slotsInBucket = 2
	// MaxValueBytes bounds the values that a hint keeps. A write record without its
	// value has 10 bytes.
	MaxValueBytes = 15
	// firstBuckets is the initial number of buckets. The first hash chooses the
	// bucket: that many of its bits at first, and more after the table has grown.
	firstBuckets = 1 << firstBits
	firstBits    = 13
	moreBits     = 12 // kept in each hint, so the table can double this many times
	// crowd is the share of the slots, as a divisor, that must have been pushed out
	// since the last growth for the next one.
	crowd = 8
)

type bucket struct {
	mu      sync.Mutex
	touched uint64 // the last group that the committer raised or dropped something for
	slots   [slotsInBucket]slot
}

// slot is a hint as it is kept.
type slot struct {
	tag   uint64 // of the column; 0 if the slot is free
	bound uint64
	rest  uint64 // moreBits of the column's first hash, then seq, and in the lowest bit known
}

const (
	knownBit = 1
	seqBits  = 64 - moreBits - 1 // of a number that counts groups, from 1
)

func restOf(c Hash, seq uint64) uint64 {
	return c.a>>firstBits<<(64-moreBits) | seq<<1
}

func (s *slot) seq() uint64 { return s.rest >> 1 & (1<<seqBits - 1) }

func (s *slot) known() bool { return s.rest&knownBit != 0 }

// more is the part of the first hash that is kept, above the first bits.
func (s *slot) more() uint64 { return s.rest >> (64 - moreBits) }

type shortValue struct {
	size  uint8
	bytes [MaxValueBytes]byte
}

// Hint is what is known about a column.
type Hint struct {
	Column Hash
	Bound  uint64 // the timestamp plus one; 0 says that the column has no version
	Seq    uint64 // the first group of writes whose readers may use the hint
	Known  bool   // value is the one at the bound
	value  shortValue
}

// Short is the value at the bound, if it is known.
func (h *Hint) Short() []byte { return h.value.bytes[:h.value.size] }

// Keep notes the value at the bound, if it is short.
func (h *Hint) Keep(value []byte) {
	if h.Known = len(value) <= MaxValueBytes; h.Known {
		h.value.size = uint8(copy(h.value.bytes[:], value))
	}
}

// Hash identifies a column of a row of a group.
type Hash struct{ a, b uint64 }

// New makes hints for up to the given number of cells; a negative number means no
// hints.
func New(cells int) *Table {
	if cells < 0 {
		return nil
	}
	n := 1
	for n*slotsInBucket < cells && n < firstBuckets<<moreBits {
		n *= 2
	}
	h := &Table{seed: maphash.MakeSeed(), most: n}
	h.table.Store(newTable(min(n, firstBuckets)))
	return h
}

func newTable(buckets int) *table {
	return &table{buckets: make([]bucket, buckets), values: make([][slotsInBucket]shortValue, buckets)}
}

// growIfCrowded doubles the buckets if many hints were pushed out. Only the committer calls it.
func (h *Table) growIfCrowded() {
	n := len(h.table.Load().buckets)
	if n < h.most && h.pushedOut.Load() >= int64(n*slotsInBucket/crowd) {
		h.grow()
	}
}

func (h *Table) grow() {
	old := h.table.Load()
	grown := newTable(2 * len(old.buckets))
	for i := range old.buckets {
		old.copyTo(grown, i)
	}
	h.pushedOut.Store(0)
	h.table.Store(grown)
}

// copyTo divides bucket i among the two of a table of twice the size into which its
// columns now fall. Both count as touched when it was.
func (t *table) copyTo(grown *table, i int) {
	n := len(t.buckets)
	b := &t.buckets[i]
	b.mu.Lock() // readers fill it
	defer b.mu.Unlock()
	low, high := &grown.buckets[i], &grown.buckets[i+n]
	low.touched, high.touched = b.touched, b.touched
	for k, s := range b.slots {
		j := i
		if s.more()<<firstBits&uint64(n) != 0 {
			j += n
		}
		grown.buckets[j].slots[k] = s
		grown.values[j][k] = t.values[i][k]
	}
}

// Hash returns the Hash of a column whose first hash is known.
func (h *Table) Hash(first uint64, head []byte) Hash {
	return Hash{first, maphash.Bytes(h.seed, head)}
}

// bucket returns where a column belongs, with the bucket's mutex locked.
func (h *Table) bucket(c Hash) (b *bucket, values *[slotsInBucket]shortValue) {
	t := h.table.Load()
	i := c.a & uint64(len(t.buckets)-1)
	b = &t.buckets[i]
	b.mu.Lock()
	return b, &t.values[i]
}

// tag identifies the column in its bucket.
func (c Hash) tag() uint64 { return c.b | 1 }

// slot returns the column's slot, or -1.
func (b *bucket) slot(c Hash) int {
	for i := range b.slots {
		if b.slots[i].tag == c.tag() {
			return i
		}
	}
	return -1
}

// Of returns the hint of a column for a reader of the view seq.
func (h *Table) Of(c Hash, seq uint64) (e Hint, ok bool) {
	b, values := h.bucket(c)
	defer b.mu.Unlock()
	i := b.slot(c)
	if i < 0 {
		return Hint{}, false
	}
	s := &b.slots[i]
	e = Hint{Column: c, Bound: s.bound, Seq: s.seq(), Known: s.known()}
	if e.Known {
		e.value = values[i]
	}
	return e, e.Seq <= seq
}

// Raise notes that the group seq, not yet written, puts a value into the column at
// ts, and that no timestamp in it is or was above bound.
func (h *Table) Raise(c Hash, ts, bound, seq uint64, value []byte) {
	e := Hint{Column: c, Bound: bound + 1, Seq: seq}
	if ts == bound {
		e.Keep(value)
	}
	h.growIfCrowded()
	b, values := h.bucket(c)
	defer b.mu.Unlock()
	b.touched = seq
	h.set(b, values, &e)
}

// Drop notes that the group seq, not yet written, removes the version at ts.
func (h *Table) Drop(c Hash, ts, seq uint64) {
	b, _ := h.bucket(c)
	defer b.mu.Unlock()
	b.touched = seq
	if i := b.slot(c); i >= 0 && b.slots[i].bound == ts+1 {
		b.slots[i].rest &^= knownBit
	}
}

// Fill notes what a reader of the view met.Seq found: the newest version, or none.
func (h *Table) Fill(met Hint) {
	b, values := h.bucket(met.Column)
	defer b.mu.Unlock()
	if b.touched > met.Seq {
		return
	}
	if i := b.slot(met.Column); i >= 0 && b.slots[i].seq() > met.Seq {
		return
	}
	h.set(b, values, &met)
}

// set puts a hint in its slot, or in the place of the one that was set before the
// others.
func (h *Table) set(b *bucket, values *[slotsInBucket]shortValue, e *Hint) {
	i := b.slot(e.Column)
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
	b.slots[i] = slot{tag: e.Column.tag(), bound: e.Bound, rest: restOf(e.Column, e.Seq)}
	if e.Known {
		b.slots[i].rest |= knownBit
		values[i] = e.value
	}
}
