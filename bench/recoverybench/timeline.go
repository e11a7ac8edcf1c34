package recoverybench

import (
	"slices"
	"sync"
	"time"
)

// event says that a worker has handled rows since it was last asked.
type event struct {
	at          time.Duration // since the beginning
	rows, pages int64
}

// timeline is what all workers have done.
type timeline struct {
	mu     sync.Mutex
	began  time.Time
	rows   int64 // since the first worker was started
	events []event
}

// begin makes this moment the beginning, and drops earlier samples.
func (t *timeline) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began, t.events = time.Now(), nil
}

func (t *timeline) add(rows, pages int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows += rows
	t.events = append(t.events, event{time.Since(t.began), rows, pages})
}

func (t *timeline) since() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Since(t.began)
}

func (t *timeline) total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows
}

// copied are the events in order.
func (t *timeline) copied() []event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.events)
}

// Interval is a part of the run of fixed length. The last one may be shorter.
type Interval struct {
	From  float64 `json:"from_seconds"`
	Rows  float64 `json:"rows_per_second"`
	Pages float64 `json:"pages_per_second"`
}

func intervals(events []event, every, end time.Duration) (list []Interval) {
	for from := time.Duration(0); from < end; from += every {
		i := Interval{From: from.Seconds()}
		i.Rows, i.Pages = rate(events, from, min(from+every, end))
		list = append(list, i)
	}
	return list
}

// rate is what was done per second in a part of the run, its end not included.
func rate(events []event, from, to time.Duration) (rows, pages float64) {
	if to <= from {
		return 0, 0
	}
	for _, e := range events {
		if from <= e.at && e.at < to {
			rows += float64(e.rows)
			pages += float64(e.pages)
		}
	}
	took := (to - from).Seconds()
	return rows / took, pages / took
}

// longestPause is the longest time without a row that has a part between two moments. It
// may begin before the first one and end after the second one. Time before the first row
// and after the last one does not count, because the length of that pause is unknown.
func longestPause(events []event, from, to time.Duration) (longest time.Duration) {
	last := time.Duration(-1)
	for _, e := range events {
		if e.rows == 0 {
			continue
		}
		if last >= 0 && e.at > from && last < to {
			longest = max(longest, e.at-last)
		}
		last = e.at
	}
	return longest
}
