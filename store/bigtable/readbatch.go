package bigtable

import (
	"bytes"
	"context"
	"fmt"

	"cloud.google.com/go/bigtable"
)

// A request for many rows has one filter, which is applied to each row. So reads that
// share a request read from each row what any of them wants. Transactions that run the
// same code want the same columns, so the filter stays small. Cells that only another
// read wants are wasted, but they cost little: large values are in columns that are read
// at an exact timestamp.
//
// The usual read wants the newest version up to the start timestamp of its transaction, and
// no two transactions have the same. The shared filter lets through the newest few versions
// up to the greatest of these timestamps. If a row was written so often since the smallest
// that its version is not among them, the read is repeated alone.

// generous is how many more versions than wanted a shared filter lets through.
const generous = 2

// The bounds of a shared request. Bigtable evaluates each filter on each row.
const (
	maxSharedReads   = 100
	maxSharedFilters = 32
)

// readCall is a read of one row that waits for its part of a request.
type readCall struct {
	ctx    context.Context
	key    string
	wants  []want
	shared *filterSet // of the request, in its first call

	done  chan struct{} // closed when the fields below are set
	found []versions
	again bool // the request could not answer
	err   error
}

// filterSet collects what the reads of a request want.
type filterSet struct {
	wants []want       // one for each filter
	index map[want]int // by want, without what is merged
	bytes int
	wide  bool // a filter is for wants that differ, so it has to be generous
}

// add adds the wants of a read, and reports whether they fit. A single read always fits if
// its filter is not too long for Bigtable.
func (s *filterSet) add(wants []want) bool {
	bytes, fresh := s.bytes, 0
	for i := range wants {
		if _, ok := s.index[wants[i].merged()]; !ok && !wants[i].impossible {
			bytes += wants[i].bytes()
			fresh++
		}
	}
	if bytes > maxFilterBytes || len(s.wants) > 0 && len(s.wants)+fresh > maxSharedFilters {
		return false
	}
	if s.index == nil {
		s.index = make(map[want]int, len(wants))
	}
	for i := range wants {
		w := wants[i]
		if w.impossible {
			continue
		}
		at, ok := s.index[w.merged()]
		if !ok {
			s.index[w.merged()] = len(s.wants)
			s.wants = append(s.wants, w)
			s.bytes += w.bytes()
		} else if w != s.wants[at] {
			s.wide = true
			s.wants[at].hi = max(s.wants[at].hi, w.hi)
		}
	}
	return true
}

// merged returns w without the fields in which wants that share a filter may differ. The
// newest versions up to different timestamps share a filter, and so do the only versions of
// a Latest group.
func (w want) merged() want {
	switch {
	case w.latest:
		w.lo, w.hi = 0, 0
	case w.newest > 0 && w.lo == 0:
		w.hi = 0
	}
	return w
}

// filter is what the request of the set asks of each row.
func (s *filterSet) filter() bigtable.Filter {
	filters := make([]bigtable.Filter, len(s.wants))
	for i, w := range s.wants {
		switch {
		case !s.wide:
		case w.latest:
			w.lo, w.hi = 0, maxTS
		case w.depth() > 0:
			w.newest = w.depth()
		}
		filters[i] = w.filter()
	}
	return anyOf(filters)
}

// depth is how many versions a shared filter lets through for w, if it is a generous one.
func (w *want) depth() int {
	if w.latest || w.newest == 0 || w.lo > 0 {
		return 0
	}
	return w.newest + generous
}

func readsFit(calls []*readCall, c *readCall) bool {
	return len(calls) < maxSharedReads && calls[0].shared.add(c.wants)
}

// sendReads makes one request of the calls. A single call ends with its context; several end
// when none of them can still be waiting.
func (db *DB) sendReads(calls []*readCall) {
	defer func() {
		for _, c := range calls {
			close(c.done)
		}
	}()
	set, ctx := calls[0].shared, db.ctx
	if len(calls) == 1 {
		ctx = calls[0].ctx
	}
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	rows := make(map[string]bigtable.Row, len(calls))
	readers := make(map[string]int, len(calls))
	keys := make(bigtable.RowList, 0, len(calls))
	for _, c := range calls {
		if readers[c.key]++; readers[c.key] == 1 {
			keys = append(keys, c.key)
		}
	}
	db.counters.ReadRequests.Add(1)
	err := db.main.ReadRows(ctx, keys, func(r bigtable.Row) bool {
		rows[r.Key()] = r
		return true
	}, bigtable.RowFilter(set.filter()))
	for _, c := range calls {
		if err != nil {
			c.err = callError(ctx, fmt.Sprintf("read row %.80q", c.key[1:]), err)
			continue
		}
		c.answer(rows[c.key], set)
		if readers[c.key] > 1 {
			c.own()
		}
	}
}

// answer picks what the call wants from what the request brought.
func (c *readCall) answer(row bigtable.Row, set *filterSet) {
	c.found = make([]versions, len(c.wants))
	for i := range c.wants {
		w := &c.wants[i]
		if w.impossible {
			continue
		}
		top, depth := uint64(0), 0
		if set.wide {
			top, depth = set.wants[set.index[w.merged()]].hi, w.depth()
		}
		var ok bool
		if c.found[i], ok = w.pick(versionsOf(row, w.family), top, depth); !ok {
			c.again = true
			return
		}
	}
}

// own copies values that other calls have received as well.
func (c *readCall) own() {
	for _, cells := range c.found {
		for i := range cells {
			cells[i].value = bytes.Clone(cells[i].value)
		}
	}
}
