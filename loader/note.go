package loader

import (
	"cmp"
	"context"
	"strconv"

	"indexer/schema"
	"indexer/txn"
)

// Fetches that bring no payload leave a note, which no observer watches.

// writeRevisit renews the time that is shown, and nothing else: a payload that
// was fetched between the one in force and the revisit still counts when it
// arrives late.
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
	return Renewed, nil
}

// writeFailure notes the newest failure. What an earlier fetch said stays in
// force; of two failures at the same time the one with the greater status and
// reason is kept, so that it is not the order of arrival that decides.
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
