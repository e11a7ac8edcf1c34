package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Inspection is what the crawl knows about a URL, and why it treats the URL as it does.
type Inspection struct {
	// State is waiting, refused or done; "unknown" for a URL that was never queued.
	State string `json:"state"`
	// Rule is the scope or trap rule that decides under the current settings, and Why
	// explains it.
	Rule string `json:"rule"`
	Why  string `json:"why"`
	// Robots is the robots.txt rule that decides. While the file has not been fetched,
	// RobotsUnknown is set, and nothing is disallowed.
	Robots        string        `json:"robots,omitempty"`
	RobotsAllowed bool          `json:"robots_allowed"`
	RobotsUnknown bool          `json:"robots_unknown,omitempty"`
	Depth         int           `json:"depth"`
	Source        string        `json:"source,omitempty"` // where it was found
	Visits        int           `json:"visits"`
	Last          *time.Time    `json:"last_visit,omitempty"`
	Next          *time.Time    `json:"next_visit,omitempty"` // due at once if it is past
	Interval      time.Duration `json:"interval_ns,omitempty"`
	Strikes       int           `json:"strikes,omitempty"`
	Note          string        `json:"note,omitempty"` // why it is due when it is, or was refused
	// NotFetched says why the URL was not fetched, or why its visits gave nothing
	// usable; "" if there is nothing to explain.
	NotFetched string `json:"not_fetched,omitempty"`
	// History holds the last visits, oldest first, at most schema.MaxHistory.
	History []PastVisit `json:"history,omitempty"`

	leftAlone string // why, and until when, the host is left alone; "" if it is not
}

// unknownState is the state of a URL that is not in the frontier.
const unknownState = "unknown"

// PastVisit is one visit of a URL.
type PastVisit struct {
	Time   time.Time `json:"time"`
	Status int       `json:"status"` // 0: there was no response
	// Effect is changed, unchanged, not modified (304), failed, set aside (a 404 that
	// does not count yet), or withdrawn (not a visit: robots.txt disallows the URL).
	Effect       string `json:"effect"`
	Bytes        int64  `json:"bytes"` // received
	Milliseconds int64  `json:"ms"`
}

// Inspect returns what the crawl knows about a URL; nil if there is no crawl.
func Inspect(ctx context.Context, db *txn.DB, u page.URL) (*Inspection, error) {
	config, seeds, ok, err := ReadConfig(ctx, db)
	if err != nil || !ok {
		return nil, err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	e, known, err := ReadEntry(ctx, tx, u)
	if err != nil {
		return nil, err
	}
	i := &Inspection{State: unknownState}
	var from sources
	if known {
		i.fill(e)
	} else {
		if from, err = findSources(ctx, tx, u); err != nil {
			return nil, err
		}
		i.Depth = from.depth
	}
	rules, err := NewRules(db, config, seeds)
	if err != nil {
		return nil, err
	}
	d, err := i.decide(ctx, tx, rules, u, &e)
	if err != nil {
		return nil, err
	}
	i.Rule, i.Why = d.Rule, d.Why
	host, err := i.readRobots(ctx, tx, u)
	if err != nil {
		return nil, err
	}
	i.explain(e, d, from, &host, time.Now())
	if d, ok := rules.Accepts(u, e.Depth, e.Resource); known && waitsForFirst(&e) && !ok {
		i.NotFetched = d.Rule + ": it " + d.Why
	}
	beyond := ""
	if known {
		beyond, err = beyondLimit(ctx, tx, u, e, config.MaxPagesPerHost)
	}
	if beyond != "" {
		i.NotFetched = beyond
	}
	return i, err
}

// decide returns what the current settings decide about the URL with this entry.
func (i *Inspection) decide(ctx context.Context, tx *txn.Txn, rules *Rules, u page.URL, e *schema.FrontierEntry) (scope.Decision, error) {
	d, err := rules.Explain(ctx, u, i.Depth)
	if err != nil {
		return d, fmt.Errorf("frontier: rules for %s: %w", u, err)
	}
	if d.OK && (i.State == unknownState || e.Lapsed) {
		why, err := newParameters(tx).explain(ctx, u)
		if err != nil {
			return d, fmt.Errorf("frontier: parameters of %s: %w", u, err)
		}
		if why != "" {
			d = scope.Decision{Rule: ParameterRule, Why: why}
		}
	}
	if e.Resource {
		d = scope.Decision{OK: true, Rule: resourceRule, Why: whatResource(u, e)}
	}
	return d, nil
}

// InspectAt returns what the crawl knew about a URL in the snapshot of a transaction;
// nil if it did not know the URL. It leaves out the deciding rule: only the current
// rules are stored.
func InspectAt(ctx context.Context, tx *txn.Txn, u page.URL) (*Inspection, error) {
	e, known, err := ReadEntry(ctx, tx, u)
	if err != nil || !known {
		return nil, err
	}
	i := &Inspection{}
	i.fill(e)
	_, err = i.readRobots(ctx, tx, u)
	return i, err
}

func (i *Inspection) fill(e schema.FrontierEntry) {
	i.State, i.Depth, i.Source, i.Visits = e.State.String(), e.Depth, e.Source, e.Visits
	if e.IsRefused() {
		i.State = schema.EntryRefused.String()
	}
	for _, v := range e.History {
		i.History = append(i.History, PastVisit{
			Time: v.Time, Status: v.Status, Effect: v.Effect.String(), Bytes: v.Bytes, Milliseconds: v.Took.Milliseconds(),
		})
	}
	i.Interval, i.Strikes, i.Note = e.Interval, e.Strikes, e.Note
	if !e.Last.IsZero() {
		i.Last = &e.Last
	}
	if e.State == schema.EntryWaiting && !e.Due.IsZero() {
		i.Next = &e.Due
	}
}

// readRobots reads the state of the URL's host, and what its robots.txt says.
func (i *Inspection) readRobots(ctx context.Context, tx *txn.Txn, u page.URL) (host crawler.HostState, err error) {
	v, err := tx.Get(ctx, crawler.HostOf(u), schema.HostState)
	if err != nil {
		return host, err
	}
	if v.Exists {
		if host, err = crawler.DecodeHost(v.Data); err != nil {
			return host, fmt.Errorf("frontier: %s: %w", crawler.HostOf(u), err)
		}
	}
	if v := host.Robots.Verdict; v == robots.Unknown || v == robots.Follow {
		i.Robots, i.RobotsAllowed, i.RobotsUnknown = "the host's robots.txt has not been fetched yet", true, true
		return host, nil
	}
	allowed, rule := host.Allowed(page.RobotName, u)
	i.Robots, i.RobotsAllowed = rule.String(), allowed
	return host, nil
}

// HostQueue is what waits at one host.
type HostQueue struct {
	Host     string     `json:"host"`
	New      int        `json:"new"`      // URLs never fetched
	Revisits int        `json:"revisits"` // URLs to be visited again
	Next     *time.Time `json:"next_revisit,omitempty"`
	// BackingOff is the time until which the host is left alone, and Why the reason.
	BackingOff *time.Time `json:"backing_off_until,omitempty"`
	Why        string     `json:"why,omitempty"`
	// Pages is how many URLs were visited; Beyond is how many of the new ones exceed
	// the limit of pages per host.
	Pages  int `json:"pages"`
	Beyond int `json:"beyond_limit,omitempty"`
	// Ignored are the query parameters that make no difference on this host.
	Ignored []string `json:"ignored_parameters,omitempty"`
}

// HostQueues lists the hosts that have something waiting, in order. It reads the whole
// queue.
func HostQueues(ctx context.Context, db *txn.DB) ([]HostQueue, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var list []HostQueue
	err = tx.Scan(ctx, schema.GroupQueue, "", "", func(row string, _ []txn.Version) error {
		host, _, due, err := schema.ParseQueueRow(row)
		if err != nil {
			return err
		}
		if n := len(list); n == 0 || list[n-1].Host != host {
			list = append(list, HostQueue{Host: host})
		}
		list[len(list)-1].count(due)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: read the queues: %w", err)
	}
	config, _, err := storedConfig(ctx, tx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].readState(ctx, tx, config.MaxPagesPerHost); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// CountDue counts the URLs that were never fetched and the revisits that are due.
func CountDue(ctx context.Context, db *txn.DB, now time.Time) (fresh, revisits int, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback()
	err = tx.Scan(ctx, schema.GroupQueue, "", "", func(row string, _ []txn.Version) error {
		_, _, due, err := schema.ParseQueueRow(row)
		switch {
		case err != nil:
			return err
		case due.IsZero():
			fresh++
		case !due.After(now):
			revisits++
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("frontier: count what is due: %w", err)
	}
	config, _, err := storedConfig(ctx, tx)
	if err != nil || config.MaxPagesPerHost == 0 {
		return fresh, revisits, err
	}
	hosts, err := HostQueues(ctx, db) // URLs beyond the limit are not due
	for _, h := range hosts {
		fresh -= h.Beyond
	}
	return max(fresh, 0), revisits, err
}

// count counts a row. Revisits come in the order in which they are due.
func (h *HostQueue) count(due time.Time) {
	if due.IsZero() {
		h.New++
		return
	}
	if h.Revisits++; h.Next == nil {
		h.Next = &due
	}
}

func (h *HostQueue) readState(ctx context.Context, tx *txn.Txn, limit int) (err error) {
	if h.Pages, err = pagesOf(ctx, tx, h.Host); err != nil {
		return fmt.Errorf("frontier: count the pages of %s: %w", h.Host, err)
	}
	if limit > 0 {
		h.Beyond = max(h.New-max(limit-h.Pages, 0), 0)
	}
	params, err := newParameters(tx).of(ctx, h.Host)
	if err != nil {
		return err
	}
	h.Ignored = params.ignored
	v, err := tx.Get(ctx, h.Host, schema.HostState)
	if err != nil || !v.Exists {
		return err
	}
	state, err := crawler.DecodeHost(v.Data)
	if err != nil {
		return fmt.Errorf("frontier: %s: %w", h.Host, err)
	}
	if until, why := state.LeftAlone(time.Now()); why != "" {
		h.BackingOff, h.Why = &until, why
	}
	return nil
}
