// Package counts counts what a repository holds, as of a snapshot.
package counts

import (
	"context"
	"fmt"
	"iter"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Counts says what a repository holds.
type Counts struct {
	URLs      int `json:"urls"` // fetched, linked to, or targets of redirects or canonical links
	Pages     int `json:"pages"`
	Redirects int `json:"redirects"`
	Gone      int `json:"gone"`
	Failed    int `json:"failed"` // every fetch failed
	Other     int `json:"other"`
	Clusters  int `json:"clusters"`
	Indexed   int `json:"indexed"`
	Links     int `json:"links"` // pairs of page and target

	Ranks Ranks `json:"ranks"`
}

// Read counts by scanning the small tables.
func Read(ctx context.Context, tx *txn.Txn) (c Counts, err error) {
	for _, count := range []func(context.Context, *txn.Txn) error{c.countURLs, c.countClusters, c.countKnown} {
		if err := count(ctx, tx); err != nil {
			return c, err
		}
	}
	c.Ranks, err = ReadRanks(ctx, tx)
	return c, err
}

// countURLs counts fetched URLs by outcome. A URL without a state has only failed fetches,
// or its document observer has not run yet.
func (c *Counts) countURLs(ctx context.Context, tx *txn.Txn) error {
	return tx.Scan(ctx, schema.GroupURL, "", "", func(row string, cols []txn.Version) error {
		for _, col := range cols {
			if col.Name != schema.State.Name {
				continue
			}
			state, err := schema.DecodeURLState(col.Data)
			if err != nil {
				return fmt.Errorf("row %q: %w", row, err)
			}
			c.countOutcome(state.Outcome)
		}
		return nil
	})
}

func (c *Counts) countOutcome(o page.Outcome) {
	switch o {
	case page.Page:
		c.Pages++
	case page.Redirect:
		c.Redirects++
	case page.Gone:
		c.Gone++
	case page.Other:
		c.Other++
	}
}

func (c *Counts) countClusters(ctx context.Context, tx *txn.Txn) error {
	last := ""
	err := tx.Scan(ctx, schema.GroupMember, "", "", func(row string, _ []txn.Version) error {
		k, _, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		if row := schema.ClusterRow(k); row != last {
			last = row
			c.Clusters++
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Scan(ctx, schema.GroupIndex, "", "", func(string, []txn.Version) error {
		c.Indexed++
		return nil
	})
}

// countKnown counts the URLs known in any way. It merges three scans that are sorted by the
// same key: fetched URLs, targets of links, and targets of pointers.
func (c *Counts) countKnown(ctx context.Context, tx *txn.Txn) error {
	var failed error
	fail := func(err error) { failed = err }
	links := func(string) { c.Links++ }
	fetched := c.fetchedRows(ctx, tx, fail)
	linked := targetRows(ctx, tx, schema.GroupLink, links, fail)
	pointedTo := targetRows(ctx, tx, schema.GroupPointer, nil, fail)
	for range distinct(fetched, linked, pointedTo) {
		c.URLs++
	}
	return failed
}

// fetchedRows yields the rows of fetched URLs, and counts the ones whose fetches all failed.
func (c *Counts) fetchedRows(ctx context.Context, tx *txn.Txn, fail func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		err := tx.Scan(ctx, schema.GroupFetch, "", "", func(row string, cols []txn.Version) error {
			onlyFailed := true
			for _, col := range cols {
				onlyFailed = onlyFailed && col.Name == schema.FetchFailure.Name
			}
			if onlyFailed {
				c.Failed++
			}
			if !yield(row) {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			fail(err)
		}
	}
}

// targetRows yields the target of each pair row.
func targetRows(ctx context.Context, tx *txn.Txn, group string, each func(string), fail func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		err := tx.Scan(ctx, group, "", "", func(row string, _ []txn.Version) error {
			if each != nil {
				each(row)
			}
			if !yield(schema.PairTarget(row)) {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			fail(err)
		}
	}
}

// distinct yields each string of several ascending sequences once.
func distinct(seqs ...iter.Seq[string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		heads := make([]*head, 0, len(seqs))
		for _, seq := range seqs {
			next, stop := iter.Pull(seq)
			defer stop()
			h := &head{next: next}
			h.advance()
			heads = append(heads, h)
		}
		for {
			least, ok := leastOf(heads)
			if !ok || !yield(least) {
				return
			}
			for _, h := range heads {
				for h.ok && h.value == least {
					h.advance()
				}
			}
		}
	}
}

// head is the first value of a sequence that was not yielded yet.
type head struct {
	next  func() (string, bool)
	value string
	ok    bool
}

func (h *head) advance() { h.value, h.ok = h.next() }

func leastOf(heads []*head) (least string, ok bool) {
	for _, h := range heads {
		if h.ok && (!ok || h.value < least) {
			least, ok = h.value, true
		}
	}
	return least, ok
}
