package crawler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
)

// Unreached is a host that has not answered a single request of this run: its name has
// no address, it refuses connections, or it stays silent.
type Unreached struct {
	Host     string    `json:"host"`
	Why      string    `json:"why"`
	Attempts int       `json:"attempts"`
	Since    time.Time `json:"since"` // the end of the first attempt

	instead string // the http host that is asked instead; "" if none is
}

// Hosts that do not answer are tried again for as long as there is other work. When
// there is none, Run does not wait for them as long as for a host that has answered
// before: a misspelt name will not be right in two minutes, and the user is waiting.
// They stay due, and the next run asks them at once (see host.restore).
//
// They are remembered by name, because a host that waits for a retry may have to leave
// memory. Those beyond maxUnreached are not remembered, and Run waits for them as
// usual.
const (
	maxUnreached  = 1024
	showUnreached = 20
)

// noteAnswer notes whether the host has answered in this run.
func (c *Crawler) noteAnswer(h *host, x exchange) {
	if x.status != 0 {
		h.answered = x.end
		delete(c.unreached, h.key)
		return
	}
	u := c.unreached[h.key]
	if u == nil {
		if !h.answered.Before(c.started) || len(c.unreached) >= maxUnreached {
			return
		}
		u = &Unreached{Host: h.key, Since: x.end, instead: h.plain}
		c.unreached[h.key] = u
	}
	u.Attempts++
	u.Why = cmp.Or(x.err, x.class.String())
	if u.Attempts == 1 && u.instead == "" && h.seeded {
		again := "; it is tried again while there is other work"
		if x.class == fetch.RefusedAddress {
			again = "" // the same address would be refused again
		}
		c.opts.Log.Warn(fmt.Sprintf("%s, a host of the seeds, cannot be reached: %s%s", u.Host, u.Why, again))
	}
}

// horizonOf returns until when Run waits for the work of a host, if there is no other.
func (c *Crawler) horizonOf(key string, now time.Time) time.Time {
	horizon := c.horizon(now)
	if u := c.unreached[key]; u != nil {
		if until := u.Since.Add(max(c.opts.MaxWaitUnreached, 0)); until.Before(horizon) {
			return until
		}
	}
	return horizon
}

// parkedWaitedFor reports whether a parked host is due soon enough to wait for it.
func (c *Crawler) parkedWaitedFor(now time.Time) bool {
	return c.parked.due(c.horizon(now)) && slices.ContainsFunc(c.parked.heap.items, func(s *parkedHost) bool {
		return !s.at.After(c.horizonOf(s.key, now))
	})
}

// listUnreached returns some of the hosts that have not answered, and how many there
// are. An https host whose seeds were then tried with http counts if that failed as
// well.
func (c *Crawler) listUnreached() (list []Unreached, total int) {
	for _, u := range c.unreached {
		if u.instead == "" || c.unreached[u.instead] != nil {
			list = append(list, *u)
		}
	}
	slices.SortFunc(list, func(a, b Unreached) int { return strings.Compare(a.Host, b.Host) })
	return list[:min(len(list), showUnreached)], len(list)
}
