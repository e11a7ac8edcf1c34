package frontier

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// A URL that waits for its first visit lapses if it would no longer be queued: one of its
// parameters turned out to make no difference (variants.go), or the settings of the crawl became
// narrower. Due decides that, when the URL's turn comes. The entry of a lapsed URL stays, without
// a place in the queue. Whoever changes what the decision depends on queues such URLs again, and
// Due decides anew:
//
//   - relook, if the parameter makes a difference after all;
//   - Begin, if the settings of the crawl change;
//   - discover, if the URL turns out to be nearer to a seed.

// lapseAtOnce is how many queued URLs one transaction reads.
const lapseAtOnce = 256

// mayLapse reports whether a queued URL may be a variant that need not be fetched.
func mayLapse(e *schema.FrontierEntry) bool {
	return waitsForFirst(e) && !e.Kept && !e.Resource && e.Depth > 0 && e.Hops == 0
}

// waitsForFirst reports whether a URL waits for its first visit. One that a user asks for by name
// (Again) does not: it is queued as a revisit.
func waitsForFirst(e *schema.FrontierEntry) bool {
	return e.State == schema.EntryWaiting && !e.Revisit && e.Visits == 0
}

// refused says which setting refuses a URL that waits for its first visit; "" if none does.
func (f *Frontier) refused(u page.URL, e *schema.FrontierEntry) string {
	if !waitsForFirst(e) {
		return ""
	}
	d, ok := f.rules.Accepts(u, e.Depth, e.Resource)
	if ok {
		return ""
	}
	return d.Rule + ": it " + d.Why
}

// undecided reports whether jobs contains URLs that may have to lapse.
func (f *Frontier) undecided(ctx context.Context, p *parameters, host string, jobs []crawler.Job) (bool, error) {
	for _, j := range jobs {
		if r, ok := j.Ref.(ref); ok && f.refused(j.URL, &r.entry) != "" {
			return true, nil
		}
	}
	return p.undecided(ctx, host, jobs)
}

// lapse decides about the URLs at the front of a host's queue, until n of them stay. Afterwards
// the settings accept each of these, and each variant is the first of its kind, or a check.
func (f *Frontier) lapse(ctx context.Context, host string, n int) error {
	for from := schema.QueueNew(host); n > 0 && from != ""; {
		start, stay := from, 0
		_, err := f.db.Run(ctx, func(tx *txn.Txn) (err error) {
			from, stay, err = f.lapseSome(ctx, tx, host, start)
			return err
		})
		if err != nil {
			return fmt.Errorf("frontier: leave out URLs of %s: %w", host, err)
		}
		n -= stay
	}
	return nil
}

// lapseSome decides about some URLs of a queue from a row on. It returns how many stay, and where
// to continue; "" at the end of the queue.
func (f *Frontier) lapseSome(ctx context.Context, tx *txn.Txn, host, from string) (next string, stay int, err error) {
	if _, err := f.rules.Follow(ctx, tx); err != nil {
		return "", 0, err
	}
	p := newParameters(tx)
	jobs, _, _, err := part(ctx, tx, schema.QueueNew(host), from, f.now(), lapseAtOnce)
	if err != nil {
		return "", 0, err
	}
	for _, j := range jobs {
		old := j.Ref.(ref).entry
		stays, err := f.lapseOne(ctx, p, j.URL, old)
		if err != nil {
			return "", 0, err
		}
		if stays {
			stay++
		}
		next = schema.QueueRow(host, j.URL, old) + "\x00"
	}
	if len(jobs) < lapseAtOnce {
		next = ""
	}
	return next, stay, nil
}

// lapseOne decides about a URL, and reports whether it stays in the queue.
func (f *Frontier) lapseOne(ctx context.Context, p *parameters, u page.URL, old schema.FrontierEntry) (stays bool, err error) {
	why := f.refused(u, &old)
	if why == "" && mayLapse(&old) {
		what, first, err := p.sort(ctx, u, false)
		if err != nil {
			return false, err
		}
		switch what {
		case checkURL:
			now := old
			now.Kept = true
			put(p.tx, u, &old, now)
		case leaveURL:
			why = ParameterRule + ": " + p.why(u, first)
		}
	}
	if why == "" {
		return true, nil
	}
	now := old
	now.State, now.Lapsed, now.Note = schema.EntryRefused, true, why
	put(p.tx, u, &old, now)
	return false, nil
}

// resume queues a lapsed URL again.
func resume(tx *txn.Txn, u page.URL, old schema.FrontierEntry, why string) {
	now := old
	now.State, now.Lapsed, now.Note = schema.EntryWaiting, false, why
	put(tx, u, &old, now)
}

// resumeAll queues all lapsed URLs again.
func resumeAll(ctx context.Context, db *txn.DB) error {
	for from, more := "", true; more; {
		start := from
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			n := 0
			more = false
			return tx.Scan(ctx, schema.GroupFrontier, start, "", func(row string, _ []txn.Version) error {
				if n++; n > resumeAtOnce {
					from, more = row, true
					return txn.ErrStop
				}
				u, err := schema.ParseURLRow(row)
				if err != nil {
					return err
				}
				e, known, err := ReadEntry(ctx, tx, u)
				if err != nil || !known || !e.Lapsed {
					return err
				}
				resume(tx, u, e, "the settings of the crawl have changed")
				tx.Notify(crawler.HostOf(u), schema.HostReady)
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("frontier: queue again what was left out: %w", err)
		}
	}
	return nil
}

// resumeAtOnce is how many entries one transaction of resumeAll reads.
const resumeAtOnce = 500
