package badgerdb

import (
	"hash/maphash"
	"sync"

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
// above B. So a reader of v may use it; one of an older view may not. Whence:
//
//   - raise is called by the committer before a group is written, thus before any
//     view can see it, with a bound of all timestamps ever put into H (newest.go),
//     and with Q of the group.
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
//   - drop, when a version is removed, forgets the value at that version, and turns
//     away, like raise, whoever looked before.
//
// A hint that is pushed out costs its next reader a look. Two columns are taken for
// one if two hashes of 64 bits, with seeds of this process, are equal; a million
// cells meet with a probability of about 10⁻²⁷.
type hints struct {
	seed    maphash.Seed // of the second hash; the first is the planner's
	buckets []hintBucket
}

const (
	hintsInBucket    = 2
	defaultHintCells = 1 << 19 // 32 MiB
	// hintValueBytes bounds the values that are kept. A write record without its
	// value has 10 bytes.
	hintValueBytes = 14
)

// hintBucket takes two lines of the processor's cache: a look at it is one miss, or
// two.
type hintBucket struct {
	mu      sync.Mutex
	touched uint64 // the last group that the committer raised or dropped something for
	next    uint64 // counts what was pushed out
	hints   [hintsInBucket]hint
	_       [8]byte
}

type hint struct {
	column columnHash
	bound  uint64 // the timestamp plus one; 0 says that the column has no version
	seq    uint64
	known  bool // value[:size] is the value at the bound
	size   uint8
	value  [hintValueBytes]byte
}

// short is the value, if it is known.
func (h *hint) short() []byte { return h.value[:h.size] }

// keep notes the value at the bound, if it is short.
func (h *hint) keep(value []byte) {
	if h.known = len(value) <= hintValueBytes; h.known {
		h.size = uint8(copy(h.value[:], value))
	}
}

// learn is keep for the item that an iterator met.
func (h *hint) learn(item *badger.Item) error {
	if item.EstimatedSize()-int64(len(item.Key())) > 1+hintValueBytes { // before anything is copied
		return nil
	}
	return item.Value(func(stored []byte) error {
		value, err := splitPlain(stored, item.Key())
		if err == nil {
			h.keep(value)
		}
		return err
	})
}

// columnHash stands for a column of a row of a group.
type columnHash struct{ a, b uint64 }

// newHints makes room for so many cells; 0 stands for the default, and less than
// none for no hints at all.
func newHints(cells int) *hints {
	if cells < 0 {
		return nil
	}
	if cells == 0 {
		cells = defaultHintCells
	}
	n := 1
	for n*hintsInBucket < cells {
		n *= 2
	}
	return &hints{seed: maphash.MakeSeed(), buckets: make([]hintBucket, n)}
}

// hash of a column whose first hash is known.
func (h *hints) hash(first uint64, head []byte) columnHash {
	return columnHash{first, maphash.Bytes(h.seed, head)}
}

func (h *hints) bucket(c columnHash) *hintBucket {
	return &h.buckets[c.a&uint64(len(h.buckets)-1)]
}

// of returns the hint of a column for a reader of the view seq.
func (h *hints) of(c columnHash, seq uint64) (_ hint, ok bool) {
	b := h.bucket(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.hints {
		if e := &b.hints[i]; e.column == c {
			return *e, e.seq <= seq
		}
	}
	return hint{}, false
}

// raise notes that the group seq, not yet written, puts a value into the column at
// ts, and that no timestamp in it is or was above bound.
func (h *hints) raise(c columnHash, ts, bound, seq uint64, value []byte) {
	e := hint{column: c, bound: bound + 1, seq: seq}
	if ts == bound {
		e.keep(value)
	}
	b := h.bucket(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched = seq
	b.set(e)
}

// drop notes that the group seq, not yet written, removes the version at ts.
func (h *hints) drop(c columnHash, ts, seq uint64) {
	b := h.bucket(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched = seq
	for i := range b.hints {
		if e := &b.hints[i]; e.column == c && e.bound == ts+1 {
			e.known = false
		}
	}
}

// fill notes what a reader of the view met.seq found: the newest version, or none.
func (h *hints) fill(met hint) {
	b := h.bucket(met.column)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.touched > met.seq {
		return
	}
	for i := range b.hints {
		if e := &b.hints[i]; e.column == met.column && e.seq > met.seq {
			return
		}
	}
	b.set(met)
}

func (b *hintBucket) set(e hint) {
	for i := range b.hints {
		if b.hints[i].column == e.column {
			b.hints[i] = e
			return
		}
	}
	b.hints[b.next%hintsInBucket] = e
	b.next++
}
