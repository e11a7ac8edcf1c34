package loader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Effect is what a fetch did to the repository.
type Effect int

// The effects.
const (
	// Changed: the fetch is in force and says something new; observers run.
	Changed Effect = iota
	// Renewed: the page is as it was; only the time of its last fetch moved.
	Renewed
	// Late: a newer fetch was there already, or this very one. Nothing changed.
	Late
	// Noted: the fetch failed, and was noted as the latest failure.
	Noted
)

// String names the effect.
func (e Effect) String() string {
	return [...]string{"changed", "renewed", "late", "failed"}[e]
}

// Admitter lets the loader in when the observers are not too far behind.
type Admitter interface {
	Admit(ctx context.Context) error
}

// Loader writes fetches.
type Loader struct {
	db      *txn.DB
	admit   Admitter
	changed func(row string)
}

// New makes a loader that waits for admit before each fetch, and calls changed
// with the row of each URL about which a fetch says something new, just before
// the fetch is committed.
func New(db *txn.DB, admit Admitter, changed func(row string)) *Loader {
	return &Loader{db: db, admit: admit, changed: changed}
}

// Load writes one fetch, and says what came of it. It may be called from many
// goroutines, also for one URL; a conflict is retried. Loading a fetch again
// changes nothing, so after an error, or a crash, the same fetches can be loaded
// from the start.
func (l *Loader) Load(ctx context.Context, f *page.Fetch) (Effect, error) {
	if err := l.admit.Admit(ctx); err != nil {
		return Late, fmt.Errorf("load %s: %w", f.URL, err)
	}
	p := prepare(f)
	var effect Effect
	_, err := l.db.Run(ctx, func(tx *txn.Txn) (err error) {
		effect, err = p.write(ctx, tx)
		if err == nil && effect == Changed {
			l.changed(p.row)
		}
		return err
	})
	if err != nil {
		return Late, fmt.Errorf("load %s fetched at %s: %w", f.URL, f.Time.Format(time.RFC3339), err)
	}
	return effect, nil
}

// prepared is a fetch with everything computed that needs no transaction.
type prepared struct {
	fetch   *page.Fetch
	row     string
	stamp   schema.FetchStamp
	content []byte
	body    []byte // packed; nil if it is not kept
}

func prepare(f *page.Fetch) *prepared {
	p := &prepared{fetch: f, row: schema.URLRow(f.URL)}
	if f.IsRevisit() || f.HasFailed() {
		return p
	}
	p.stamp = schema.FetchStamp{Time: f.Time, Sum: sha256.Sum256(f.Body)}
	p.content = schema.EncodeContent(f, p.stamp.Sum)
	return p
}

func (p *prepared) write(ctx context.Context, tx *txn.Txn) (Effect, error) {
	if _, err := tx.GetRow(ctx, p.row, schema.GroupFetch); err != nil {
		return Late, err
	}
	switch {
	case p.fetch.IsRevisit():
		return p.writeRevisit(ctx, tx)
	case p.fetch.HasFailed():
		return p.writeFailure(ctx, tx)
	}
	return p.writePayload(ctx, tx)
}

// writePayload lets the fetch decide if it is newer than the one in force.
func (p *prepared) writePayload(ctx context.Context, tx *txn.Txn) (Effect, error) {
	inForce, err := tx.Get(ctx, p.row, schema.FetchTime)
	if err != nil {
		return Late, err
	}
	said, err := tx.Get(ctx, p.row, schema.FetchContent)
	if err != nil {
		return Late, err
	}
	if inForce.Exists {
		stamp, err := schema.DecodeFetchStamp(inForce.Data)
		if err != nil {
			return Late, err
		}
		if !p.decidesOver(stamp, said.Data) {
			return Late, nil
		}
	}
	tx.Set(p.row, schema.FetchTime, p.stamp.Encode())
	if said.Exists && bytes.Equal(said.Data, p.content) {
		return Renewed, nil
	}
	tx.Set(p.row, schema.FetchContent, p.content)
	return Changed, p.writeBody(ctx, tx)
}

// decidesOver is semantics.md section 2. Two fetches with the same time and body
// can still differ in status or headers (two redirects within a second); then
// the greater content decides, so that it is not the order of arrival.
func (p *prepared) decidesOver(inForce schema.FetchStamp, said []byte) bool {
	if p.stamp.Time.Equal(inForce.Time) && p.stamp.Sum == inForce.Sum {
		return bytes.Compare(p.content, said) > 0
	}
	return p.stamp.Newer(inForce)
}

// writeBody keeps the body if it can be a page, and drops an earlier one if not.
func (p *prepared) writeBody(ctx context.Context, tx *txn.Txn) error {
	if p.fetch.NeedsBody() {
		if p.body == nil {
			p.body = schema.EncodeBody(p.fetch.Body)
		}
		tx.Set(p.row, schema.Body, p.body)
		return nil
	}
	old, err := tx.Get(ctx, p.row, schema.Body)
	if err != nil {
		return err
	}
	if old.Exists {
		tx.Delete(p.row, schema.Body)
	}
	return nil
}

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
		if !p.fetch.Time.After(t) {
			return Late, nil
		}
	}
	tx.Set(p.row, schema.FetchSeen, schema.EncodeTime(p.fetch.Time))
	return Renewed, nil
}

func (p *prepared) writeFailure(ctx context.Context, tx *txn.Txn) (Effect, error) {
	last, err := tx.Get(ctx, p.row, schema.FetchFailure)
	if err != nil {
		return Late, err
	}
	if last.Exists {
		l, err := schema.DecodeFailure(last.Data)
		if err != nil {
			return Late, err
		}
		if !p.fetch.Time.After(l.Time) {
			return Late, nil
		}
	}
	f := schema.Failure{Time: p.fetch.Time, Status: p.fetch.Status, Reason: p.fetch.Err}
	if f.Reason == "" {
		f.Reason = "HTTP status " + strconv.Itoa(f.Status)
	}
	tx.Set(p.row, schema.FetchFailure, f.Encode())
	return Noted, nil
}
