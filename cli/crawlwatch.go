package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
)

// watchCrawl runs a crawler, shows its progress, and prints the result. After an interrupt,
// requests in progress are completed; the observers continue with the next command. If
// member is not nil, this process shares the crawl with others. The last of them waits until
// everything is in the index.
func (s *session) watchCrawl(ctx context.Context, c *crawler.Crawler, member *division.Member) error {
	width, tty := terminal(s.app.stderr.w)
	line := func(time.Duration) string { return crawlLine(c.Status(1), s.repo.Live(), time.Now()) }
	p := progress.StartLine(s.app.stderr.w, line, progress.Options{Terminal: tty, Width: width})
	s.app.stderr.through(p)
	told := context.AfterFunc(ctx, func() {
		if s.app.standby == nil { // otherwise, the server says it
			_, _ = fmt.Fprintln(s.app.stderr, "stopping: requests in progress are completed and saved; interrupt again to stop at once")
		}
	})
	begun := time.Now()
	err := c.Run(ctx)
	others, lerr := leaveCrawl(ctx, member)
	if err == nil && lerr == nil && !others {
		err = s.repo.Quiesce(ctx)
	}
	told()
	s.app.stderr.through(nil)
	p.Stop()
	interrupted := ctx.Err() != nil && (err == nil || errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err()))
	if !interrupted && (err != nil || lerr != nil) {
		return errors.Join(err, lerr)
	}
	// After an interrupt, others notice that this process has left, although it could not tell them.
	return errors.Join(s.printCrawl(c, time.Since(begun), others, interrupted), lerr)
}

// crawlLine shows the progress of a crawl on one line, and why it is slow, if so.
func crawlLine(st crawler.Status, live *repository.Stats, now time.Time) string {
	parts := []string{fmt.Sprintf("%s  %.1f/s  %s", count(int(st.Pages), "page"), st.PerSecond, megabytes(st.Bytes))}
	for _, p := range []struct {
		n    int
		what string
	}{
		{st.Hosts.Active, "active"}, {st.Hosts.Politeness, "waiting for their delay"}, {st.Hosts.Robots, "waiting for robots.txt"},
		{st.Hosts.Backoff, "backing off"}, {st.Hosts.Waiting, "waiting for a slot"}, {st.Hosts.Sleeping, "asleep"}, {totalRows(live.Backlog), "to index"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if p50 := live.FetchToSearchableMS.P50; p50 > 0 {
		parts = append(parts, "searchable in "+progress.Duration(fromMS(p50)))
	}
	atWork, failed := st.Hosts.Active+st.Hosts.Politeness > 0, st.Hosts.Robots+st.Hosts.Backoff > 0
	switch {
	case st.Paused != "":
		parts = append(parts, "paused: "+st.Paused)
	case atWork && failed: // hosts that failed are the first of the busiest, and do not slow down the others
	case len(st.Busiest) > 0 && st.Busiest[0].Why != "":
		parts = append(parts, strings.TrimPrefix(st.Busiest[0].Host, "https://")+": "+st.Busiest[0].Why)
	case st.InProgress == 0 && st.Next.After(now):
		parts = append(parts, "nothing is due until "+st.Next.Local().Format(time.DateTime))
	}
	return strings.Join(parts, "  ")
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
