package batch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"time"

	"indexer/page"
)

// Builder gathers what decides for each URL. Bodies are interpreted as they
// come and not kept. It is not safe for concurrent use.
type Builder struct {
	urls map[page.URL]*decision
}

// decision is what is known of a fetched URL.
type decision struct {
	doc page.Document

	// decided says that a fetch that brought a payload has been seen; until then
	// doc is empty. time and body are that fetch's, to compare others with.
	decided bool
	time    time.Time
	body    [sha256.Size]byte

	renewed time.Time // newest revisit, zero if there was none
}

// New makes an empty Builder.
func New() *Builder {
	return &Builder{urls: make(map[page.URL]*decision)}
}

// Add takes one fetch; fetches may come in any order (semantics.md section 2).
//
// The newest fetch by time decides; of two with the same time the one whose body
// has the greater SHA-256. A failed fetch never displaces one that is not, old or
// new. A revisit renews the time that is shown and has no part in this.
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

// yieldsTo reports that another fetch decides rather than d's. The contract ends
// at the body's hash; outcome and target are for responses that differ in their
// header alone, so that the order of arrival never matters.
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

// AddDecided takes the document of the fetch that decides for u, and the time to
// show for it. It replaces what was added for u before.
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

// fetchedAt is the time to show: of the deciding fetch, or of a later revisit. A
// revisit of what was never fetched says nothing.
func (d *decision) fetchedAt() time.Time {
	if d.decided && d.renewed.After(d.time) {
		return d.renewed
	}
	return d.time
}
