package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Asked is a URL that a user wants visited now.
type Asked struct {
	URL page.URL `json:"url"`
	// Due reports whether the URL is the next one requested from its host, as far as is
	// known; if not, Why says why.
	Due bool   `json:"due"`
	Why string `json:"why,omitempty"`
}

// askedNote is why such a URL is due.
const askedNote = "asked for by name (--again)"

// ErrNoCrawl says that there is no crawl that could visit a URL.
var ErrNoCrawl = errors.New("there is no crawl in this repository")

// Again makes URLs due now, ahead of all others of their hosts and whatever their
// schedule says. Scope still applies, except to resources, and so does robots.txt as far as
// it is known; its content at the time of the visit decides. URLs that the crawl does not
// know are added. Each URL takes one transaction.
func Again(ctx context.Context, db *txn.DB, urls []page.URL, now time.Time) ([]Asked, error) {
	config, seeds, ok, err := ReadConfig(ctx, db)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNoCrawl
	}
	rules, err := NewRules(db, config, seeds)
	if err != nil {
		return nil, err
	}
	list := make([]Asked, len(urls))
	for i, u := range urls {
		list[i].URL = u
		_, err := db.Run(ctx, func(tx *txn.Txn) (err error) {
			list[i].Why, err = askAgain(ctx, tx, rules, u, now)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("frontier: visit %s again: %w", u, err)
		}
		list[i].Due = list[i].Why == ""
	}
	return list, nil
}

// askAgain makes one URL due, or says why not.
func askAgain(ctx context.Context, tx *txn.Txn, rules *Rules, u page.URL, now time.Time) (why string, err error) {
	e, known, err := ReadEntry(ctx, tx, u)
	if err != nil {
		return "", err
	}
	old := e
	if !known {
		from, err := findSources(ctx, tx, u)
		if err != nil {
			return "", err
		}
		e = schema.FrontierEntry{Depth: from.depth, Source: "asked for by name"}
	}
	d, ok := rules.Accepts(u, e.Depth, e.Resource)
	if ok && !known { // a URL that is known has passed the trap rules before
		d, err = rules.Explain(ctx, u, e.Depth)
		if ok = d.OK; err != nil {
			return "", err
		}
	}
	if !ok {
		return d.Rule + ": it " + d.Why, nil
	}
	var i Inspection
	if _, err := i.readRobots(ctx, tx, u); err != nil {
		return "", err
	}
	if !i.RobotsAllowed {
		return "it is disallowed by " + i.Robots, nil
	}
	e.State, e.Refused, e.Lapsed, e.Kept, e.Asked = schema.EntryWaiting, false, false, true, true
	e.Revisit, e.Note = true, askedNote
	if e.Due, err = beforeAll(ctx, tx, crawler.HostOf(u), now); err != nil {
		return "", err
	}
	was := &old
	if !known {
		was = nil
	}
	put(tx, u, was, e)
	tx.Notify(crawler.HostOf(u), schema.HostReady)
	return "", nil
}

// beforeAll returns a time at which a revisit comes first in its host's queue.
func beforeAll(ctx context.Context, tx *txn.Txn, host string, now time.Time) (time.Time, error) {
	prefix := schema.QueueRevisits(host)
	err := tx.ScanPrefix(ctx, schema.GroupQueue, prefix, func(row string, _ []txn.Version) error {
		_, _, due, err := schema.ParseQueueRow(row)
		if err != nil {
			return err
		}
		if due.Before(now) {
			now = due
		}
		return txn.ErrStop
	})
	return now, err
}

// askedFirst puts the URLs that a user asked for before the others.
func askedFirst(jobs []crawler.Job) (asked, others []crawler.Job) {
	for _, j := range jobs {
		if r, ok := j.Ref.(ref); ok && r.entry.Asked {
			asked = append(asked, j)
		} else {
			others = append(others, j)
		}
	}
	return slices.Clip(asked), others
}

// Outcomes says what came of URLs that were asked for at the time since.
func Outcomes(ctx context.Context, db *txn.DB, list []Asked, since time.Time) (outcomes []Outcome, err error) {
	for _, a := range list {
		o := Outcome{URL: a.URL, Why: a.Why}
		if a.Due {
			i, err := Inspect(ctx, db, a.URL)
			if err != nil {
				return nil, err
			}
			o.fill(i, since)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// Outcome is what came of a URL that was asked for.
type Outcome struct {
	URL page.URL `json:"url"`
	// Visit is the visit that was made. If there was none it is nil, and Why says why.
	Visit *PastVisit `json:"visit,omitempty"`
	Why   string     `json:"why,omitempty"`
}

func (o *Outcome) fill(i *Inspection, since time.Time) {
	if i == nil {
		return
	}
	if n := len(i.History); n > 0 && !i.History[n-1].Time.Before(since.Truncate(time.Millisecond)) {
		o.Visit = &i.History[n-1]
		return
	}
	o.Why = cmp.Or(i.NotFetched, i.leftAlone, "the crawl ended before it")
}
