package repository

import (
	"context"
	"fmt"
	"iter"
	"time"

	"indexer/page"
	"indexer/schema"
	"indexer/store/badgerdb"
	"indexer/txn"
)

// Stats counts what the repository holds, and what is left to do.
type Stats struct {
	URLs      int `json:"urls"` // fetched, linked to, or led to
	Pages     int `json:"pages"`
	Redirects int `json:"redirects"`
	Gone      int `json:"gone"`
	Failed    int `json:"failed"` // never fetched with success
	Other     int `json:"other"`
	Clusters  int `json:"clusters"`
	Indexed   int `json:"indexed"`
	Links     int `json:"links"` // pairs of page and target

	Ranks RankStats `json:"ranks"`

	Backlog              map[string]int `json:"backlog"` // rows each observer has to run on
	Dead                 int64          `json:"dead"`    // rows given up on since this process began
	OldestNotificationMS float64        `json:"oldest_notification_ms"`
	FetchToSearchableMS  LatencyMS      `json:"fetch_to_searchable_ms"`
	Observers            []ObserverRuns `json:"observers"`
}

// LatencyMS is a distribution in milliseconds, over the last 2,000 pages. Those that
// were loaded and cannot be found yet are among them, with what they are expected to
// take (observers.Tracker.Expected). N counts those found since the process began.
type LatencyMS struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	N   int64   `json:"n"`
}

// ObserverRuns is what an observer did since the process began.
type ObserverRuns struct {
	Observer  string  `json:"observer"`
	Runs      int64   `json:"runs"`
	Rows      int64   `json:"rows"`
	Conflicts int64   `json:"conflicts"`
	Failures  int64   `json:"failures"`
	BusyMS    float64 `json:"busy_ms"`
}

// Stats counts by scanning the small tables, at one snapshot.
func (r *Repository) Stats(ctx context.Context) (*Stats, error) {
	s := &Stats{Backlog: make(map[string]int)}
	r.addLive(s)
	release := r.db.Hold()
	defer release()
	tx, err := r.snapshot(ctx, r.db.LastTimestamp())
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, count := range []func(context.Context, *txn.Txn) error{s.countURLs, s.countClusters, s.countKnown, s.countRanks} {
		if err := count(ctx, tx); err != nil {
			return nil, fmt.Errorf("stats: %w", err)
		}
	}
	return s, nil
}

// Live is the part of Stats that costs nothing: what the pipeline is doing.
func (r *Repository) Live() *Stats {
	s := &Stats{Backlog: make(map[string]int)}
	r.addLive(s)
	return s
}

func (r *Repository) addLive(s *Stats) {
	var oldest time.Duration
	for _, o := range r.observerStats() {
		s.Backlog[o.Observer] = o.Backlog
		s.Dead += o.Dead
		oldest = max(oldest, o.OldestWait)
		s.Observers = append(s.Observers, ObserverRuns{
			Observer: o.Observer, Runs: o.Runs, Rows: o.Rows, Conflicts: o.Conflicts, Failures: o.Failures, BusyMS: ms(o.Busy),
		})
	}
	s.OldestNotificationMS = ms(oldest)
	l := r.tracker.Expected()
	s.FetchToSearchableMS = LatencyMS{P50: ms(l.P50), P95: ms(l.P95), P99: ms(l.P99), N: l.N}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// countURLs counts fetched URLs by outcome. A URL without a state has failed
// fetches only, or its document observer has not run yet.
func (s *Stats) countURLs(ctx context.Context, tx *txn.Txn) error {
	return tx.Scan(ctx, schema.GroupURL, "", "", func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name != schema.State.Name {
				continue
			}
			state, err := schema.DecodeURLState(c.Data)
			if err != nil {
				return fmt.Errorf("row %q: %w", row, err)
			}
			s.countOutcome(state.Outcome)
		}
		return nil
	})
}

func (s *Stats) countOutcome(o page.Outcome) {
	switch o {
	case page.Page:
		s.Pages++
	case page.Redirect:
		s.Redirects++
	case page.Gone:
		s.Gone++
	case page.Other:
		s.Other++
	}
}

func (s *Stats) countClusters(ctx context.Context, tx *txn.Txn) error {
	last := ""
	err := tx.Scan(ctx, schema.GroupMember, "", "", func(row string, _ []txn.Version) error {
		k, _, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		if c := schema.ClusterRow(k); c != last {
			last = c
			s.Clusters++
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Scan(ctx, schema.GroupIndex, "", "", func(string, []txn.Version) error {
		s.Indexed++
		return nil
	})
}

// countKnown counts the URLs known in any way, by walking through the fetched
// ones, the targets of links and the targets of leads side by side: all three
// are sorted by the same key.
func (s *Stats) countKnown(ctx context.Context, tx *txn.Txn) error {
	var failed error
	fail := func(err error) { failed = err }
	links := func(string) { s.Links++ }
	fetched := s.fetchedRows(ctx, tx, fail)
	linked := targetRows(ctx, tx, schema.GroupLink, links, fail)
	led := targetRows(ctx, tx, schema.GroupPointer, nil, fail)
	for range distinct(fetched, linked, led) {
		s.URLs++
	}
	return failed
}

// fetchedRows yields the rows of fetched URLs, counting those that only failed.
func (s *Stats) fetchedRows(ctx context.Context, tx *txn.Txn, fail func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		err := tx.Scan(ctx, schema.GroupFetch, "", "", func(row string, cols []txn.Version) error {
			onlyFailed := true
			for _, c := range cols {
				onlyFailed = onlyFailed && c.Name == schema.FetchFailure.Name
			}
			if onlyFailed {
				s.Failed++
			}
			if !yield(row) {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			fail(err)
		}
	}
}

// targetRows yields the target of each pair row.
func targetRows(ctx context.Context, tx *txn.Txn, group string, each func(string), fail func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		err := tx.Scan(ctx, group, "", "", func(row string, _ []txn.Version) error {
			if each != nil {
				each(row)
			}
			if !yield(schema.PairTarget(row)) {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			fail(err)
		}
	}
}

// distinct yields each string of some ascending sequences once.
func distinct(seqs ...iter.Seq[string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		heads := make([]*head, 0, len(seqs))
		for _, seq := range seqs {
			next, stop := iter.Pull(seq)
			defer stop()
			h := &head{next: next}
			h.advance()
			heads = append(heads, h)
		}
		for {
			least, ok := leastOf(heads)
			if !ok || !yield(least) {
				return
			}
			for _, h := range heads {
				for h.ok && h.value == least {
					h.advance()
				}
			}
		}
	}
}

// head is the first value left of a sequence.
type head struct {
	next  func() (string, bool)
	value string
	ok    bool
}

func (h *head) advance() { h.value, h.ok = h.next() }

func leastOf(heads []*head) (least string, ok bool) {
	for _, h := range heads {
		if h.ok && (!ok || h.value < least) {
			least, ok = h.value, true
		}
	}
	return least, ok
}

// FreeBytes is what may still be written to the disk that holds the repository.
func (r *Repository) FreeBytes() (int64, error) { return badgerdb.FreeBytes(StoreDir(r.dir)) }
