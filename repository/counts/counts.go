// Package counts counts what a repository holds, as of a snapshot.
package counts

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Version is the version of the meaning of Counts. It rises when Read counts anything in
// another way, because counts are stored (repository/closed.go).
const Version = 2

// Counts says what a repository holds.
type Counts struct {
	URLs      int `json:"urls"` // fetched, linked to, or targets of redirects or canonical links
	Pages     int `json:"pages"`
	Redirects int `json:"redirects"`
	Gone      int `json:"gone"`
	Failed    int `json:"failed"` // every fetch failed
	Other     int `json:"other"`
	// Unreadable are those of Other that are documents without a text that can be read.
	Unreadable observers.Unreadable `json:"unreadable,omitzero"`
	Clusters   int                  `json:"clusters"`
	Indexed    int                  `json:"indexed"`
	Links      int                  `json:"links"` // pairs of page and target

	Ranks Ranks `json:"ranks"`
}

// Read counts by scanning the small tables.
func Read(ctx context.Context, tx *txn.Txn) (c Counts, err error) {
	for _, count := range c.parts() {
		if err := count(ctx, tx); err != nil {
			return c, err
		}
	}
	return c, nil
}

// ReadAtOnce is Read with all tables at the same time, each in a transaction of its own from at.
// These read at one timestamp, and ReadAtOnce rolls them back.
func ReadAtOnce(ctx context.Context, at func(context.Context) (*txn.Txn, error)) (c Counts, err error) {
	g, ctx := errgroup.WithContext(ctx)
	for _, count := range c.parts() {
		g.Go(func() error {
			tx, err := at(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			return count(ctx, tx)
		})
	}
	err = g.Wait()
	return c, err
}

// parts set different fields of c. The first takes longest.
func (c *Counts) parts() []func(context.Context, *txn.Txn) error {
	return []func(context.Context, *txn.Txn) error{c.countKnown, c.countURLs, c.countClusters, c.readRanks}
}

func (c *Counts) readRanks(ctx context.Context, tx *txn.Txn) (err error) {
	c.Ranks, err = ReadRanks(ctx, tx)
	return err
}

// countURLs counts fetched URLs by outcome. A URL without a state has only failed fetches,
// or its document observer has not run yet.
func (c *Counts) countURLs(ctx context.Context, tx *txn.Txn) error {
	return tx.ScanCells(ctx, schema.GroupURL, schema.State.Name, func(row, name, data []byte) error {
		if string(name) != schema.State.Name {
			return nil
		}
		state, err := schema.DecodeURLState(data)
		if err != nil {
			return fmt.Errorf("row %q: %w", row, err)
		}
		c.countOutcome(state.Outcome)
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
	var last []byte
	err := tx.ScanCells(ctx, schema.GroupMember, "", func(row, _, _ []byte) error {
		if len(last) > 0 && bytes.HasPrefix(row, last) {
			return nil
		}
		k, _, err := schema.ParseMemberRow(string(row))
		if err != nil {
			return err
		}
		last = append(last[:0], schema.ClusterRow(k)...)
		c.Clusters++
		return nil
	})
	if err != nil {
		return err
	}
	return tx.ScanCells(ctx, schema.GroupIndex, "", func(_, name, _ []byte) error {
		if string(name) == schema.Indexed.Name {
			c.Indexed++
		}
		return nil
	})
}

// countKnown counts the URLs known in any way. It merges three scans that are sorted by the
// same key: fetched URLs, targets of links, and targets of pointers.
func (c *Counts) countKnown(ctx context.Context, tx *txn.Txn) error {
	documents, err := hasDocuments(ctx, tx)
	if err != nil {
		return err
	}
	var failed error
	fail := func(err error) { failed = cmp.Or(failed, err) }
	fetched := c.fetchedRows(ctx, tx, documents, fail)
	linked := targetRows(ctx, tx, schema.GroupLink, &c.Links, fail)
	pointedTo := targetRows(ctx, tx, schema.GroupPointer, nil, fail)
	for range distinct(fetched, linked, pointedTo) {
		c.URLs++
	}
	return failed
}

// hasDocuments reports whether documents of some format are indexed.
func hasDocuments(ctx context.Context, tx *txn.Txn) (bool, error) {
	for _, f := range []*schema.Format{&schema.PDFFormat, &schema.OfficeFormat} {
		if setting, err := f.Read(ctx, tx); err != nil || setting.Holds() {
			return true, err
		}
	}
	return false, nil
}

// fetchedRows yields the rows of fetched URLs, and counts the ones whose fetches all failed, and
// documents without a text, if documents are indexed. It reads no values otherwise.
func (c *Counts) fetchedRows(ctx context.Context, tx *txn.Txn, documents bool, fail func(error)) iter.Seq[string] {
	column := ""
	if documents {
		column = schema.FetchContent.Name
	}
	return func(yield func(string) bool) {
		var last []byte
		onlyFailed := false
		endRow := func() {
			if onlyFailed {
				c.Failed++
			}
		}
		err := tx.ScanCells(ctx, schema.GroupFetch, column, func(row, name, data []byte) error {
			first := last == nil || !bytes.Equal(row, last)
			if first {
				endRow()
				last, onlyFailed = append(last[:0], row...), true
			}
			onlyFailed = onlyFailed && string(name) == schema.FetchFailure.Name
			if data != nil {
				if err := c.countUnreadable(ctx, tx, row, data); err != nil {
					return err
				}
			}
			if first && !yield(string(row)) {
				return txn.ErrStop
			}
			return nil
		})
		endRow()
		if err != nil {
			fail(err)
		}
	}
}

// countUnreadable counts a fetch in force if it is a document that is indexed with a setting, but
// has no text.
func (c *Counts) countUnreadable(ctx context.Context, tx *txn.Txn, row, content []byte) error {
	if !schema.MayBeDocument(content) {
		return nil
	}
	f, _, err := schema.DecodeContent(content)
	if err != nil {
		return fmt.Errorf("row %q: %w", row, err)
	}
	switch {
	case f.Reading.Failed:
		c.Unreadable.PDF++
	case f.Office:
		v, err := tx.GetOnce(ctx, string(row), schema.State)
		if err != nil || !v.Exists {
			return err
		}
		s, err := schema.DecodeURLState(v.Data)
		if err != nil {
			return fmt.Errorf("row %q: %w", row, err)
		}
		if s.Outcome == page.Other {
			c.Unreadable.Office++
		}
	}
	return nil
}

// targetRows yields the target of the pair rows of a group, each once, and adds the number of
// pair rows to pairs if that is not nil.
func targetRows(ctx context.Context, tx *txn.Txn, group string, pairs *int, fail func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		var last []byte   // the last row
		var prefix []byte // of all rows with the same target
		err := tx.ScanCells(ctx, group, "", func(row, _, _ []byte) error {
			if bytes.Equal(row, last) { // another column: a list in parts
				return nil
			}
			last = append(last[:0], row...)
			if pairs != nil {
				*pairs++
			}
			if len(prefix) > 0 && bytes.HasPrefix(row, prefix) {
				return nil
			}
			target := schema.PairTarget(string(row))
			prefix = append(prefix[:0], row[:min(len(row), len(target)+1)]...)
			if !yield(target) {
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
