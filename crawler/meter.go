package crawler

import (
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
)

// rateSeconds is the time over which pages per second are counted.
const rateSeconds = 10

// meter counts for Status. Crawler.mu guards it.
type meter struct {
	pages, bytes, requests int64
	jobs, pageBytes        int64 // jobs under way; bytes of ended ones
	aux                    int64
	soft                   int64
	interrupted            int64
	failures               map[string]int64 // by class
	statuses               map[int]int64
	refused                map[string]int64 // by rule

	seconds [rateSeconds]struct{ second, pages int64 }

	ended time.Time // zero while the crawl runs
}

func newMeter() meter {
	return meter{failures: make(map[string]int64), statuses: make(map[int]int64), refused: make(map[string]int64)}
}

func (m *meter) exchange(x exchange) {
	m.requests++
	m.bytes += x.bytes
	switch {
	case x.class != fetch.OK: // even if a status came
		m.failures[x.class.String()]++
	case x.status > 0 && x.status < 1000:
		m.statuses[x.status]++
	}
}

// disallowed counts jobs that robots.txt disallows.
func (m *meter) disallowed(jobs int) {
	if jobs > 0 {
		m.refused[RobotsRule] += int64(jobs)
	}
}

func (m *meter) visited(soft bool) {
	m.pages++
	if soft {
		m.soft++
	}
	now := time.Now().Unix()
	s := &m.seconds[now%rateSeconds]
	if s.second != now {
		s.second, s.pages = now, 0
	}
	s.pages++
}

// rate is the pages per second over the last full seconds; over the whole crawl if it has ended.
func (m *meter) rate(now, started time.Time) float64 {
	var n int64
	for _, s := range m.seconds {
		if age := now.Unix() - s.second; age >= 1 && age < rateSeconds {
			n += s.pages
		}
	}
	span := min(float64(rateSeconds-1), now.Sub(started).Seconds())
	if !m.ended.IsZero() {
		n, span = m.pages, m.ended.Sub(started).Seconds()
	}
	if span < 1 {
		return float64(m.pages)
	}
	return float64(n) / span
}
