package inspect

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// PageVersion is the content that a URL has had since some moment.
type PageVersion struct {
	TS        uint64    `json:"ts"`         // commit timestamp, for Copy
	FetchedAt time.Time `json:"fetched_at"` // of the fetch that brought the content
	Status    int       `json:"status"`
	Digest    string    `json:"digest"` // SHA-256 of the body, in hexadecimal digits
	// Readable reports whether Copy can return it. Versions older than the history that is
	// kept (the setting history) are listed until garbage collection removes them.
	Readable bool `json:"readable"`
	// HasCopy reports whether its body can be shown: that of a page can, and that of a picture
	// cannot.
	HasCopy bool `json:"has_copy"`
}

// maxVersions bounds the result of Versions.
const maxVersions = 100

// Versions returns the contents that a URL has had and that are still stored, newest
// first, at most a hundred. A fetch that brought nothing new is not a version.
//
// It reads records, not a snapshot, so it also lists versions below the safe point that
// garbage collection has not reached yet. Only committed transactions have write records,
// so every listed version was real.
func Versions(ctx context.Context, db *txn.DB, u page.URL) ([]PageVersion, error) {
	stored, err := cellVersions(ctx, db, u, schema.FetchContent, func(content []byte) (v PageVersion, err error) {
		f, sum, err := schema.DecodeContent(content)
		f.URL = u
		return PageVersion{Status: f.Status, Digest: hex.EncodeToString(sum[:]), HasCopy: f.NeedsBody() && !f.Resource}, err
	})
	if err != nil {
		return nil, fmt.Errorf("versions of %s: %w", u, err)
	}
	list := []PageVersion{}
	safe, _, err := db.Oldest(ctx)
	if err != nil {
		return nil, fmt.Errorf("versions of %s: %w", u, err)
	}
	for i, s := range stored[:min(len(stored), maxVersions)] {
		if s.value != nil {
			v := *s.value
			v.TS, v.Readable = s.ts, i == 0 || s.ts >= safe
			list = append(list, v)
		}
	}
	return list, dateVersions(ctx, db, schema.URLRow(u), list)
}

// cellVersion is the content of a cell since a commit timestamp.
type cellVersion[T any] struct {
	ts, start uint64 // timestamps of the transaction
	value     *T     // nil: the cell was deleted
}

// cellVersions returns the versions of a cell of a URL that are still stored, newest first. decode
// takes from a value what the caller needs, because values may be large.
func cellVersions[T any](ctx context.Context, db *txn.DB, u page.URL, c txn.Column, decode func([]byte) (T, error)) ([]cellVersion[T], error) {
	row := schema.URLRow(u)
	var list []cellVersion[T]
	values := make(map[uint64]*T) // by start timestamp
	err := db.Records(ctx, c.Group, row, row+"\x00", func(rec txn.Record) error {
		if rec.Damage != nil {
			return rec.Damage
		}
		if rec.Cell.Row != row || rec.Cell.Column != c || rec.Kind != txn.KindWrite && rec.Kind != txn.KindData {
			return nil
		}
		if rec.Kind == txn.KindWrite {
			list = append(list, cellVersion[T]{ts: rec.TS, start: rec.Start})
		}
		if rec.Value == nil { // deleted, or in a separate record
			return nil
		}
		v, err := decode(rec.Value)
		if err != nil {
			return fmt.Errorf("at %d: %w", rec.TS, err)
		}
		values[rec.Start] = &v
		return nil
	})
	for i := range list {
		list[i].value = values[list[i].start]
	}
	slices.SortFunc(list, func(a, b cellVersion[T]) int { return cmp.Compare(b.ts, a.ts) })
	return list, err
}

// dateVersions sets FetchedAt. The transaction that wrote a version also wrote the stamp
// of its fetch, which later transactions may renew.
func dateVersions(ctx context.Context, db *txn.DB, row string, list []PageVersion) error {
	return db.Records(ctx, schema.GroupFetch, row, row+"\x00", func(rec txn.Record) error {
		if rec.Damage != nil || rec.Cell.Row != row || rec.Cell.Column != schema.FetchTime || rec.Kind != txn.KindWrite || !rec.Inline {
			return rec.Damage
		}
		for i := range list {
			// Stamps of this version were written at or after it, and before the next. If the one
			// that was written with it is gone, the newest stands in.
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

// ErrNoCopy means that no copy of a URL is stored, or that the copy of the requested time
// is no longer kept.
var ErrNoCopy = errors.New("there is no stored copy")

// Copy returns the fetch in force of a URL, with its body, as of a commit timestamp; 0
// means now. The error matches ErrNoCopy if no fetch or no body is stored, or if that time
// is no longer kept.
func Copy(ctx context.Context, db *txn.DB, u page.URL, at uint64) (*page.Fetch, error) {
	var f *page.Fetch
	read := func(tx *txn.Txn) (err error) {
		f, err = readCopy(ctx, tx, u)
		return err
	}
	err := readAt(ctx, db, at, read)
	if errors.Is(err, txn.ErrBelowSafePoint) {
		gone := err
		err = readAt(ctx, db, 0, func(tx *txn.Txn) error {
			content, err := tx.Get(ctx, schema.URLRow(u), schema.FetchContent)
			if err != nil {
				return err
			}
			if !content.Exists || content.TS > at {
				return gone
			}
			return read(tx) // what is in force now was in force then
		})
	}
	return f, noCopy("copy", u, err)
}

// noCopy returns the error for a failed read of a past state of a URL. It matches ErrNoCopy if that
// state is not kept.
func noCopy(what string, u page.URL, err error) error {
	switch {
	case errors.Is(err, txn.ErrBelowSafePoint):
		return fmt.Errorf("%w of %s from that time any more: %w", ErrNoCopy, u, err)
	case err != nil && !errors.Is(err, ErrNoCopy):
		return fmt.Errorf("%s of %s: %w", what, u, err)
	}
	return err
}

// readCopy reads the fetch in force of a URL with its time and body. The error matches ErrNoCopy if
// there is none, or no body.
func readCopy(ctx context.Context, tx *txn.Txn, u page.URL) (*page.Fetch, error) {
	f, err := schema.ReadInForce(ctx, tx, u)
	if err != nil {
		return nil, err
	}
	stamp, exists, err := schema.ReadFetchStamp(ctx, tx, u)
	if err != nil {
		return nil, err
	}
	if f == nil || !exists {
		return nil, fmt.Errorf("%w of %s: it was not fetched", ErrNoCopy, u)
	}
	f.Time = stamp.Time
	stored, err := f.ReadBody(ctx, tx)
	if err == nil && !stored {
		err = fmt.Errorf("%w of %s: the response has no text, so its body was not kept", ErrNoCopy, u)
	}
	if err != nil {
		return nil, err
	}
	return &f.Fetch, nil
}
