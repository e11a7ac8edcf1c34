package batch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"time"

	"github.com/webindexer/indexer/page"
)

// Builder collects the deciding fetch of each URL. It interprets bodies as they
// arrive and does not keep them. It is not safe for concurrent use.
type Builder struct {
	urls map[page.URL]*decision
}

// decision holds the facts about a fetched URL.
type decision struct {
	doc page.Document

	// decided says that a fetch with a payload has been added; until then
	// doc is empty. time and body are those of that fetch, for comparison with later ones.
	decided bool
	time    time.Time
	body    [sha256.Size]byte

	renewed time.Time // newest revisit, zero if there was none
}

// New returns an empty Builder.
func New() *Builder {
	return &Builder{urls: make(map[page.URL]*decision)}
}

// Add adds one fetch; fetches may come in any order (semantics.md section 2).
//
// The newest fetch by time decides; of two with the same time, the one whose body
// has the greater SHA-256 decides. A failed fetch never displaces one that succeeded,
// whatever its time. A revisit only renews the displayed time.
func (b *Builder) Add(f *page.Fetch) {
	d := b.at(f.URL)
	if f.IsRevisit() {
		if f.Time.After(d.renewed) {
			d.renewed = f.Time
		}
		return
	}
	doc := page.Interpret(f)
	body := sha256.Sum256(f.Body)
	if !d.decided || d.yieldsTo(&doc, f.Time, body) {
		d.doc, d.decided, d.time, d.body = doc, true, f.Time, body
	}
}

// yieldsTo reports whether another fetch decides instead of d's. The contract's rules end
// with the body's hash. Outcome and target decide between responses that differ only in their
// headers, so that the order of arrival never matters.
func (d *decision) yieldsTo(doc *page.Document, at time.Time, body [sha256.Size]byte) bool {
	if failed := d.doc.Outcome == page.Failed; failed != (doc.Outcome == page.Failed) {
		return failed
	}
	return cmp.Or(
		at.Compare(d.time),
		bytes.Compare(body[:], d.body[:]),
		cmp.Compare(doc.Outcome, d.doc.Outcome),
		cmp.Compare(doc.Target, d.doc.Target),
	) > 0
}

// AddDecided adds the document of the deciding fetch of u, and the time to
// show for it. It replaces earlier additions for u.
func (b *Builder) AddDecided(u page.URL, doc page.Document, fetchedAt time.Time) {
	b.urls[u] = &decision{doc: doc, decided: true, time: fetchedAt}
}

func (b *Builder) at(u page.URL) *decision {
	d := b.urls[u]
	if d == nil {
		d = &decision{}
		b.urls[u] = d
	}
	return d
}

// fetchedAt returns the time to show: that of the deciding fetch, or of a later revisit.
// A revisit of a URL that was never fetched has no effect.
func (d *decision) fetchedAt() time.Time {
	if d.decided && d.renewed.After(d.time) {
		return d.renewed
	}
	return d.time
}
