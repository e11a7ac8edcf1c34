package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// writeRanks writes the changes of a push run: to the rows, or as a journal if there are
// too many for one transaction. The next runs apply the journal, one part each, before
// rank does anything else: each continues (txn.Txn.Continue) at AppRow until no part is
// left.
//
// # Invariants
//
//  1. The journal has the parts from Next up to, but without, Parts of app:rank-journal, or
//     none if that cell does not exist. Rows ascend within each part and from part to part.
//  2. A run writes a journal only if there is none, and writes no other rank state while
//     there is one. It applies a part, removes it, and moves Next in one transaction.
//     Every run writes app:rank-journal or reads it for update, so two overlapping runs
//     conflict.
//  3. While there is a journal, AppRow has a notification for rank.
//
// So the rank states that count are those of the journal, and for other rows those in the
// rows (VisitRankStates). In every snapshot they are exactly what the last push run left.
// A crash between two parts leaves the remaining parts and the notification.
//
// The Rank in each row, which other observers read, is updated part by part. Each of these
// ranks is within the tolerance. Only rerank and index compare it with other ranks of the
// same snapshot, and rank wakes them.
func writeRanks(ctx context.Context, tx *txn.Txn, run *pagerank.Run) error {
	parts, direct := run.Finish()
	written := 0
	for changes := range parts {
		if direct {
			return applyChanges(ctx, tx, changes)
		}
		tx.Set(schema.JournalRow(written), schema.RankPart, encodePart(changes))
		written++
	}
	if written > 0 {
		tx.Set(schema.AppRow, schema.RankJournal, schema.StoredJournal{Parts: written}.Encode())
		tx.Continue(schema.AppRow, schema.Push)
	}
	return nil
}

// applyPart brings the next part of a journal to its rows.
func applyPart(ctx context.Context, tx *txn.Txn, journal schema.StoredJournal) error {
	changes, err := readPart(ctx, tx, journal.Next)
	if err != nil {
		return err
	}
	if err := applyChanges(ctx, tx, changes); err != nil {
		return err
	}
	tx.Delete(schema.JournalRow(journal.Next), schema.RankPart)
	if journal.Next++; journal.Next == journal.Parts {
		tx.Delete(schema.AppRow, schema.RankJournal)
		return nil
	}
	tx.Set(schema.AppRow, schema.RankJournal, journal.Encode())
	tx.Continue(schema.AppRow, schema.Push)
	return nil
}

// applyChanges writes rank states to their rows, and wakes the observers that depend on
// them.
func applyChanges(ctx context.Context, tx *txn.Txn, changes []pagerank.Change) error {
	for i, c := range changes {
		if i%rowsAhead == 0 {
			if err := readChangesAhead(ctx, tx, changes[i:min(len(changes), i+rowsAhead)]); err != nil {
				return err
			}
		}
		// The run has read the state, but the transaction did not remember it
		// (rankRows.State). The transaction has to know which version it replaces: otherwise
		// garbage collection looks for that version, which costs ten times as much.
		if _, err := tx.Get(ctx, c.Node, schema.RankState); err != nil {
			return err
		}
		if c.State.Inlinks == 0 && c.State.Out == 0 {
			tx.Delete(c.Node, schema.RankState)
		} else {
			tx.Set(c.Node, schema.RankState, schema.StoredRankState(c.State).Encode())
		}
		if c.Again {
			tx.Notify(c.Node, schema.Push)
		}
		if !c.Moved {
			continue
		}
		if err := wakeCluster(ctx, tx, c.Node); err != nil {
			return fmt.Errorf("cluster of %q: %w", c.Node, err)
		}
	}
	return nil
}

// readChangesAhead reads ahead what applyChanges reads of these rows.
func readChangesAhead(ctx context.Context, tx *txn.Txn, changes []pagerank.Change) error {
	if !tx.Shared() {
		return nil
	}
	rows := make([]string, len(changes))
	for i := range changes {
		rows[i] = changes[i].Node
	}
	return tx.ReadAhead(ctx, txn.Ahead{Rows: rows, Columns: []txn.Column{schema.RankState, schema.Chain}})
}

// wakeCluster wakes rerank at the member row of a URL, if it has one.
func wakeCluster(ctx context.Context, tx *txn.Txn, row string) error {
	chain, err := readChain(ctx, tx, row)
	if err != nil || len(chain) == 0 {
		return err
	}
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return err
	}
	if m, ok := coreChain(chain).Membership(u); ok {
		tx.Notify(schema.MemberRow(m.Key, schema.MemberInfo(m.Member)), schema.Ranked)
	}
	return nil
}

// readJournal reads the remaining journal, for a transaction that may write rank
// states.
func readJournal(ctx context.Context, tx *txn.Txn) (schema.StoredJournal, error) {
	v, err := tx.GetForUpdate(ctx, schema.AppRow, schema.RankJournal)
	if err != nil {
		return schema.StoredJournal{}, err
	}
	return schema.DecodeJournal(v.Data)
}

func readPart(ctx context.Context, tx *txn.Txn, part int) ([]pagerank.Change, error) {
	row := schema.JournalRow(part)
	v, err := tx.GetOnce(ctx, row, schema.RankPart)
	if err != nil {
		return nil, err
	}
	list, err := schema.DecodeRankPart(v.Data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", row, err)
	}
	changes := make([]pagerank.Change, len(list))
	for i, p := range list {
		changes[i] = pagerank.Change{Node: p.Row, State: pagerank.State(p.State), Moved: p.Moved, Again: p.Again}
	}
	return changes, nil
}

func encodePart(changes []pagerank.Change) []byte {
	list := make([]schema.RankChange, len(changes))
	for i, c := range changes {
		list[i] = schema.RankChange{Row: c.Node, State: schema.StoredRankState(c.State), Moved: c.Moved, Again: c.Again}
	}
	return schema.EncodeRankPart(list)
}
