package frontier

import (
	"context"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// clockSlack is how far in the future a time from a site may lie: its clock may be
// fast.
const clockSlack = 10 * time.Minute

// bringForward makes the next visit of a known page due, because a sitemap says that
// the page has changed since the last one.
//
//  1. A time that is not after the last visit says nothing new: a sitemap that always
//     names the same time brings one visit forward.
//  2. A time in the future is a mistake or a lie.
//  3. A visit is brought forward once, and never to sooner than spacing after the last
//     visit: a site that always says "now" gets at most one visit for each reading of
//     its sitemap. The crawler limits how many such visits a host gets; see
//     crawler.claims.
func (f *Frontier) bringForward(ctx context.Context, tx *txn.Txn, found crawler.Found, spacing time.Duration) (bool, error) {
	old, known, err := ReadEntry(ctx, tx, found.URL)
	if err != nil || !known || old.State != schema.EntryWaiting || !old.Revisit || old.Refused {
		return false, err
	}
	at := f.now()
	if !found.Changed.After(old.Last.Add(time.Millisecond)) || // Last is cut to whole milliseconds
		found.Changed.After(at.Add(clockSlack)) || !old.Claim.IsZero() {
		return false, nil
	}
	due := old.Last.Add(spacing)
	if due.Before(at) {
		due = at
	}
	if !due.Before(old.Due) {
		return false, nil
	}
	now := old
	now.Due, now.Claim = due, found.Changed
	now.Note = "changed on " + found.Changed.UTC().Format(time.RFC3339) + ", as a sitemap or feed says"
	put(tx, found.URL, &old, now)
	return true, nil
}
