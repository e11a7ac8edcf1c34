package trace

import (
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/txn"
)

// Log remembers the most recent attempts of observers, row by row, and when pages were
// loaded and became searchable. It is a ring of records of fixed size without pointers to
// rows, so its memory is bounded: about 112 bytes per record, some 7 MB at DefaultRecords.
// A record identifies its row by a 64-bit hash; a collision within a repository is less
// likely than a broken disk.
//
// A nil Log remembers nothing. All methods are safe for concurrent use.
type Log struct {
	seed maphash.Seed

	mu   sync.Mutex
	most int
	ring []record
	next int // the oldest, once the ring is full
}

// DefaultRecords is the default number of records in a Log, enough for some 8,000 pages.
const DefaultRecords = 64 << 10

// kind of a record.
type kind uint8

const (
	attempted kind = iota
	loaded         // a changed fetch was about to be committed
	found          // the page has been searchable since end; began is when it was loaded
)

type record struct {
	row           uint64
	kind          kind
	batch         int32 // rows of the attempt
	start, commit uint64
	began, end    int64 // nanoseconds since 1970
	waited        time.Duration
	observer      string
	err           string
	conflict      bool // err is a conflict, or the outcome of the commit is unknown
}

// maxError bounds the text of an error, in bytes.
const maxError = 300

// NewLog returns a Log for the given number of records, or nil for 0.
func NewLog(records int) *Log {
	if records <= 0 {
		return nil
	}
	return &Log{seed: maphash.MakeSeed(), most: records}
}

// Attempt records an attempt. It is a notify.Events.Tried.
func (l *Log) Attempt(a notify.Attempt) {
	if l == nil {
		return
	}
	r := record{
		kind: attempted, batch: int32(len(a.Rows)), start: a.Start, commit: a.Commit,
		began: a.Began.UnixNano(), end: a.Began.Add(a.Took).UnixNano(), waited: a.Waited, observer: a.Observer,
	}
	if a.Err != nil {
		r.conflict = errors.Is(a.Err, txn.ErrConflict) || errors.Is(a.Err, txn.ErrUnknown)
		r.err = a.Err.Error()
		r.err = strings.ToValidUTF8(r.err[:min(len(r.err), maxError)], "") // the last character may be cut
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range a.Rows {
		r.row = maphash.String(l.seed, row)
		l.put(r)
	}
}

// Loaded records that a changed fetch of a URL row will be committed now.
func (l *Log) Loaded(row string) {
	if l == nil {
		return
	}
	now := time.Now().UnixNano()
	l.add(record{row: maphash.String(l.seed, row), kind: loaded, began: now, end: now})
}

// Found records since when a page has been searchable, and when it was loaded.
func (l *Log) Found(row string, at, since time.Time) {
	if l == nil {
		return
	}
	l.add(record{row: maphash.String(l.seed, row), kind: found, began: at.UnixNano(), end: since.UnixNano()})
}

func (l *Log) add(r record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(r)
}

// put adds a record. The caller holds mu.
func (l *Log) put(r record) {
	if len(l.ring) < l.most {
		l.ring = append(l.ring, r)
		return
	}
	l.ring[l.next] = r
	l.next = (l.next + 1) % l.most
}

// of returns the records of a row, oldest first.
func (l *Log) of(row string) (list []record) {
	if l == nil {
		return nil
	}
	sum := maphash.String(l.seed, row)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.ring {
		if r := &l.ring[(l.next+i)%len(l.ring)]; r.row == sum {
			list = append(list, *r)
		}
	}
	return list
}
