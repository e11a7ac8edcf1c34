// Package loader writes fetches into the repository, each in its own transaction, whose
// writes wake the observers. The loader interprets fetches only to break a tie
// (precedence.go).
//
// It implements semantics.md section 2: among the fetches of a URL that have a payload
// and did not fail, the newest by fetch time decides, whatever the order of arrival. A
// fetch with the same content as the one in force renews its time, in a column without
// observers.
//
//	writes   fetch:time, fetch:content, body:body of the fetch in force (bodies of pages, and
//	         of resources while pages are rendered);
//	         icon:sum or icon:square, and body:icon of it, if it is an icon;
//	         fetch:seen (newest revisit), fetch:failure (newest failure)
//	wakes    document (fetch:content), if the content is new; refresh (weak), if only the
//	         time that is shown is
package loader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Effect is what a fetch did to the repository.
type Effect int

// The effects.
const (
	// Changed: the fetch is in force and its content is new. Observers run.
	Changed Effect = iota
	// Renewed: the page is unchanged. Only the time of its last fetch changed.
	Renewed
	// Late: a newer fetch was loaded before, or the same one. Nothing changed.
	Late
	// Noted: the fetch failed, and was recorded as the latest failure.
	Noted
)

// String returns the name of the effect.
func (e Effect) String() string {
	return [...]string{"changed", "renewed", "late", "failed"}[e]
}

// Admitter is the pipeline that processes what is loaded.
type Admitter interface {
	// Admit delays the loader while the observers are too far behind.
	Admit(ctx context.Context) error
	// Loading tells the pipeline that the loader is at work, until end is called.
	Loading() (end func())
}

// Loader writes fetches.
type Loader struct {
	// PDF reads PDF documents, if the setting of the repository says that they are pages. nil:
	// they are not pages.
	PDF PDFReader

	db      *txn.DB
	admit   Admitter
	changed func(row string)
}

// New returns a loader that waits for admit before each fetch. Just before it commits a
// fetch with new content, it calls changed with the row of the URL.
func New(db *txn.DB, admit Admitter, changed func(row string)) *Loader {
	return &Loader{db: db, admit: admit, changed: changed}
}

// retryFor is how long a load waits for a server that does not answer: the table's, or the
// oracle's. A restart takes seconds, and a fail-over a minute. If a repair takes longer,
// the operator can repeat the load afterwards.
const retryFor = 10 * time.Minute

// Load writes one fetch and returns its effect. It is safe for concurrent use, even for one
// URL; it retries conflicts, and waits for a server that does not answer. Loading a fetch
// again changes nothing, so after an error or a crash the same fetches can be loaded from the
// start.
func (l *Loader) Load(ctx context.Context, f *page.Fetch) (Effect, error) {
	defer l.Loading()()
	p := prepare(f)
	return l.persist(ctx, func() (Effect, error) {
		return l.once(ctx, p, func(context.Context, *txn.Txn, Effect) error { return nil })
	})
}

// LoadAnd loads a fetch and calls also in the same transaction, so that a crash leaves both
// effects or neither. It may call also several times, each time in a new transaction.
func (l *Loader) LoadAnd(ctx context.Context, f *page.Fetch, also func(context.Context, *txn.Txn, Effect) error) (Effect, error) {
	defer l.Loading()()
	return l.once(ctx, prepare(f), also)
}

// persist repeats a load while a server does not answer. If the outcome of an attempt is
// unknown, repeating it is harmless.
func (l *Loader) persist(ctx context.Context, load func() (Effect, error)) (Effect, error) {
	began, pause := time.Now(), 100*time.Millisecond
	for {
		effect, err := load()
		if !txn.Temporary(err) || time.Since(began) > retryFor {
			return effect, err
		}
		if ended := sleep.For(ctx, pause); ended != nil {
			return effect, errors.Join(ended, err)
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// once makes one attempt at a load.
func (l *Loader) once(ctx context.Context, p *prepared, also func(context.Context, *txn.Txn, Effect) error) (Effect, error) {
	f := p.loaded
	if err := l.admit.Admit(ctx); err != nil {
		return Late, fmt.Errorf("load %s: %w", f.URL, err)
	}
	effect, err := l.write(ctx, p, also)
	if errors.Is(err, errUnread) {
		if err = p.read(ctx, l.PDF); err == nil {
			effect, err = l.write(ctx, p, also)
		}
	}
	if errors.Is(err, store.ErrTooLarge) {
		effect, err = l.write(ctx, prepare(unreadable(f)), also)
	}
	if err != nil {
		return Late, fmt.Errorf("load %s fetched at %s: %w", f.URL, f.Time.Format(time.RFC3339), err)
	}
	return effect, nil
}

// Loading announces, until end is called, that a fetch will be loaded soon, so that
// observers do not mistake the time before it for spare time. Load and LoadAnd call it themselves.
func (l *Loader) Loading() (end func()) { return l.admit.Loading() }

func (l *Loader) write(ctx context.Context, p *prepared, also func(context.Context, *txn.Txn, Effect) error) (effect Effect, err error) {
	_, err = l.db.Run(ctx, func(tx *txn.Txn) (err error) {
		effect, err = p.write(ctx, tx, l.PDF)
		if err != nil {
			return err
		}
		if effect == Changed {
			l.changed(p.row)
		}
		return also(ctx, tx, effect)
	})
	return effect, err
}

// unreadable turns a fetch that is too large for the store into a failed fetch, like one
// whose body cannot be read. An error would end the load of all other fetches.
func unreadable(f *page.Fetch) *page.Fetch {
	return &page.Fetch{
		URL: f.URL, Time: f.Time, Status: f.Status,
		Err: fmt.Sprintf("body of %d bytes is too large to be stored", len(f.Body)),
	}
}

// prepared is a fetch with everything that can be computed outside a transaction.
type prepared struct {
	loaded  *page.Fetch // the caller's fetch
	fetch   *page.Fetch // as it is written
	row     string
	time    time.Time
	stamp   schema.FetchStamp
	plain   []byte // schema.EncodeContent of page.Fetch.Plain
	content []byte
	body    []byte // packed; nil if not kept
	icon    page.IconUse

	reading *reading // reading of a PDF document; nil if it has not been read
	adopted bool     // the body is stored: it was read when an earlier fetch with this body was loaded
}

func prepare(f *page.Fetch) *prepared {
	p := &prepared{loaded: f, fetch: f, row: schema.URLRow(f.URL), time: schema.StorableTime(f.Time)}
	if f.IsRevisit() || f.HasFailed() {
		return p
	}
	p.stamp = schema.FetchStamp{Time: p.time, Sum: sha256.Sum256(f.Body)}
	p.content = schema.EncodeContent(f, p.stamp.Sum)
	p.plain = p.content
	if f.Office || f.Resource || f.Reading.Exists() {
		p.plain = schema.EncodeContent(f.Plain(), p.stamp.Sum)
	}
	p.icon = f.IconUse()
	return p
}

func (p *prepared) write(ctx context.Context, tx *txn.Txn, pdf PDFReader) (Effect, error) {
	switch {
	case p.fetch.IsRevisit():
		return p.writeRevisit(ctx, tx)
	case p.fetch.HasFailed():
		return p.writeFailure(ctx, tx)
	}
	return p.writePayload(ctx, tx, pdf)
}

// writePayload puts the fetch in force if it decides over the current one.
func (p *prepared) writePayload(ctx context.Context, tx *txn.Txn, pdf PDFReader) (Effect, error) {
	now, err := readInForce(ctx, tx, p.row)
	if err != nil {
		return Late, err
	}
	if err := p.addIcon(ctx, tx, now); err != nil {
		return Late, err
	}
	order, err := p.compare(now)
	if err != nil || order < 0 {
		return Late, err
	}
	if err := p.matchSettings(ctx, tx, pdf, now); err != nil {
		return Late, err
	}
	same := bytes.Equal(now.content, p.content)
	if order == 0 && same {
		return Late, nil
	}
	tx.Set(p.row, schema.FetchTime, p.stamp.Encode())
	if same {
		tx.Notify(p.row, schema.Refreshed)
		return Renewed, nil
	}
	tx.Set(p.row, schema.FetchContent, p.content)
	if err := p.writeIcon(ctx, tx, now); err != nil {
		return Late, err
	}
	return Changed, p.writeBody(ctx, tx, !now.exists())
}

// matchSettings makes the fetch what the current settings of the repository say.
func (p *prepared) matchSettings(ctx context.Context, tx *txn.Txn, pdf PDFReader, now stored) error {
	if err := p.matchOffice(ctx, tx); err != nil {
		return err
	}
	if err := p.matchRender(ctx, tx); err != nil {
		return err
	}
	return p.matchPDF(ctx, tx, pdf, now)
}

// matchOffice makes an office document a page or not, by the current setting of the
// repository. If the setting is on, matchOffice reads it for update: a load that saw it on
// does not commit once it is off.
func (p *prepared) matchOffice(ctx context.Context, tx *txn.Txn) error {
	if !p.fetch.IsOffice() {
		return nil
	}
	setting, err := schema.OfficeFormat.Read(ctx, tx)
	if err != nil {
		return err
	}
	on := setting.Holds()
	if on {
		if _, err := tx.GetForUpdate(ctx, schema.AppRow, schema.Office); err != nil {
			return err
		}
	}
	if on != p.fetch.Office {
		f := *p.fetch
		f.Office = on
		p.replace(f)
	}
	return nil
}

// replace changes what is written. The fetch of the caller stays as it is.
func (p *prepared) replace(f page.Fetch) {
	p.fetch, p.content, p.body = &f, schema.EncodeContent(&f, p.stamp.Sum), nil
}

// matchRender keeps or drops the body of a resource according to the current setting of
// rendering. Unlike matchOffice it does not read the setting for update: a page loads many
// resources, and loads that read the same cell for update conflict with each other. A load that
// began while the setting was on, and commits after it was turned off by another process, leaves
// a body that nobody reads. This is harmless.
func (p *prepared) matchRender(ctx context.Context, tx *txn.Txn) error {
	if !p.fetch.IsResource() {
		return nil
	}
	setting, err := schema.ReadRender(ctx, tx)
	if err != nil {
		return err
	}
	if keep := setting.Mode() != schema.RenderOff; keep != p.fetch.Resource {
		f := *p.fetch
		f.Resource = keep
		p.replace(f)
	}
	return nil
}

// writeBody stores the body if it can be a page or is kept for rendering, and otherwise deletes
// an earlier body. The first fetch in force finds none.
func (p *prepared) writeBody(ctx context.Context, tx *txn.Txn, first bool) error {
	if p.adopted {
		return nil // it is already stored
	}
	if p.fetch.NeedsBody() {
		if p.body == nil {
			if err := schema.CheckSize(len(p.fetch.Body)); err != nil {
				return err
			}
			p.body = schema.EncodeBody(p.fetch.Body)
		}
		if first {
			tx.Create(p.row, schema.Body, p.body)
		} else {
			tx.Set(p.row, schema.Body, p.body)
		}
		return nil
	}
	if first {
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
