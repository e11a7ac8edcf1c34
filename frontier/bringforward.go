package frontier

import (
	"context"
	"time"

	"indexer/crawler"
	"indexer/schema"
	"indexer/txn"
)

// clockSlack is how far in the future a time may lie that a site names: its clock may
// be fast.
const clockSlack = 10 * time.Minute

// bringForward makes the visit of a known page due that has changed since the last one, as
// a sitemap says.
//
//  1. A time that is not after the last visit says nothing new: a sitemap that always
//     names the same time hastens one visit.
//  2. A time in the future is a mistake, or a lie.
//  3. A visit that was hastened already is not hastened again before it was made, and
//     none comes sooner than spacing after the last: whoever always says "now" gets
//     a visit for each reading of the sitemap at most. How many such visits a host
//     gets is the crawler's affair; see crawler.claims.
func (f *Frontier) bringForward(ctx context.Context, tx *txn.Txn, found crawler.Found, spacing time.Duration) (bool, error) {
	old, known, err := ReadEntry(ctx, tx, found.URL)
	if err != nil || !known || old.State != schema.EntryWaiting || !old.Revisit || old.Refused {
		return false, err
	}
	at := f.now()
	if !found.Changed.After(old.Last.Add(time.Millisecond)) || // Last is cut to whole ones
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
