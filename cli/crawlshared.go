package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/osfile"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/etcd"
	"github.com/webindexer/indexer/txn"
)

// isDivided reports whether other processes may crawl at the same time.
func (s *session) isDivided() bool { return s.deployment != nil && !s.deployment.alone }

// joinCrawl makes this process one of the crawlers of a deployment; nil if it crawls alone.
func (s *session) joinCrawl(ctx context.Context, front *frontier.Frontier, o *crawler.Options) (*division.Member, error) {
	if !s.isDivided() {
		return nil, nil
	}
	m, err := division.Join(ctx, s.repo.DB(), s.deployment.coordination.Liveness, division.Options{
		Failed: func(err error) {
			s.app.log.Warn("will try again to share the hosts with other crawlers", zap.Error(err))
		},
	})
	if err != nil {
		return nil, err
	}
	front.Guard = m.Guard
	o.Share, o.Quiesce = m, nil
	return m, nil
}

// leaveCrawl gives the hosts of this process to other crawlers, and reports whether there
// are any.
func leaveCrawl(ctx context.Context, m *division.Member) (others bool, err error) {
	if m == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	return m.Leave(ctx)
}

// rowsLeft counts the rows that wait for observers in any process.
func (s *session) rowsLeft(ctx context.Context) (int, error) {
	if s.isDivided() {
		return allWaiting(ctx, s.repo)
	}
	return rowsWaiting(s.repo), nil
}

// rejoins decides whether a crawl continues after this process has shown no sign of life for
// a while, for example because the machine slept or the table was unreachable. Its crawler
// has then ended, because others may crawl its hosts. The process runs the same command
// again, which joins the crawl under a new token and continues from what is stored. A process
// that falls silent again and again is useless to the others, and fails. While the table is still
// unreachable, it waits as long as a load does.
type rejoins struct{ times []time.Time }

// notOpened is the error of a crawl that could not open the store.
type notOpened struct{ error }

// Unwrap returns the cause.
func (e notOpened) Unwrap() error { return e.error }

const (
	maxRejoins   = 5
	rejoinsCount = 10 * time.Minute // those before are forgotten
	rejoinsPause = time.Second
)

func (r *rejoins) allow(err error, now time.Time) bool {
	if _, away := errors.AsType[notOpened](err); away && len(r.times) > 0 && isAway(err) {
		return now.Sub(r.times[len(r.times)-1]) <= rejoinsCount
	}
	if !errors.Is(err, oracle.ErrLapsed) {
		return false
	}
	r.times = append(slices.DeleteFunc(r.times, func(t time.Time) bool { return now.Sub(t) > rejoinsCount }), now)
	return len(r.times) <= maxRejoins
}

// isAway reports whether a server of the deployment does not answer. Any other error, such as a
// password that is no longer valid, does not pass by itself.
func isAway(err error) bool { return txn.Temporary(err) || errors.Is(err, etcd.ErrSilent) }

// spend subtracts what a run has used from the limits of the next one. If a run did not
// end at a limit, some of it remains.
func (f *crawlFlags) spend(st crawler.Status) {
	if f.pages > 0 {
		f.pages = max(1, f.pages-st.Pages)
	}
	if f.bytes > 0 {
		f.bytes = max(1, f.bytes-st.Bytes)
	}
	if f.time > 0 {
		f.time = max(1, f.time-time.Since(st.Started))
	}
}

// lockArchive makes sure that no other crawl writes to the directory: each completes the
// file that a killed run has left, and would mistake the open file of another crawl for such
// a file. The lock is on the directory itself and goes with the process. Where there are no
// such locks, nothing is checked.
func lockArchive(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, &inputError{what: dir, reason: fmt.Sprintf("cannot write WARC files there: %v", err)}
	}
	if osfile.Lock(f) == osfile.Taken {
		_ = f.Close() // nothing was written
		return nil, &inputError{what: dir, reason: "another crawl writes WARC files there: give each one a directory of its own"}
	}
	return f, nil
}
