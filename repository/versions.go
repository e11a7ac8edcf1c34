package repository

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// PageVersion is what a URL said from some moment on.
type PageVersion struct {
	TS        uint64    `json:"ts"`         // commit timestamp, for Copy
	FetchedAt time.Time `json:"fetched_at"` // of the fetch that brought it
	Status    int       `json:"status"`
	Digest    string    `json:"digest"` // SHA-256 of the body, in hexadecimal digits
	// Readable is whether Copy can give it: older ones may be kept for a while longer
	// than they can be read (the setting history).
	Readable bool `json:"readable"`
}

// maxVersions bounds what Versions lists.
const maxVersions = 100

// Versions lists what a URL said over time, the newest first, as far as it is stored
// still: at most a hundred. Fetches that brought nothing new make no version.
//
// It reads records, not a snapshot: what is below the safe point is listed as long as
// the garbage collection has not come by. A record of a transaction that has not
// committed is no write record, so nothing is listed that did not happen.
func (r *Repository) Versions(ctx context.Context, u page.URL) ([]PageVersion, error) {
	row := schema.URLRow(u)
	var writes []txn.Record
	data := make(map[uint64][]byte) // by start timestamp
	err := r.db.Records(ctx, schema.GroupFetch, row, row+"\x00", func(rec txn.Record) error {
		switch {
		case rec.Damage != nil:
			return rec.Damage
		case rec.Cell.Row != row || rec.Cell.Column != schema.FetchContent:
		case rec.Kind == txn.KindData:
			data[rec.Start] = slices.Clone(rec.Value)
		case rec.Kind == txn.KindWrite && len(writes) < maxVersions:
			rec.Value = slices.Clone(rec.Value)
			writes = append(writes, rec)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("versions of %s: %w", u, err)
	}
	list := []PageVersion{}
	safe := r.db.SafePoint()
	for i, w := range writes {
		if !w.Inline {
			w.Value = data[w.Start]
		}
		if w.Value == nil {
			continue // a removal
		}
		f, sum, err := schema.DecodeContent(w.Value)
		if err != nil {
			return nil, fmt.Errorf("versions of %s at %d: %w", u, w.TS, err)
		}
		v := PageVersion{TS: w.TS, Status: f.Status, Digest: hex.EncodeToString(sum[:]), Readable: i == 0 || w.TS >= safe}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b PageVersion) int { return cmp.Compare(b.TS, a.TS) })
	return list, r.dateVersions(ctx, row, list)
}

// dateVersions finds when each version was fetched: its own transaction wrote the
// stamp, which later transactions renew.
func (r *Repository) dateVersions(ctx context.Context, row string, list []PageVersion) error {
	return r.db.Records(ctx, schema.GroupFetch, row, row+"\x00", func(rec txn.Record) error {
		if rec.Damage != nil || rec.Cell.Row != row || rec.Cell.Column != schema.FetchTime || rec.Kind != txn.KindWrite || !rec.Inline {
			return rec.Damage
		}
		for i := range list {
			// The newest stamp of the version: written at or after it, and before the next.
			if rec.TS < list[i].TS || i > 0 && rec.TS >= list[i-1].TS {
				continue
			}
			stamp, err := schema.DecodeFetchStamp(rec.Value)
			if err != nil {
				return err
			}
			if hex.EncodeToString(stamp.Sum[:]) == list[i].Digest && (list[i].FetchedAt.IsZero() || rec.TS == list[i].TS) {
				list[i].FetchedAt = stamp.Time
			}
		}
		return nil
	})
}

// ErrNoCopy: there is no stored copy of a URL, or none of that time any more.
var ErrNoCopy = errors.New("there is no stored copy")

// Copy is what was fetched of a URL, with its body, as of a commit timestamp; 0 is
// now. It matches ErrNoCopy where nothing, or no body, is stored, and where that time
// is no longer kept.
func (r *Repository) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	release := r.db.Hold()
	defer release()
	last := r.db.LastTimestamp()
	if at == 0 || at > last {
		at = last
	}
	tx := r.db.At(at)
	defer tx.Rollback()
	f, err := readCopy(ctx, tx, u)
	switch {
	case errors.Is(err, txn.ErrBelowSafePoint):
		return nil, fmt.Errorf("%w of %s from that time any more: %w", ErrNoCopy, u, err)
	case err != nil && !errors.Is(err, ErrNoCopy):
		return nil, fmt.Errorf("copy of %s: %w", u, err)
	}
	return f, err
}

func readCopy(ctx context.Context, tx *txn.Txn, u page.URL) (*page.Fetch, error) {
	row := schema.URLRow(u)
	content, err := tx.Get(ctx, row, schema.FetchContent)
	if err != nil {
		return nil, err
	}
	stamp, err := tx.Get(ctx, row, schema.FetchTime)
	if err != nil {
		return nil, err
	}
	body, err := tx.Get(ctx, row, schema.Body)
	switch {
	case err != nil:
		return nil, err
	case !content.Exists || !stamp.Exists:
		return nil, fmt.Errorf("%w of %s: it was not fetched", ErrNoCopy, u)
	case !body.Exists:
		return nil, fmt.Errorf("%w of %s: what was fetched has no text, and no body was kept", ErrNoCopy, u)
	}
	f, _, err := schema.DecodeContent(content.Data)
	if err != nil {
		return nil, err
	}
	s, err := schema.DecodeFetchStamp(stamp.Data)
	if err != nil {
		return nil, err
	}
	f.URL, f.Time = u, s.Time
	f.Body, err = schema.DecodeBody(body.Data)
	return &f, err
}
