package frontier

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Rules decide by scope and trap rules.
type Rules struct {
	Scope *scope.Scope
	Traps *scope.Traps
	// PagesPerHost is how many URLs of a host are visited; 0: no limit.
	PagesPerHost int

	version uint64 // of the settings, where others may change them
}

// NewRules makes the rules of a crawl. The trap rules read what they count from the
// frontier when they first need it.
func NewRules(db *txn.DB, c Config, seeds []page.URL) (*Rules, error) {
	s, err := scope.New(c.scope(), seeds)
	if err != nil {
		return nil, err
	}
	t, err := scope.NewTraps(scope.DefaultTrapConfig(), taken(db))
	if err != nil {
		return nil, err
	}
	return &Rules{Scope: s, Traps: t, PagesPerHost: c.MaxPagesPerHost}, nil
}

// Decide decides about a URL that was found. Seeds are exempt from trap rules, because
// a user asked for them by name.
func (r *Rules) Decide(ctx context.Context, u page.URL, depth int) (scope.Decision, error) {
	d := r.Scope.Decide(u, depth)
	if !d.OK || d.Rule == "scope.seed" {
		return d, nil
	}
	return r.Traps.Check(ctx, u)
}

// DecideResource decides about a resource that a page requested when it was rendered. A
// session id is no reason to refuse it: the page requested exactly this URL.
func (r *Rules) DecideResource(ctx context.Context, u page.URL) (scope.Decision, error) {
	if d, excluded := r.Scope.Excludes(u); excluded {
		return d, nil
	}
	d, err := r.Traps.Check(ctx, u)
	if err == nil && (d.OK || d.Rule == "trap.session") {
		d = scope.Decision{OK: true, Rule: resourceRule, Why: "is needed by a page that is rendered"}
	}
	return d, err
}

// Accepts reports whether the settings, which may have changed, take a URL that was queued. It
// does not count refusals.
func (r *Rules) Accepts(u page.URL, depth int, resource bool) (scope.Decision, bool) {
	if d := r.Scope.Explain(u, depth); !d.OK && (!resource || d.Rule == "scope.exclude") {
		return d, false
	}
	return scope.Decision{}, true
}

// Explain returns the rule that decides on a URL.
func (r *Rules) Explain(ctx context.Context, u page.URL, depth int) (scope.Decision, error) {
	d := r.Scope.Explain(u, depth)
	if !d.OK || d.Rule == "scope.seed" {
		return d, nil
	}
	trap, err := r.Traps.Explain(ctx, u)
	if err != nil || !trap.OK {
		return trap, err
	}
	return d, nil
}

// Counts returns the refusals by rule.
func (r *Rules) Counts() map[string]int64 {
	counts := r.Scope.Counts()
	maps.Copy(counts, r.Traps.Counts())
	return counts
}

// taken lists the URLs of a site that the frontier holds.
func taken(db *txn.DB) scope.Taken {
	return func(ctx context.Context, site string) iter.Seq2[page.URL, error] {
		return func(yield func(page.URL, error) bool) {
			if err := eachOfSite(ctx, db, site, yield); err != nil {
				yield("", err)
			}
		}
	}
}

func eachOfSite(ctx context.Context, db *txn.DB, site string, yield func(page.URL, error) bool) error {
	root, err := page.ParseURL(site + "/")
	if err != nil {
		return fmt.Errorf("frontier: site %q: %w", site, err)
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return tx.ScanPrefix(ctx, schema.GroupFrontier, root.SiteKey(), func(row string, _ []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		if !yield(u, nil) {
			return txn.ErrStop
		}
		return nil
	})
}
