package badgerdb

import (
	"hash/maphash"
	"sync"
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
// A hint that is pushed out costs its next reader a look. Two columns are taken for
// one if two hashes of 64 bits, with seeds of this process, are equal; a million
// cells meet with a probability of about 10⁻²⁷.
type hints struct {
	seed    maphash.Seed // of the second hash; the first is the planner's
	buckets []hintBucket
}

const (
	hintsInBucket    = 4
	defaultHintCells = 1 << 19 // about 20 MiB
)

type hintBucket struct {
	mu      sync.Mutex
	touched uint64 // the last group that the committer raised something for
	next    uint64 // counts what was pushed out
	hints   [hintsInBucket]hint
}

type hint struct {
	column columnHash
	bound  uint64 // the timestamp plus one; 0 says that the column has no version
	seq    uint64
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

// of returns the bound of a column for a reader of the view seq, plus one.
func (h *hints) of(c columnHash, seq uint64) (bound uint64, ok bool) {
	b := h.bucket(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.hints {
		if e := &b.hints[i]; e.column == c {
			return e.bound, e.seq <= seq
		}
	}
	return 0, false
}

// raise notes that the group seq, not yet written, puts something into the column,
// and that no timestamp in it is or was above ts.
func (h *hints) raise(c columnHash, ts, seq uint64) {
	b := h.bucket(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched = seq
	b.set(hint{c, ts + 1, seq})
}

// fill notes what a reader of the view seq found: the newest timestamp plus one.
func (h *hints) fill(c columnHash, bound, seq uint64) {
	b := h.bucket(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.touched > seq {
		return
	}
	for i := range b.hints {
		if e := &b.hints[i]; e.column == c && e.seq > seq {
			return
		}
	}
	b.set(hint{c, bound, seq})
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
