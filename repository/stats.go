package repository

import (
	"context"
	"time"

	"github.com/webindexer/indexer/repository/counts"
)

// Stats says what the repository holds, and what its observers are doing.
type Stats struct {
	counts.Counts

	Backlog              map[string]int `json:"backlog"` // number of rows on which each observer has to run
	Dead                 int64          `json:"dead"`    // rows that observers have given up on since this process began
	OldestNotificationMS float64        `json:"oldest_notification_ms"`
	FetchToSearchableMS  LatencyMS      `json:"fetch_to_searchable_ms"`
	Observers            []ObserverRuns `json:"observers"`
}

// LatencyMS is a distribution in milliseconds, over the last 2,000 pages. It includes
// loaded pages that cannot be found yet, with the time that they are expected to take
// (observers.Tracker.Expected). N counts the pages found since the process began.
type LatencyMS struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	N   int64   `json:"n"`
}

// ObserverRuns says what an observer has done since the process began.
type ObserverRuns struct {
	Observer  string  `json:"observer"`
	Runs      int64   `json:"runs"`
	Rows      int64   `json:"rows"`
	Conflicts int64   `json:"conflicts"`
	Failures  int64   `json:"failures"`
	BusyMS    float64 `json:"busy_ms"`
}

// Stats counts at one snapshot. If nothing has been committed since the last call, in this
// or an earlier process, it returns the counts of that call.
func (r *Repository) Stats(ctx context.Context) (*Stats, error) {
	s := r.Live()
	var err error
	if s.Backlog, err = r.Waiting(ctx); err != nil {
		return nil, err
	}
	if s.Counts, err = r.count(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Live returns the part of Stats that costs nothing: the state of the observers.
func (r *Repository) Live() *Stats {
	s := &Stats{Backlog: make(map[string]int)}
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
	return s
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
