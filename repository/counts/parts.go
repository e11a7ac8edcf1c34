package counts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// A part is a group of counts that the same rows decide, whatever other rows say. A scan that
// can begin and end at any row counts it.
type part struct {
	name string
	// groups have the cells that decide the counts.
	groups []string
	// scan yields the items in a span, by key. A key is the beginning of all rows that
	// belong to it. An error is the last element.
	scan func(context.Context, *txn.Txn, span) iter.Seq2[item, error]
}

// A span is the rows from from up to, but without, to; "" means no bound.
type span struct{ from, to string }

// parts returns all parts. documents says whether documents without a text are counted.
func parts(documents bool) []part {
	if documents {
		return withDocuments
	}
	return withoutDocuments
}

var withDocuments, withoutDocuments = makeParts(true), makeParts(false)

func makeParts(documents bool) []part {
	known := []string{schema.GroupFetch, schema.GroupLink, schema.GroupPointer}
	if documents {
		known = append(known, schema.GroupURL)
	}
	return []part{
		{"links", []string{schema.GroupLink}, scanLinks},
		{"urls", known, func(ctx context.Context, tx *txn.Txn, in span) iter.Seq2[item, error] {
			return scanKnown(ctx, tx, in, documents)
		}},
		{"states", []string{schema.GroupURL}, scanStates},
		{"clusters", []string{schema.GroupMember, schema.GroupIndex}, scanClusters},
		{"ranks", []string{schema.GroupRank}, scanRanks},
	}
}

// scanLinks yields pair rows.
func scanLinks(ctx context.Context, tx *txn.Txn, in span) iter.Seq2[item, error] {
	return scan{group: schema.GroupLink, add: func(it *item, _, _ []byte) error {
		it.tally[links] = 1 // one, however many columns the row has: a list can have several parts
		return nil
	}}.items(ctx, tx, in)
}

// scanStates yields the outcomes of fetched URLs. A URL without a state has only failed fetches,
// or its document observer has not run yet.
func scanStates(ctx context.Context, tx *txn.Txn, in span) iter.Seq2[item, error] {
	return scan{group: schema.GroupURL, column: schema.State.Name, add: func(it *item, name, data []byte) error {
		if string(name) != schema.State.Name {
			return nil
		}
		state, err := schema.DecodeURLState(data)
		if err != nil {
			return fmt.Errorf("row %q: %w", it.key, err)
		}
		if field, ok := outcomes[state.Outcome]; ok {
			it.tally[field]++
		}
		return nil
	}}.items(ctx, tx, in)
}

var outcomes = map[page.Outcome]int{page.Page: pages, page.Redirect: redirects, page.Gone: gone, page.Other: other}

// scanClusters yields clusters that have a member or a document.
func scanClusters(ctx context.Context, tx *txn.Txn, in span) iter.Seq2[item, error] {
	cluster := func(row []byte) ([]byte, error) {
		k, _, err := schema.ParseMemberRow(string(row))
		return []byte(schema.ClusterRow(k)), err
	}
	members := scan{group: schema.GroupMember, key: cluster, add: func(it *item, _, _ []byte) error {
		it.tally[clusters] = 1
		return nil
	}}
	documents := scan{group: schema.GroupIndex, add: func(it *item, name, _ []byte) error {
		if string(name) == schema.Indexed.Name {
			it.tally[indexed]++
		}
		return nil
	}}
	return merge(members.items(ctx, tx, in), documents.items(ctx, tx, in))
}

// scanRanks yields the rank states of URLs.
func scanRanks(ctx context.Context, tx *txn.Txn, in span) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		err := observers.VisitRankStates(ctx, tx, in.from, in.to, func(row string, s schema.StoredRankState) error {
			it := item{key: row, cells: 1}
			it.tally.addRank(&s)
			if !yield(it, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(item{}, err)
		}
	}
}

// scanKnown yields the URLs known in any way: fetched URLs, targets of links, and targets of
// pointers.
func scanKnown(ctx context.Context, tx *txn.Txn, in span, documents bool) iter.Seq2[item, error] {
	all := merge(scanFetched(ctx, tx, in, documents), scanTargets(ctx, tx, in, schema.GroupLink), scanTargets(ctx, tx, in, schema.GroupPointer))
	return func(yield func(item, error) bool) {
		for it, err := range all {
			it.tally[urls] = 1
			if !yield(it, err) {
				return
			}
		}
	}
}

// scanFetched yields fetched URLs: which of them have only failed fetches and, if documents are
// indexed, which are documents without a text. If documents are not indexed, it reads no values.
func scanFetched(ctx context.Context, tx *txn.Txn, in span, documents bool) iter.Seq2[item, error] {
	column := ""
	if documents {
		column = schema.FetchContent.Name
	}
	return scan{group: schema.GroupFetch, column: column, add: func(it *item, name, data []byte) error {
		if it.cells == 1 && string(name) == schema.FetchFailure.Name { // the content would come before this column
			it.tally[failed] = 1
		}
		if data == nil {
			return nil
		}
		return countUnreadable(ctx, tx, it, data)
	}}.items(ctx, tx, in)
}

// countUnreadable counts a fetch in force if it is a document of a type that a setting adds, but
// has no text.
func countUnreadable(ctx context.Context, tx *txn.Txn, it *item, content []byte) error {
	if !schema.MayBeDocument(content) {
		return nil
	}
	f, _, err := schema.DecodeContent(content)
	if err != nil {
		return fmt.Errorf("row %q: %w", it.key, err)
	}
	switch {
	case f.Reading.Failed:
		it.tally[unreadablePDF]++
	case f.Office:
		v, err := tx.GetOnce(ctx, it.key, schema.State)
		if err != nil || !v.Exists {
			return err
		}
		s, err := schema.DecodeURLState(v.Data)
		if err != nil {
			return fmt.Errorf("row %q: %w", it.key, err)
		}
		if s.Outcome == page.Other {
			it.tally[unreadableOffice]++
		}
	}
	return nil
}

// manyRows is how many rows of a target scanTargets reads before it looks for the next target
// instead.
const manyRows = 10_000

// scanTargets yields the targets of the pair rows of a group.
func scanTargets(ctx context.Context, tx *txn.Txn, in span, group string) iter.Seq2[item, error] {
	targets := scan{
		group: group,
		key: func(row []byte) ([]byte, error) {
			target, _, _ := bytes.Cut(row, []byte{0})
			return target, nil
		},
		add: func(it *item, _, _ []byte) error {
			if it.cells == manyRows {
				return txn.ErrStop
			}
			return nil
		},
	}
	return func(yield func(item, error) bool) {
		rest := in
		for more := true; more; {
			more = false
			for it, err := range targets.items(ctx, tx, rest) {
				if !yield(it, err) {
					return
				}
				if it.cells == manyRows {
					rest.from, more = it.key+"\x01", true
				}
			}
		}
	}
}
