package observers

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// RankTolerance reads the bound on the relative error of published ranks.
func RankTolerance(ctx context.Context, tx *txn.Txn) (float64, error) {
	v, err := tx.Get(ctx, schema.AppRow, schema.RankTolerance)
	if err != nil {
		return 0, err
	}
	return schema.DecodeTolerance(v.Data)
}

// readRankState reads the rank state of a URL.
func readRankState(ctx context.Context, tx *txn.Txn, row string) (schema.StoredRankState, error) {
	v, err := tx.Get(ctx, row, schema.RankState)
	if err != nil {
		return schema.StoredRankState{}, err
	}
	return schema.DecodeRankState(v.Data)
}

// rankStateOnce does what readRankState does, for a state that the transaction need not remember.
func rankStateOnce(ctx context.Context, tx *txn.Txn, row string) (schema.StoredRankState, error) {
	v, err := tx.GetOnce(ctx, row, schema.RankState)
	if err != nil {
		return schema.StoredRankState{}, err
	}
	return schema.DecodeRankState(v.Data)
}

// VisitRankStates calls fn with the rank state of each URL that has one, as the last push run left
// it, in the order of rows from start up to, but without, end; "" means no bound.
func VisitRankStates(ctx context.Context, tx *txn.Txn, start, end string, fn func(row string, s schema.StoredRankState) error) error {
	journal := func(yield func(pagerank.Change, error) bool) {
		for c, err := range journalChanges(ctx, tx) {
			if inside := c.Node >= start && (end == "" || c.Node < end); (err != nil || inside) && !yield(c, err) {
				return
			}
		}
	}
	for c, err := range pagerank.Overlay(storedRankStates(ctx, tx, start, end), journal) {
		if err == nil {
			err = fn(c.Node, schema.StoredRankState(c.State))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadRankGraph reads, in one scan of the rank rows, the link graph along whose edges
// ranks were passed at a snapshot. Its nodes are URL rows.
func ReadRankGraph(ctx context.Context, tx *txn.Txn) (*pagerank.Graph, error) {
	g, err := pagerank.BuildGraph(rankNodes(ctx, tx), journalChanges(ctx, tx))
	return g, withAdvice(err)
}

// readLinkGraph reads the graph of ReadRankGraph in the form that settle uses.
func readLinkGraph(ctx context.Context, tx *txn.Txn) (*pagerank.LinkGraph, error) {
	g, err := pagerank.BuildLinkGraph(rankNodes(ctx, tx), journalChanges(ctx, tx))
	return g, withAdvice(err)
}

// withAdvice adds to an error about an inconsistent graph what to do about it.
func withAdvice(err error) error {
	if errors.Is(err, pagerank.ErrInconsistent) {
		return fmt.Errorf("%w; run `indexer verify` for details", err)
	}
	return err
}

// rankNodes yields the rank rows. An error is the last element.
func rankNodes(ctx context.Context, tx *txn.Txn) iter.Seq2[pagerank.Node, error] {
	return func(yield func(pagerank.Node, error) bool) {
		err := tx.Scan(ctx, schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
			n := pagerank.Node{Name: row, Targets: schema.EdgeTargets(cols)}
			for _, c := range cols {
				if c.Name != schema.RankState.Name {
					continue
				}
				s, err := schema.DecodeRankState(c.Data)
				if err != nil {
					return fmt.Errorf("row %q: %w", row, err)
				}
				n.State, n.Stated = pagerank.State(s), true
			}
			if !yield(n, nil) {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			yield(pagerank.Node{}, err)
		}
	}
}

func storedRankStates(ctx context.Context, tx *txn.Txn, start, end string) iter.Seq2[pagerank.Change, error] {
	return func(yield func(pagerank.Change, error) bool) {
		err := tx.ScanCells(ctx, schema.GroupRank, start, end, schema.RankState.Name, func(row, name, data []byte) error {
			if string(name) != schema.RankState.Name {
				return nil
			}
			s, err := schema.DecodeRankState(data)
			if err != nil {
				return fmt.Errorf("row %q: %w", row, err)
			}
			if !yield(pagerank.Change{Node: string(row), State: pagerank.State(s)}, nil) {
				return txn.ErrStop
			}
			return nil
		})
		if err != nil {
			yield(pagerank.Change{}, err)
		}
	}
}

// HasRankJournal reports whether some rank states are only in the journal (rankjournal.go).
func HasRankJournal(ctx context.Context, tx *txn.Txn) (bool, error) {
	v, err := tx.Get(ctx, schema.AppRow, schema.RankJournal)
	return v.Exists, err
}

// journalChanges yields the remaining changes of the journal, in the order of rows. It
// stops after an error.
func journalChanges(ctx context.Context, tx *txn.Txn) iter.Seq2[pagerank.Change, error] {
	return func(yield func(pagerank.Change, error) bool) {
		v, err := tx.Get(ctx, schema.AppRow, schema.RankJournal)
		var journal schema.StoredJournal
		if err == nil {
			journal, err = schema.DecodeJournal(v.Data)
		}
		for ; err == nil && journal.Next < journal.Parts; journal.Next++ {
			var changes []pagerank.Change
			changes, err = readPart(ctx, tx, journal.Next)
			for _, c := range changes {
				if !yield(c, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(pagerank.Change{}, err)
		}
	}
}
