package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// What a site repeats on many of its pages says little about any of them. The table repeats
// counts, for each host, how many documents have each sampled shingle (package sketch), so
// that a snippet can be cut where the page says something of its own.
//
// The counts are sums over the documents of the index. So they do not depend on the order of
// changes. A document that is added, replaced or removed changes only the row of its host, by
// its stored sample: nothing is read again, no other document is touched, and all documents of
// a transaction share one update of the row. The size of a row is bounded, however many pages
// a host has.
//
// Shingles share counters: with 100 samples a page, each counter has one in 80 pages by chance.
// repeated allows for that.
//
// A shard of a divided index counts its own documents. So a snippet may be cut elsewhere than in
// an index that is not divided; nothing else depends on the counts.
//
// Rejected: counters in the store, by the observers. A menu line that is on all pages of a
// host would be a cell that all of them write, or the counts would depend on the order of
// arrival. And no document of the contract depends on them.
const repeatsSQL = `
CREATE TABLE repeats(host TEXT PRIMARY KEY, documents INTEGER NOT NULL,
  counts BLOB NOT NULL) WITHOUT ROWID; -- S2 of the counts as varints (repeats.go)
`

// likeness computes, from the words of a text, what is needed to find texts that are like
// it.
type likeness struct {
	main   sketch.Builder
	sample sketch.Sampler
	from   analysis.Source
}

func (l *likeness) add(t *analysis.Token, from analysis.Source) {
	if from != l.from {
		l.from = from
		l.sample.Break()
	}
	switch from {
	case analysis.FromMain:
		// All words of the main content come in one stretch (analysis.Document), after a
		// break, so the sample has the same shingles.
		if shingle, ok := l.main.Add(t.Text); ok {
			l.sample.AddShingle(shingle)
		}
	case analysis.FromRest:
		l.sample.Add(t.Text)
	}
}

// stored returns the stored form of the sample.
func (l *likeness) stored() []byte {
	return sketch.PackSample(l.sample.Sample())
}

// repeatedTexts has changes of the counts, by host. They are sparse: a transaction may
// have documents of many hosts.
type repeatedTexts map[string]*repeatedChange

type repeatedChange struct {
	documents int64
	counts    map[uint16]int32
}

// add adds a document of a host with this sample, or removes one if n is -1.
func (r repeatedTexts) add(host string, sample []byte, n int32) {
	c := r[host]
	if c == nil {
		c = &repeatedChange{counts: make(map[uint16]int32)}
		r[host] = c
	}
	c.documents += int64(n)
	for _, slot := range sketch.UnpackSample(sample) {
		c.counts[slot] += n
	}
}

// repeatedText has the counts of a host.
type repeatedText struct {
	documents int64
	counts    [sketch.Slots]int32
}

const (
	// manyPages is how many pages of a host must have a passage for the host to repeat it.
	// If the host has few pages, half of them suffice.
	manyPages = 20
	// fewPages pages of a host, or fewer, do not show what it repeats.
	fewPages = 3
)

// repeatedShingles is the set of shingles that a host repeats, one bit each: what a search
// needs of the counts, in a thirtieth of their size. Nil is the empty set.
type repeatedShingles []uint64

// repeated returns the shingles that are on many pages. Chance gives each counter the
// mean of all, and few counters have twice as much when that matters.
func (r *repeatedText) repeated() repeatedShingles {
	if r.documents <= fewPages {
		return nil
	}
	sum := int64(0)
	for _, n := range r.counts {
		sum += int64(n)
	}
	return r.repeatedBy(sum)
}

// repeatedBy is like repeated, but takes the sum of the counts of all shingles. It gives the
// same result without the counts below two: among more than fewPages documents, at least two
// must have a shingle.
func (r *repeatedText) repeatedBy(sum int64) repeatedShingles {
	least := max(min(manyPages, (r.documents+1)/2), 2*sum/sketch.Slots)
	set := make(repeatedShingles, sketch.Slots/64)
	for slot, n := range r.counts {
		if int64(n) >= least {
			set[slot/64] |= 1 << (slot % 64)
		}
	}
	return set
}

// has reports whether a shingle is on many pages of the host.
func (s repeatedShingles) has(slot uint16) bool {
	return s != nil && s[slot/64]&(1<<(slot%64)) != 0
}

// apply applies a change.
func (r *repeatedText) apply(c *repeatedChange) {
	r.documents += c.documents
	for slot, n := range c.counts {
		r.counts[slot] += n
	}
}

func (r *repeatedText) encode() []byte {
	var b []byte
	for _, n := range r.counts {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	return packPart(string(b))
}

// decode reads stored counts.
func (r *repeatedText) decode(stored []byte) error {
	text, err := unpack(stored)
	if err != nil {
		return err
	}
	b := []byte(text)
	for i := range r.counts {
		if len(b) > 0 && b[0] < 0x80 { // nearly all are
			r.counts[i], b = int32(b[0]), b[1:]
			continue
		}
		n, size := binary.Uvarint(b)
		if size <= 0 || n > math.MaxInt32 {
			return fmt.Errorf("%w: counts of repeated text", ErrCorrupt)
		}
		r.counts[i], b = int32(n), b[size:]
	}
	return nil
}

// uncount removes a document from the counts, if it is there.
func (t *tables) uncount(id int64) error {
	var url string
	var sample []byte
	found, err := t.row("SELECT d.url, s.sample FROM sketches s JOIN docs d ON d.id=s.id WHERE s.id=?", []any{id}, &url, &sample)
	if found {
		t.repeats.add(search.HostOf(page.URL(url)), sample, -1)
	}
	return err
}

const selectRepeats = "SELECT documents, counts FROM repeats WHERE host=?"

// flushRepeats writes the counts that the transaction changes.
func (t *tables) flushRepeats() error {
	for _, host := range slices.Sorted(maps.Keys(t.repeats)) {
		var r repeatedText
		var stored []byte
		found, err := t.row(selectRepeats, []any{host}, &r.documents, &stored)
		if err == nil && found {
			err = r.decode(stored)
		}
		if err != nil {
			return fmt.Errorf("repeated text of %s: %w", host, err)
		}
		if r.apply(t.repeats[host]); r.documents > 0 {
			err = t.exec("INSERT OR REPLACE INTO repeats(host, documents, counts) VALUES(?,?,?)", host, r.documents, r.encode())
		} else {
			err = t.exec("DELETE FROM repeats WHERE host=?", host)
		}
		if err != nil {
			return err
		}
	}
	clear(t.repeats)
	return nil
}

// repeats returns the shingles that a host repeats.
func (v *View) repeats(ctx context.Context, host string) (repeatedShingles, error) {
	if set, known := v.cache.repeats.Get(host); known {
		return set, nil
	}
	var r repeatedText
	rows, err := v.query(ctx, selectRepeats, host)
	err = eachRow(rows, err, func() error {
		var stored sql.RawBytes
		if err := rows.Scan(&r.documents, &stored); err != nil || r.documents <= fewPages {
			return err
		}
		return r.decode(stored)
	})
	if err != nil {
		return nil, fmt.Errorf("repeated text of %s: %w", host, err)
	}
	set := r.repeated()
	v.cache.repeats.Add(host, set, cacheEntry+len(host)+8*len(set))
	return set, nil
}

// sameRepeats reports whether the table has these counts.
func (v *View) sameRepeats(ctx context.Context, want repeatedTexts) (same bool, err error) {
	rows, err := v.tx.QueryContext(ctx, "SELECT host, documents, counts FROM repeats")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	hosts := 0
	for rows.Next() {
		var host string
		var have, expected repeatedText
		var stored sql.RawBytes
		if err := rows.Scan(&host, &have.documents, &stored); err != nil {
			return false, err
		}
		if err := have.decode(stored); err != nil {
			return false, fmt.Errorf("%s: %w", host, err)
		}
		if c := want[host]; c != nil {
			expected.apply(c)
		}
		if have != expected {
			return false, nil
		}
		hosts++
	}
	return hosts == len(want), rows.Err()
}
