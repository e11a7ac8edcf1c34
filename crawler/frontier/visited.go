package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Visited implements crawler.Frontier. One transaction loads the fetch and moves the
// entry. A visit that has nothing to load only moves the entry.
func (f *Frontier) Visited(ctx context.Context, v crawler.Visit) error {
	move := func(ctx context.Context, tx *txn.Txn, effect loader.Effect) error {
		if err := f.guard(ctx, tx, crawler.HostOf(v.Job.URL), string(v.Job.URL)); err != nil {
			return err
		}
		return update(ctx, tx, v.Job, func(e *schema.FrontierEntry) error {
			if e.Visits == 0 {
				if err := countVisit(ctx, tx, crawler.HostOf(v.Job.URL)); err != nil {
					return err
				}
			}
			f.afterVisit(e, v, effect)
			return nil
		})
	}
	defer f.load.Loading()() // also while it waits for the lock
	if v.Job.Visits == 0 {
		defer f.counting.lock(crawler.HostOf(v.Job.URL))()
	}
	var err error
	if v.Fetch.URL == "" {
		_, err = f.db.Run(ctx, func(tx *txn.Txn) error { return move(ctx, tx, loader.Late) })
	} else {
		_, err = f.load.LoadAnd(ctx, &v.Fetch, move)
	}
	if err != nil {
		return fmt.Errorf("frontier: visit of %s: %w", v.Job.URL, err)
	}
	return nil
}

func (f *Frontier) afterVisit(e *schema.FrontierEntry, v crawler.Visit, effect loader.Effect) {
	e.Visits++
	e.Claim, e.Refused, e.Lapsed, e.Asked, e.Weight = time.Time{}, false, false, false, 0
	// A visit that has nothing to load leaves a withdrawn page withdrawn.
	e.Withdrawn = v.Withdrawn || e.Withdrawn && v.Fetch.URL == ""
	e.Remember(pastVisit(v, effect))
	e.Last = v.Fetch.Time
	if e.Last.IsZero() {
		e.Last = f.now()
	}
	e.Strikes, e.Note = v.Strikes, v.Note
	// Validators belong to the fetch in force. If that is not a page, no validators
	// are kept: a 304 to those of the previous page would renew the redirect.
	if f := &v.Fetch; f.URL != "" && !f.IsRevisit() && !f.HasFailed() {
		e.ETag, e.LastModified = "", ""
		if f.IsSuccess() {
			e.ETag, e.LastModified = f.Header.Get("ETag"), f.Header.Get("Last-Modified")
		}
	}
	due, interval := v.Next(effect == loader.Changed)
	e.Interval, e.Due, e.Revisit = interval, due, true
	e.State = schema.EntryWaiting
	if due.IsZero() {
		e.State = schema.EntryDone
	}
}

// update changes the current entry of a job.
func update(ctx context.Context, tx *txn.Txn, j crawler.Job, change func(*schema.FrontierEntry) error) error {
	old, known, err := ReadEntry(ctx, tx, j.URL)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("%s is not in the frontier", j.URL)
	}
	now := old
	if err := change(&now); err != nil {
		return err
	}
	put(tx, j.URL, &old, now)
	return nil
}

// Refuse implements crawler.Frontier. A page that may no longer be fetched leaves the
// index through a fetch with status 410 and the rule in a header field of our own. It
// is a fetch like any other, so the index remains a function of the fetches.
func (f *Frontier) Refuse(ctx context.Context, r crawler.Refusal) error {
	refuse := func(ctx context.Context, tx *txn.Txn, _ loader.Effect) error {
		if err := f.guard(ctx, tx, crawler.HostOf(r.Job.URL), string(r.Job.URL)); err != nil {
			return err
		}
		return update(ctx, tx, r.Job, func(e *schema.FrontierEntry) error {
			f.afterRefusal(e, r)
			return nil
		})
	}
	var err error
	if r.Gone {
		gone := crawler.Withdrawal(r.Job.URL, r.At, r.Rule)
		_, err = f.load.LoadAnd(ctx, &gone, refuse)
	} else {
		_, err = f.db.Run(ctx, func(tx *txn.Txn) error { return refuse(ctx, tx, loader.Late) })
	}
	if err != nil {
		return fmt.Errorf("frontier: refuse %s: %w", r.Job.URL, err)
	}
	return nil
}

func (f *Frontier) afterRefusal(e *schema.FrontierEntry, r crawler.Refusal) {
	e.State, e.Note, e.Claim, e.Asked = schema.EntryRefused, r.Rule+": "+r.Why, time.Time{}, false
	if r.Gone {
		e.Last, e.Withdrawn = r.At, true
		e.Remember(schema.PastVisit{Time: r.At, Effect: schema.VisitWithdrawn})
		// Forget the validators: a 304 to them would not bring the page back.
		e.ETag, e.LastModified, e.Interval, e.Strikes = "", "", 0, 0
	}
	if !r.Again.IsZero() {
		e.State, e.Refused, e.Revisit, e.Due = schema.EntryWaiting, true, true, r.Again
	}
}

// pastVisit is the history's record of a visit.
func pastVisit(v crawler.Visit, effect loader.Effect) schema.PastVisit {
	f := &v.Result.Fetch
	p := schema.PastVisit{
		Time: f.Time, Status: f.Status, Took: v.Result.Timings.Total,
		Bytes: int64(len(v.Result.HeaderBlock) + len(v.Result.Payload)),
	}
	switch {
	case v.Withdrawn:
		p.Effect = schema.VisitWithdrawn
	case v.Fetch.URL == "":
		p.Effect = schema.VisitSetAside
	case effect == loader.Changed:
		p.Effect = schema.VisitChanged
	case effect == loader.Noted:
		p.Effect = schema.VisitFailed
	case f.IsRevisit():
		p.Effect = schema.VisitNotModified
	default:
		p.Effect = schema.VisitUnchanged
	}
	return p
}

// LoadHost implements crawler.Frontier.
func (f *Frontier) LoadHost(ctx context.Context, host string) ([]byte, error) {
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	v, err := tx.Get(ctx, host, schema.HostState)
	if err != nil {
		return nil, fmt.Errorf("frontier: state of %s: %w", host, err)
	}
	return v.Data, nil
}

// SaveHost implements crawler.Frontier.
func (f *Frontier) SaveHost(ctx context.Context, host string, state []byte) error {
	_, err := f.db.Run(ctx, func(tx *txn.Txn) error {
		if err := f.guard(ctx, tx, host, host); err != nil {
			return err
		}
		tx.Set(host, schema.HostState, state)
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: state of %s: %w", host, err)
	}
	return nil
}
