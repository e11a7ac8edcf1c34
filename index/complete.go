package index

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/index/completion"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// completions is the table of a reader. The first question makes it. A question after the
// index has changed makes it again, but so rarely that this takes at most a fiftieth of a
// processor. In between, the table is that of an earlier state: a title may appear in
// suggestions a minute late.
//
// No call waits for a table that another call is making: it gets the last table, or nothing.
// Making a table takes seconds for a large index, and until then visitors who type would keep
// all connections of the reader.
type completions struct {
	making sync.Mutex // held while the table is made

	mu    sync.Mutex
	table *completion.Table
	state State     // the table is made of this state
	until time.Time // the table is not made again before
}

// Bounds of how often the table is made.
const (
	completionsAge   = 10 * time.Second
	completionsShare = 50 // times as long as it took to make
)

// of returns the table for a state of the index, or an earlier one, or nil if there is none yet.
func (c *completions) of(ctx context.Context, state State, fill func(context.Context, *completion.Builder) error) (*completion.Table, error) {
	if table, usable := c.usable(state); usable || !c.making.TryLock() {
		return table, nil
	}
	defer c.making.Unlock()
	if table, usable := c.usable(state); usable { // it was made just now
		return table, nil
	}
	begun := time.Now()
	b := completion.NewBuilder(search.WithoutVersions)
	if err := fill(ctx, b); err != nil {
		return nil, err
	}
	table := b.Table()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table, c.state = table, state
	c.until = time.Now().Add(max(completionsAge, completionsShare*time.Since(begun)))
	return table, nil
}

// usable returns the table, and whether it need not be made again.
func (c *completions) usable(state State) (*completion.Table, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.table, c.table != nil && (c.state == state || time.Now().Before(c.until))
}

func (s *viewShard) Completions(ctx context.Context, q *search.CompletionQuestion) ([]search.Completion, error) {
	return s.v.completions.find(ctx, s.v.state, q, s.v.fillCompletions)
}

func (c *completions) find(ctx context.Context, state State, q *search.CompletionQuestion, fill func(context.Context, *completion.Builder) error) ([]search.Completion, error) {
	table, err := c.of(ctx, state, fill)
	if table == nil || err != nil {
		return nil, err
	}
	return table.Find(q.Typed, completion.Filter{Site: q.Site, Language: q.Language}, q.N), nil
}

// addCompletions adds the title and the anchors of a document, as they are stored.
func addCompletions(b *completion.Builder, url, language, title, anchors string, rank float64) (err error) {
	d := completion.Document{Host: search.HostOf(page.URL(url)), Language: language, Title: title, Rank: rank}
	if d.Anchors, err = completionAnchors(anchors); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	b.Add(&d)
	return nil
}

// fillCompletions adds the documents with the highest ranks.
func (v *View) fillCompletions(ctx context.Context, b *completion.Builder) error {
	return v.addHighest(ctx, b, completion.MaxDocuments)
}

// addHighest adds the n documents with the highest ranks, in the order of their rows.
func (v *View) addHighest(ctx context.Context, b *completion.Builder, n int) error {
	rows, err := v.tx.QueryContext(ctx, `SELECT d.url, d.language, d.title, d.anchors, r.rank
		FROM ranks r CROSS JOIN docs d ON d.id=r.id WHERE r.id IN (SELECT id FROM ranks ORDER BY rank DESC, id LIMIT ?)`, n)
	return eachRow(rows, err, func() error {
		var url, language, title, anchors string
		var rank float64
		if err := rows.Scan(&url, &language, &title, &anchors, &rank); err != nil {
			return err
		}
		return addCompletions(b, url, language, title, anchors, rank)
	})
}

// completionAnchors reads a stored list of anchors.
func completionAnchors(stored string) ([]completion.Anchor, error) {
	var anchors []Anchor
	if err := fromJSON([]byte(stored), &anchors); err != nil {
		return nil, err
	}
	all := 0
	for _, a := range anchors {
		all += votes(a)
	}
	list := make([]completion.Anchor, len(anchors))
	for i, a := range anchors {
		list[i] = completion.Anchor{Text: a.Text, Links: a.Count, Share: float64(votes(a)) / float64(cmp.Or(all, 1))}
	}
	return list, nil
}
