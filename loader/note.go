package loader

import (
	"cmp"
	"context"
	"strconv"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Fetches without a payload leave a note. Only a renewed time interests an observer.

// writeRevisit renews only the time that is shown. A payload that was fetched between the
// fetch in force and the revisit still counts if it arrives later.
func (p *prepared) writeRevisit(ctx context.Context, tx *txn.Txn) (Effect, error) {
	seen, err := tx.Get(ctx, p.row, schema.FetchSeen)
	if err != nil {
		return Late, err
	}
	if seen.Exists {
		t, err := schema.DecodeTime(seen.Data)
		if err != nil {
			return Late, err
		}
		if !p.time.After(t) {
			return Late, nil
		}
	}
	tx.Set(p.row, schema.FetchSeen, schema.EncodeTime(p.time))
	tx.Notify(p.row, schema.Refreshed)
	return Renewed, nil
}

// writeFailure records the newest failure. An earlier fetch stays in force. Of two failures
// at the same time, it keeps the one with the greater status and reason, so that the order
// of arrival does not matter.
func (p *prepared) writeFailure(ctx context.Context, tx *txn.Txn) (Effect, error) {
	f := schema.Failure{Time: p.time, Status: p.fetch.Status, Reason: p.fetch.Err}
	if f.Reason == "" {
		f.Reason = "HTTP status " + strconv.Itoa(f.Status)
	}
	last, err := tx.Get(ctx, p.row, schema.FetchFailure)
	if err != nil {
		return Late, err
	}
	if last.Exists {
		l, err := schema.DecodeFailure(last.Data)
		if err != nil {
			return Late, err
		}
		if cmp.Or(f.Time.Compare(l.Time), cmp.Compare(f.Status, l.Status), cmp.Compare(f.Reason, l.Reason)) <= 0 {
			return Late, nil
		}
	}
	tx.Set(p.row, schema.FetchFailure, f.Encode())
	return Noted, nil
}
