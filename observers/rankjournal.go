package observers

import (
	"context"
	"fmt"
	"iter"

	"indexer/schema"
	"indexer/txn"
)

// A run of rank whose masses are too many for its own transaction writes them as a
// journal. The next runs apply it, one part each, before rank does anything else: each
// continues (txn.Txn.Continue) at AppRow until no part is left.
//
// # Invariants
//
//  1. The journal has the parts from Next to below Parts of app:rank-journal, or none
//     without it. Each has ascending rows, and they ascend from part to part.
//  2. A run writes a journal only where there is none, and no other mass while there is
//     one. It applies a part, removes it, and moves Next, in one transaction. Every run
//     writes app:rank-journal or gets it for update: of two that meet, one has a conflict.
//  3. While there is a journal, AppRow has a notification for rank.
//
// So the masses that count are those of the journal where it has the row, and else those
// of the rows (VisitRankStates): in every snapshot they are what the last run of rank left,
// as a whole. A crash between two parts leaves the others, and the notification.
//
// What is published of ranks (the Rank of a mass in its row) follows part by part. Each
// of these ranks is within the tolerance by itself, and nobody compares them with others of the
// same snapshot but rerank and index, which rank wakes.
func applyPart(ctx context.Context, tx *txn.Txn, journal schema.StoredJournal) error {
	list, err := readPart(ctx, tx, journal.Next)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := applyMass(ctx, tx, p); err != nil {
			return err
		}
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

// readJournal says what is left of the journal, for one who may write masses.
func readJournal(ctx context.Context, tx *txn.Txn) (schema.StoredJournal, error) {
	v, err := tx.GetForUpdate(ctx, schema.AppRow, schema.RankJournal)
	if err != nil {
		return schema.StoredJournal{}, err
	}
	return schema.DecodeJournal(v.Data)
}

func readPart(ctx context.Context, tx *txn.Txn, part int) ([]schema.Posting, error) {
	row := schema.JournalRow(part)
	v, err := tx.GetOnce(ctx, row, schema.RankPart)
	if err != nil {
		return nil, err
	}
	list, err := schema.DecodePostings(v.Data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", row, err)
	}
	return list, nil
}

// VisitRankStates calls fn for the masses of all URLs that have one, by row, as the last run
// of rank left them.
func VisitRankStates(ctx context.Context, tx *txn.Txn, fn func(row string, m schema.StoredRankState) error) error {
	next, stop := iter.Pull2(postings(ctx, tx))
	defer stop()
	first, failed, ok := next()
	// before visits those of the journal that come before a row.
	before := func(row string, all bool) error {
		for ; ok && (all || failed != nil || first.Row < row); first, failed, ok = next() {
			if failed != nil {
				return failed
			}
			if err := visitPosting(first, fn); err != nil {
				return err
			}
		}
		return nil
	}
	err := tx.Scan(ctx, schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
		if err := before(row, false); err != nil || ok && first.Row == row {
			return err // the row's own comes with the next one, or at the end
		}
		for _, c := range cols {
			if c.Name == schema.RankState.Name {
				m, err := schema.DecodeRankState(c.Data)
				if err != nil {
					return fmt.Errorf("row %q: %w", row, err)
				}
				return fn(row, m)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return before("", true)
}

func visitPosting(p schema.Posting, fn func(row string, m schema.StoredRankState) error) error {
	if p.State.Inlinks == 0 && p.State.Out == 0 {
		return nil // the row goes
	}
	return fn(p.Row, p.State)
}

// postings are the lines of the journal, by row. An error is the last of them.
func postings(ctx context.Context, tx *txn.Txn) iter.Seq2[schema.Posting, error] {
	return func(yield func(schema.Posting, error) bool) {
		v, err := tx.Get(ctx, schema.AppRow, schema.RankJournal)
		var journal schema.StoredJournal
		if err == nil {
			journal, err = schema.DecodeJournal(v.Data)
		}
		for ; err == nil && journal.Next < journal.Parts; journal.Next++ {
			var list []schema.Posting
			list, err = readPart(ctx, tx, journal.Next)
			for _, p := range list {
				if !yield(p, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(schema.Posting{}, err)
		}
	}
}
