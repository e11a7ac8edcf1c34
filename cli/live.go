package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/web"
	"github.com/webindexer/indexer/web/live"
)

// liveSource is what the status page of a session shows.
type liveSource struct {
	*repository.Repository
	session *session
}

// mountLive adds the status page, metrics and health checks to a server. The caller closes
// the result before the session.
func (st *standby) mountLive(o *web.Options, files searcher) (*live.Live, error) {
	serve := st.app.cfg.Serve
	l, err := live.New(&standbySource{st: st}, live.Options{
		Clients: serve.StatusClients, Profiles: serve.Profiles,
		Search: files.Ready, Elsewhere: st.isElsewhere, Notes: st.notes, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	o.Mounts, o.Open, o.Live = l.Mounts(), live.Open(), true
	return l, nil
}

// statusHosts is the number of hosts for which a running crawl is asked why they wait.
const statusHosts = 200

// Frontier describes the crawl, from the queues in the store and, if the crawler runs
// here, from the crawler.
func (l liveSource) Frontier(ctx context.Context, most int) (*live.Frontier, error) {
	_, _, known, err := frontier.ReadConfig(ctx, l.DB())
	if err != nil || !known {
		return nil, err
	}
	queues, err := frontier.HostQueues(ctx, l.DB())
	if err != nil {
		return nil, err
	}
	f := &live.Frontier{HostsTotal: len(queues)}
	why := make(map[string]string)
	if c := l.session.crawler.Load(); c != nil {
		st := c.Status(statusHosts)
		f.Running, f.Paused, f.PerSecond, f.Pages = st.Ended == "", st.Paused, st.PerSecond, st.Pages
		for _, h := range st.Busiest {
			why[h.Host] = whyWaits(h, time.Now())
		}
	}
	slices.SortStableFunc(queues, func(a, b frontier.HostQueue) int {
		return cmp.Compare(b.New+b.Revisits, a.New+a.Revisits)
	})
	for i, q := range queues {
		f.New += q.New
		f.Revisits += q.Revisits
		if i < most {
			f.Hosts = append(f.Hosts, live.Host{
				Host: strings.TrimPrefix(q.Host, "https://"), New: q.New, Revisits: q.Revisits,
				Why: cmp.Or(why[q.Host], whyQueued(q, f.Running, time.Now())),
			})
		}
	}
	return f, nil
}

// whyWaits says what a host in the memory of the crawler waits for.
func whyWaits(h crawler.HostStatus, now time.Time) string {
	text := h.State
	if h.Why != "" {
		text += ": " + h.Why
	}
	if h.Until.After(now) {
		text += ", for " + h.Until.Sub(now).Round(100*time.Millisecond).String()
	}
	return text
}

// whyQueued says what a host that is only in the queue waits for.
func whyQueued(q frontier.HostQueue, running bool, now time.Time) string {
	switch {
	case q.BackingOff != nil:
		return "backing off until " + q.BackingOff.UTC().Format(time.DateTime) + ": " + q.Why
	case q.New == 0 && q.Next != nil && q.Next.After(now):
		return "the next visit is due in " + q.Next.Sub(now).Round(time.Second).String()
	case !running:
		return "the crawl is not running in this process"
	}
	return "waiting for a slot"
}
